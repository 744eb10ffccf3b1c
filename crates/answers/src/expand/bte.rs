//! Hand-written templates, chosen by the categories, predicate and qualifiers of the client's edge.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use trapi::{Inferred, QEdge, QNode, QueryGraph};

use super::template::{Ends, RuleError, RuleProblem, Template};
use super::{DIRECT, SubQuery, lookup};

const DIRECTION: &str = "object_direction_qualifier";

/// Template groups and the templates they name.
#[derive(Clone, Debug, Default)]
pub struct BteTemplates {
    groups: Vec<Group>,
    templates: BTreeMap<String, Template>,
}

/// When to use which templates; names without the `biolink:` prefix.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    subject: Vec<String>,
    predicate: Vec<String>,
    object: Vec<String>,
    #[serde(default)]
    qualifiers: BTreeMap<String, String>,
    templates: Vec<String>,
}

#[derive(Deserialize)]
struct TemplateText<'a> {
    #[serde(borrow)]
    query_graph: &'a RawValue,
}

impl BteTemplates {
    /// Reads the groups and those templates that a group names; `templates` go by file name.
    ///
    /// # Errors
    /// Names the file and the template or group that cannot be used.
    pub fn parse(
        groups_file: &str,
        groups: &str,
        templates: &BTreeMap<String, String>,
    ) -> Result<Self, RuleError> {
        let groups: Vec<Group> = serde_json::from_str(groups)
            .map_err(|source| RuleError::Form { file: groups_file.to_owned(), source })?;
        let mut used = BTreeMap::new();
        for group in &groups {
            for name in &group.templates {
                let text = templates.get(name).ok_or_else(|| RuleError::Rule {
                    file: groups_file.to_owned(),
                    rule: format!("{}: {name}", group.name),
                    source: RuleProblem::NoSuchTemplate,
                })?;
                let template = parse_template(name, text).map_err(|source| RuleError::Rule {
                    file: name.clone(),
                    rule: group.name.clone(),
                    source,
                })?;
                used.insert(name.clone(), template);
            }
        }
        Ok(Self { groups, templates: used })
    }

    /// The questions to ask: the client's graph as a lookup, then the templates of every group that fits,
    /// by file name.
    pub fn expand(&self, graph: &QueryGraph, question: &Inferred) -> Vec<SubQuery> {
        let mut queries = vec![lookup(graph)];
        let Some((ends, edge)) = Ends::of(graph, question) else { return queries };
        let fits =
            |group: &&Group| group.fits(graph.nodes.get(ends.source), edge, graph.nodes.get(ends.target));
        let names: BTreeSet<&String> =
            self.groups.iter().filter(fits).flat_map(|group| &group.templates).collect();
        for name in names {
            if let Some(template) = self.templates.get(name) {
                queries.push(SubQuery { label: name.clone(), query_graph: template.fill(&ends) });
            }
        }
        queries
    }

    /// What the groups cover, with the number of templates of each.
    pub fn keys(&self) -> impl Iterator<Item = (String, usize)> {
        self.groups.iter().map(|group| (group.name.clone(), group.templates.len()))
    }

    /// How many templates are in use.
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Whether no template is in use.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }
}

fn parse_template(name: &str, text: &str) -> Result<Template, RuleProblem> {
    if name == DIRECT {
        return Err(RuleProblem::ReservedName);
    }
    let text: TemplateText<'_> = serde_json::from_str(text).map_err(RuleProblem::Form)?;
    Template::parse(text.query_graph.get())
}

impl Group {
    /// Any of a node's categories may fit, as TRAPI means them; the first predicate and the first
    /// qualifier constraint count, being what the inferred edge will state.
    fn fits(&self, subject: Option<&QNode>, edge: &QEdge, object: Option<&QNode>) -> bool {
        let predicate = edge.predicates.iter().flatten().next();
        predicate.is_some_and(|predicate| names(&self.predicate, predicate))
            && has_category(subject, &self.subject)
            && has_category(object, &self.object)
            && self.fits_qualifiers(edge)
    }

    /// All that is asked must be what the group is about, and a group that is about a direction is used
    /// only when that direction is asked for.
    fn fits_qualifiers(&self, edge: &QEdge) -> bool {
        let constraint = edge.qualifier_constraints.iter().flatten().next();
        let asked: BTreeMap<&str, &str> = constraint
            .iter()
            .flat_map(|constraint| &constraint.qualifier_set)
            .map(|qualifier| (bare(&qualifier.qualifier_type_id), bare(&qualifier.qualifier_value)))
            .collect();
        let own: BTreeMap<&str, &str> =
            self.qualifiers.iter().map(|(kind, value)| (bare(kind), bare(value))).collect();
        asked.iter().all(|(kind, value)| own.get(kind) == Some(value))
            && own.contains_key(DIRECTION) == asked.contains_key(DIRECTION)
    }
}

fn has_category(node: Option<&QNode>, list: &[String]) -> bool {
    node.and_then(|node| node.categories.as_deref())
        .is_some_and(|categories| categories.iter().any(|category| names(list, category)))
}

fn names(list: &[String], wanted: &str) -> bool {
    list.iter().any(|name| bare(name) == bare(wanted))
}

fn bare(name: &str) -> &str {
    name.strip_prefix("biolink:").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> BteTemplates {
        let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let templates = BTreeMap::from([
            text(
                "chemical-affects-gene-associated-with-disease.json",
                include_str!(
                    "../../../../rules/bte/templates/chemical-affects-gene-associated-with-disease.json"
                ),
            ),
            text(
                "chemical-interacts-with-gene-associated-with-disease.json",
                include_str!(
                    "../../../../rules/bte/templates/chemical-interacts-with-gene-associated-with-disease.json"
                ),
            ),
            text(
                "chemical-treats-phenotype-of-disease.json",
                include_str!("../../../../rules/bte/templates/chemical-treats-phenotype-of-disease.json"),
            ),
            text(
                "chemical-increases-activator-of-gene.json",
                include_str!("../../../../rules/bte/templates/chemical-increases-activator-of-gene.json"),
            ),
            text(
                "chemical-decreases-repressor-of-gene.json",
                include_str!("../../../../rules/bte/templates/chemical-decreases-repressor-of-gene.json"),
            ),
            text(
                "chemical-decreases-activator-of-gene.json",
                include_str!("../../../../rules/bte/templates/chemical-decreases-activator-of-gene.json"),
            ),
            text(
                "chemical-increases-repressor-of-gene.json",
                include_str!("../../../../rules/bte/templates/chemical-increases-repressor-of-gene.json"),
            ),
        ]);
        let groups = include_str!("../../../../rules/bte/template_groups.json");
        BteTemplates::parse("template_groups.json", groups, &templates).unwrap()
    }

    fn labels(subject: &str, edge: &str, object: &str) -> Vec<String> {
        let graph = QueryGraph::parse(&format!(
            r#"{{"nodes":{{"a":{{"categories":[{subject}]}},"b":{{"ids":["X:1"],"categories":[{object}]}}}},"edges":{{"e":{{"subject":"a","object":"b","knowledge_type":"inferred",{edge}}}}}}}"#
        ))
        .unwrap();
        let trapi::Question::Inferred(question) = graph.examine().unwrap() else { panic!("inferred") };
        shipped().expand(&graph, &question).into_iter().map(|query| query.label).collect()
    }

    #[test]
    fn any_category_may_fit() {
        let edge = r#""predicates":["biolink:treats"]"#;
        let all = labels(r#""biolink:NamedThing","biolink:Drug""#, edge, r#""biolink:Disease""#);
        assert_eq!(
            all,
            [
                DIRECT,
                "chemical-affects-gene-associated-with-disease.json",
                "chemical-interacts-with-gene-associated-with-disease.json",
                "chemical-treats-phenotype-of-disease.json"
            ]
        );
        assert_eq!(labels("", edge, r#""biolink:Disease""#), [DIRECT]);
    }

    #[test]
    fn a_direction_is_followed_only_when_asked_for() {
        let affects = |qualifiers: &str| {
            labels(
                r#""biolink:ChemicalEntity""#,
                &format!(r#""predicates":["biolink:affects"]{qualifiers}"#),
                r#""biolink:Gene""#,
            )
        };
        assert_eq!(affects(""), [DIRECT]);
        let up = r#","qualifier_constraints":[{"qualifier_set":[{"qualifier_type_id":"biolink:object_direction_qualifier","qualifier_value":"increased"},{"qualifier_type_id":"biolink:object_aspect_qualifier","qualifier_value":"activity_or_abundance"}]}]"#;
        assert_eq!(
            affects(up),
            [
                DIRECT,
                "chemical-decreases-repressor-of-gene.json",
                "chemical-increases-activator-of-gene.json"
            ]
        );
    }

    #[test]
    fn an_error_names_group_and_template() {
        let groups = r#"[{"name":"g","subject":[],"predicate":[],"object":[],"templates":["t.json"]}]"#;
        let error = BteTemplates::parse("groups.json", groups, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "groups.json: rule `g: t.json` cannot be used");
        let templates = BTreeMap::from([("t.json".to_owned(), r#"{"query_graph":{"nodes":{}}}"#.to_owned())]);
        let error = BteTemplates::parse("groups.json", groups, &templates).unwrap_err();
        assert_eq!(error.to_string(), "t.json: rule `g` cannot be used");
    }
}
