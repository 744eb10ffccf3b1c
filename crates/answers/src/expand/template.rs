//! Query graphs with two open ends, `$source` and `$target`, that a question fills in.
//!
//! Filling works on the parsed graph, so that no key or CURIE of a client, however odd, can change what a
//! rule says; a rule's own node that shares its key with the client's is renamed.

use trapi::{Inferred, Invalid, QEdge, QNode, QueryGraph};

const SOURCE: &str = "$source";
const TARGET: &str = "$target";
const SOURCE_ID: &str = "$source_id";
const TARGET_ID: &str = "$target_id";

/// What is wrong with a file of rules or templates.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The file is not JSON of the expected form.
    #[error("{file}: not a rule file")]
    Form {
        /// The file.
        file: String,
        /// Where and what.
        #[source]
        source: serde_json::Error,
    },
    /// A rule key is not JSON of the expected form.
    #[error("{file}: rule key `{key}` is not understood")]
    Key {
        /// The file.
        file: String,
        /// The key as written.
        key: String,
        /// Where and what.
        #[source]
        source: serde_json::Error,
    },
    /// Two rule keys mean the same.
    #[error("{file}: rule key `{key}` is there twice")]
    RepeatedKey {
        /// The file.
        file: String,
        /// The key as written.
        key: String,
    },
    /// A rule or template cannot be used.
    #[error("{file}: rule `{rule}` cannot be used")]
    Rule {
        /// The file.
        file: String,
        /// The rule or template.
        rule: String,
        /// Why not.
        #[source]
        source: RuleProblem,
    },
}

/// Why a rule or template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleProblem {
    /// Its graph is no query graph.
    #[error(transparent)]
    Graph(#[from] Invalid),
    /// Its text is no JSON object with a query graph.
    #[error("no JSON object with a `query_graph`")]
    Form(#[source] serde_json::Error),
    /// One of the two ends is missing.
    #[error("node `{0}` is missing")]
    MissingEnd(&'static str),
    /// An end that no edge touches.
    #[error("no edge touches node `{0}`")]
    LooseEnd(&'static str),
    /// An edge that asks for inference: rules are looked up.
    #[error("edge `{0}` is not a lookup")]
    Inferred(String),
    /// A key with `$` that is none of the known placeholders.
    #[error("`{0}` is no known placeholder")]
    Placeholder(String),
    /// The name is the one of the client's own graph.
    #[error("the name is reserved")]
    ReservedName,
    /// A template that a group names is not there.
    #[error("there is no such template")]
    NoSuchTemplate,
}

/// A checked query graph with open ends.
#[derive(Clone, Debug)]
pub(super) struct Template {
    graph: QueryGraph,
}

impl Template {
    pub(super) fn parse(graph: &str) -> Result<Self, RuleProblem> {
        Self::check(QueryGraph::parse(graph)?)
    }

    fn check(graph: QueryGraph) -> Result<Self, RuleProblem> {
        graph.examine()?;
        for end in [SOURCE, TARGET] {
            if !graph.nodes.contains_key(end) {
                return Err(RuleProblem::MissingEnd(end));
            }
            if !graph.edges.values().any(|edge| edge.subject == end || edge.object == end) {
                return Err(RuleProblem::LooseEnd(end));
            }
        }
        if let Some((key, _)) = graph.edges.iter().find(|(_, edge)| edge.is_inferred()) {
            return Err(RuleProblem::Inferred(key.clone()));
        }
        let known = [SOURCE, TARGET, SOURCE_ID, TARGET_ID];
        if let Some(text) = placeholders(&graph).find(|text| !known.contains(text)) {
            return Err(RuleProblem::Placeholder(text.to_owned()));
        }
        Ok(Self { graph })
    }

    /// The graph with the ends of the client's edge put in, and the ids of the pinned one.
    pub(super) fn fill(&self, ends: &Ends<'_>) -> QueryGraph {
        let nodes = self.graph.nodes.iter().map(|(key, node)| (ends.rename(key), ends.pin(node)));
        let edges = self.graph.edges.iter().map(|(key, edge)| {
            let edge = QEdge {
                subject: ends.rename(&edge.subject),
                object: ends.rename(&edge.object),
                ..edge.clone()
            };
            (key.clone(), edge)
        });
        QueryGraph {
            nodes: nodes.collect(),
            edges: edges.collect(),
            extra: self.graph.extra.clone(),
            ..QueryGraph::default()
        }
    }
}

/// All texts with a leading `$` that could be placeholders.
fn placeholders(graph: &QueryGraph) -> impl Iterator<Item = &str> {
    let ids = graph.nodes.values().flat_map(|node| node.ids.iter().flatten());
    graph.nodes.keys().chain(ids).map(String::as_str).filter(|text| text.starts_with('$'))
}

/// The two ends of the client's inferred edge.
pub(super) struct Ends<'a> {
    pub(super) source: &'a str,
    pub(super) target: &'a str,
    source_ids: Option<&'a [String]>,
    target_ids: Option<&'a [String]>,
}

impl<'a> Ends<'a> {
    /// The ends of the edge that is asked for; `None` when the graph has no such edge.
    pub(super) fn of(graph: &'a QueryGraph, question: &Inferred) -> Option<(Self, &'a QEdge)> {
        let edge = graph.edges.get(&question.edge)?;
        let ids = |key: &str| {
            let ids = graph.nodes.get(key)?.ids.as_deref()?;
            (key == question.pinned && !ids.is_empty()).then_some(ids)
        };
        let ends = Self {
            source: &edge.subject,
            target: &edge.object,
            source_ids: ids(&edge.subject),
            target_ids: ids(&edge.object),
        };
        Some((ends, edge))
    }

    fn rename(&self, key: &str) -> String {
        match key {
            SOURCE => self.source.to_owned(),
            TARGET => self.target.to_owned(),
            own => {
                let mut own = own.to_owned();
                while own == self.source || own == self.target {
                    own.push('_');
                }
                own
            }
        }
    }

    /// Puts the ids in; an end without ids is left open.
    fn pin(&self, node: &QNode) -> QNode {
        let mut node = node.clone();
        let Some(ids) = node.ids.take() else { return node };
        let mut pinned = Vec::with_capacity(ids.len());
        for id in ids {
            match id.as_str() {
                SOURCE_ID => pinned.extend_from_slice(self.source_ids.unwrap_or_default()),
                TARGET_ID => pinned.extend_from_slice(self.target_ids.unwrap_or_default()),
                _ => pinned.push(id),
            }
        }
        node.ids = (!pinned.is_empty()).then_some(pinned);
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = r#"{"nodes":{"$source":{"ids":["$source_id"]},"$target":{"ids":["$target_id"]},"h":{"categories":["biolink:Gene"]}},"edges":{"a":{"subject":"$source","object":"h"},"b":{"subject":"h","object":"$target"}}}"#;

    fn filled(subject: &str, object: &str) -> String {
        let graph = QueryGraph::parse(&format!(
            r#"{{"nodes":{{{subject}:{{}},{object}:{{"ids":["X:1","X:\"2"]}}}},"edges":{{"e":{{"subject":{subject},"object":{object},"knowledge_type":"inferred"}}}}}}"#
        ))
        .unwrap();
        let trapi::Question::Inferred(question) = graph.examine().unwrap() else { panic!("inferred") };
        let (ends, _) = Ends::of(&graph, &question).unwrap();
        serde_json::to_string(&Template::parse(RULE).unwrap().fill(&ends)).unwrap()
    }

    #[test]
    fn all_ids_of_the_pinned_end_are_put_in() {
        assert_eq!(
            filled(r#""s""#, r#""o""#),
            r#"{"nodes":{"s":{},"o":{"ids":["X:1","X:\"2"]},"h":{"categories":["biolink:Gene"]}},"edges":{"a":{"subject":"s","object":"h"},"b":{"subject":"h","object":"o"}}}"#
        );
    }

    #[test]
    fn a_key_of_the_client_renames_the_rules_own_node() {
        assert_eq!(
            filled(r#""h""#, r#""h_""#),
            r#"{"nodes":{"h":{},"h_":{"ids":["X:1","X:\"2"]},"h__":{"categories":["biolink:Gene"]}},"edges":{"a":{"subject":"h","object":"h__"},"b":{"subject":"h__","object":"h_"}}}"#
        );
    }

    #[test]
    fn odd_keys_stay_texts() {
        assert!(filled(r#""n\"1""#, r#""$target_id""#).contains(r#""subject":"n\"1""#));
    }

    #[test]
    fn a_rule_has_two_ends_that_edges_touch() {
        let problem = |text: &str| Template::parse(text).unwrap_err().to_string();
        assert_eq!(
            problem(r#"{"nodes":{"$source":{},"x":{}},"edges":{"a":{"subject":"$source","object":"x"}}}"#),
            "node `$target` is missing"
        );
        assert_eq!(
            problem(
                r#"{"nodes":{"$source":{},"$target":{},"x":{}},"edges":{"a":{"subject":"$source","object":"x"}}}"#
            ),
            "no edge touches node `$target`"
        );
        assert_eq!(
            problem(
                r#"{"nodes":{"$source":{},"$target":{},"$x":{}},"edges":{"a":{"subject":"$source","object":"$target"}}}"#
            ),
            "`$x` is no known placeholder"
        );
        assert_eq!(
            problem(
                r#"{"nodes":{"$source":{},"$target":{}},"edges":{"a":{"subject":"$source","object":"z"}}}"#
            ),
            "message.query_graph.edges.a.object: names no node of the query graph"
        );
    }
}
