//! Rules mined from the knowledge graph, keyed by what they conclude.

use std::fmt;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use trapi::{Inferred, QEdge, QueryGraph};

use super::template::{Ends, RuleError, RuleProblem, Template};
use super::{DIRECT, SubQuery, lookup};

const ASPECT: &str = "biolink:object_aspect_qualifier";
const DIRECTION: &str = "biolink:object_direction_qualifier";

/// A pack of rules.
#[derive(Clone, Debug, Default)]
pub struct AragornRules {
    rules: IndexMap<RuleKey, Vec<Rule>>,
}

/// What a group of rules concludes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleKey {
    predicate: String,
    object_aspect_qualifier: Option<String>,
    object_direction_qualifier: Option<String>,
}

#[derive(Clone, Debug)]
struct Rule {
    name: String,
    template: Template,
}

#[derive(Deserialize)]
struct RuleText<'a> {
    #[serde(rename = "Rule", default)]
    name: Option<String>,
    #[serde(borrow)]
    template: TemplateText<'a>,
}

#[derive(Deserialize)]
struct TemplateText<'a> {
    #[serde(borrow)]
    query_graph: &'a RawValue,
}

impl AragornRules {
    /// Reads a rule file: an object from rule keys to lists of rules.
    ///
    /// # Errors
    /// Names the file and the rule that cannot be used.
    pub fn parse(file: &str, text: &str) -> Result<Self, RuleError> {
        let groups: IndexMap<String, Vec<&RawValue>> =
            serde_json::from_str(text).map_err(|source| RuleError::Form { file: file.to_owned(), source })?;
        let mut rules = IndexMap::with_capacity(groups.len());
        for (key, texts) in groups {
            let parsed: RuleKey = serde_json::from_str(&key).map_err(|source| RuleError::Key {
                file: file.to_owned(),
                key: key.clone(),
                source,
            })?;
            let group = texts
                .into_iter()
                .enumerate()
                .map(|(index, text)| Rule::parse(text, index))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|(rule, source)| RuleError::Rule {
                    file: file.to_owned(),
                    rule: format!("{key}: {rule}"),
                    source,
                })?;
            if rules.insert(parsed, group).is_some() {
                return Err(RuleError::RepeatedKey { file: file.to_owned(), key });
            }
        }
        Ok(Self { rules })
    }

    /// The questions to ask: the client's graph as a lookup, then every rule that concludes its edge.
    ///
    /// The first predicate and the first qualifier constraint choose the rules: they are what the
    /// inferred edge will state.
    pub fn expand(&self, graph: &QueryGraph, question: &Inferred) -> Vec<SubQuery> {
        let mut queries = vec![lookup(graph)];
        if let Some((ends, edge)) = Ends::of(graph, question)
            && let Some(rules) = RuleKey::of(edge).and_then(|key| self.rules.get(&key))
        {
            queries.extend(
                rules.iter().map(|rule| SubQuery {
                    label: rule.name.clone(),
                    query_graph: rule.template.fill(&ends),
                }),
            );
        }
        queries
    }

    /// What the rules conclude, with the number of rules for it.
    pub fn keys(&self) -> impl Iterator<Item = (String, usize)> {
        self.rules.iter().map(|(key, rules)| (key.to_string(), rules.len()))
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.values().map(Vec::len).sum()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl RuleKey {
    fn of(edge: &QEdge) -> Option<Self> {
        let mut key = Self {
            predicate: edge.predicates.as_ref()?.first()?.clone(),
            object_aspect_qualifier: None,
            object_direction_qualifier: None,
        };
        let constraint = edge.qualifier_constraints.iter().flatten().next();
        for qualifier in constraint.iter().flat_map(|constraint| &constraint.qualifier_set) {
            let value = Some(qualifier.qualifier_value.clone());
            match qualifier.qualifier_type_id.as_str() {
                ASPECT => key.object_aspect_qualifier = value,
                DIRECTION => key.object_direction_qualifier = value,
                _ => {}
            }
        }
        Some(key)
    }
}

impl fmt::Display for RuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.predicate)?;
        for part in [&self.object_aspect_qualifier, &self.object_direction_qualifier].into_iter().flatten() {
            write!(f, " {part}")?;
        }
        Ok(())
    }
}

impl Rule {
    /// On failure the rule's name, or its position, comes with the problem.
    fn parse(text: &RawValue, index: usize) -> Result<Self, (String, RuleProblem)> {
        let position = format!("rule {index}");
        let text: RuleText<'_> =
            serde_json::from_str(text.get()).map_err(|error| (position.clone(), RuleProblem::Form(error)))?;
        let name = text.name.map_or(position, |name| name.split_whitespace().collect::<Vec<_>>().join(" "));
        if name == DIRECT {
            return Err((name, RuleProblem::ReservedName));
        }
        match Template::parse(text.template.query_graph.get()) {
            Ok(template) => Ok(Self { name, template }),
            Err(problem) => Err((name, problem)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../../rules/aragorn/rules.json");

    fn expand(rules: &AragornRules, edge: &str) -> Vec<SubQuery> {
        let graph = QueryGraph::parse(&format!(
            r#"{{"nodes":{{"SN":{{}},"ON":{{"ids":["X:1"]}}}},"edges":{{"e":{{"subject":"SN","object":"ON","knowledge_type":"inferred"{edge}}}}}}}"#
        ))
        .unwrap();
        let trapi::Question::Inferred(question) = graph.examine().unwrap() else { panic!("inferred") };
        rules.expand(&graph, &question)
    }

    #[test]
    fn shipped_rules_cover_what_is_asked_most() {
        let rules = AragornRules::parse("rules.json", SHIPPED).unwrap();
        let counts: IndexMap<String, usize> = rules.keys().collect();
        assert!(counts["biolink:treats"] >= 6, "{counts:?}");
        for aspect in ["activity_or_abundance", "activity"] {
            for direction in ["increased", "decreased"] {
                assert!(counts[&format!("biolink:affects {aspect} {direction}")] >= 3, "{counts:?}");
            }
        }
    }

    #[test]
    fn the_direct_question_comes_first_and_is_a_lookup() {
        let rules = AragornRules::parse("rules.json", SHIPPED).unwrap();
        let queries = expand(&rules, r#","predicates":["biolink:treats"]"#);
        assert_eq!(queries.len(), 1 + rules.keys().find(|(key, _)| key == "biolink:treats").unwrap().1);
        assert_eq!(queries[0].label, DIRECT);
        assert_eq!(queries[0].query_graph.edges["e"].knowledge_type, None);
        for query in &queries[1..] {
            assert_eq!(query.query_graph.nodes["ON"].ids.as_deref(), Some(&["X:1".to_owned()][..]));
            assert!(!query.query_graph.nodes["SN"].is_pinned());
            assert_eq!(query.query_graph.examine().unwrap(), trapi::Question::Lookup);
        }
    }

    #[test]
    fn nothing_to_choose_by_leaves_the_direct_question() {
        let rules = AragornRules::parse("rules.json", SHIPPED).unwrap();
        for edge in ["", r#","predicates":[]"#, r#","predicates":["biolink:affects"]"#] {
            assert_eq!(expand(&rules, edge).len(), 1);
        }
    }

    #[test]
    fn an_error_names_file_and_rule() {
        let error = |text: &str| AragornRules::parse("f.json", text).unwrap_err();
        assert_eq!(error("[]").to_string(), "f.json: not a rule file");
        assert_eq!(error(r#"{"treats":[]}"#).to_string(), "f.json: rule key `treats` is not understood");
        assert_eq!(
            error(r#"{"{\"predicate\":\"p\"}":[{"Rule":"a  => b","template":{"query_graph":{}}}]}"#)
                .to_string(),
            r#"f.json: rule `{"predicate":"p"}: a => b` cannot be used"#
        );
        assert_eq!(
            error(r#"{"{\"predicate\":\"p\"}":[],"{ \"predicate\":\"p\"}":[]}"#).to_string(),
            r#"f.json: rule key `{ "predicate":"p"}` is there twice"#
        );
    }
}
