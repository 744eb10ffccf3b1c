//! What a query graph asks for, as far as a made-up answer needs to know.

use serde_json::{Value, json};
use std::hash::Hasher;

/// The graph cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// A member that must be a JSON object is missing or something else.
    #[error("query_graph.{0} must be a non-empty object")]
    Missing(&'static str),
    /// An edge's end is not a node of the graph.
    #[error("query_graph.edges.{edge}.{end} does not name a node")]
    Dangling {
        /// Key of the edge.
        edge: String,
        /// `subject` or `object`.
        end: &'static str,
    },
}

pub(crate) struct QNode {
    pub(crate) key: String,
    pub(crate) ids: Vec<String>,
    pub(crate) categories: Vec<String>,
}

impl QNode {
    pub(crate) fn category(&self) -> Option<&str> {
        self.categories.first().map(String::as_str)
    }
}

pub(crate) struct QEdge {
    pub(crate) key: String,
    /// Position of the node in [`Question::nodes`].
    pub(crate) subject: usize,
    pub(crate) object: usize,
    pub(crate) predicates: Vec<String>,
    pub(crate) qualifiers: Vec<Value>,
}

impl QEdge {
    /// One of the predicates asked for, always the same one for the same pair.
    pub(crate) fn predicate_for(&self, subject: &str, object: &str) -> &str {
        let count = self.predicates.len().max(1) as u64;
        let pick = usize::try_from(stable_hash(&[subject, object]) % count).unwrap_or(0);
        self.predicates.get(pick).map_or("biolink:related_to", String::as_str)
    }
}

pub(crate) struct Question {
    pub(crate) nodes: Vec<QNode>,
    pub(crate) edges: Vec<QEdge>,
    /// Differs between graphs that ask different things.
    pub(crate) signature: u64,
}

impl Question {
    pub(crate) fn parse(query_graph: &Value) -> Result<Self, QuestionError> {
        let nodes: Vec<QNode> = members(query_graph, "nodes")?
            .map(|(key, node)| QNode {
                key: key.clone(),
                ids: strings(node, "ids"),
                categories: strings(node, "categories"),
            })
            .collect();
        let edges = members(query_graph, "edges")?
            .map(|(key, edge)| {
                Ok(QEdge {
                    key: key.clone(),
                    subject: end(&nodes, key, edge, "subject")?,
                    object: end(&nodes, key, edge, "object")?,
                    predicates: strings(edge, "predicates"),
                    qualifiers: qualifiers(edge),
                })
            })
            .collect::<Result<Vec<_>, QuestionError>>()?;
        Ok(Self { nodes, edges, signature: stable_hash(&[&query_graph.to_string()]) })
    }

    /// Position of the node that holds the answer: the one named, else the unpinned node with the fewest edges, which in
    /// a chain is its end. `None` when every node is pinned.
    pub(crate) fn answer_node(&self, wanted: Option<&str>) -> Option<usize> {
        let unpinned = || self.nodes.iter().enumerate().filter(|(_, node)| node.ids.is_empty());
        let named = unpinned().find(|(_, node)| Some(node.key.as_str()) == wanted);
        let degree =
            |position| self.edges.iter().filter(|e| e.subject == position || e.object == position).count();
        named
            .or_else(|| unpinned().min_by_key(|&(position, _)| degree(position)))
            .map(|(position, _)| position)
    }

    /// Whether type 2 diabetes is pinned, for which the built-in drug names are.
    pub(crate) fn is_about_diabetes(&self) -> bool {
        self.nodes.iter().any(|node| node.ids.iter().any(|id| id == "MONDO:0005148"))
    }
}

fn members<'a>(
    graph: &'a Value,
    key: &'static str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, QuestionError> {
    let found = graph.get(key).and_then(Value::as_object).filter(|members| !members.is_empty());
    Ok(found.ok_or(QuestionError::Missing(key))?.iter())
}

fn end(nodes: &[QNode], edge: &str, body: &Value, end: &'static str) -> Result<usize, QuestionError> {
    let name = body.get(end).and_then(Value::as_str);
    nodes
        .iter()
        .position(|node| Some(node.key.as_str()) == name)
        .ok_or_else(|| QuestionError::Dangling { edge: edge.to_owned(), end })
}

fn strings(object: &Value, key: &str) -> Vec<String> {
    let list = object.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The qualifiers of the first set asked for, in TRAPI 1.6 or 2.0; an answer needs to fulfil one set only.
fn qualifiers(edge: &Value) -> Vec<Value> {
    if let Some(set) = edge.pointer("/constraints/qualifiers/0").and_then(Value::as_object) {
        let qualifier = |(kind, value)| json!({ "qualifier_type_id": kind, "qualifier_value": value });
        return set.iter().map(qualifier).collect();
    }
    let set = edge.pointer("/qualifier_constraints/0/qualifier_set").and_then(Value::as_array);
    set.cloned().unwrap_or_default()
}

/// FNV-1a over the parts: the same on every machine and in every version, unlike the standard library's hashers.
pub(crate) fn stable_hash(parts: &[&str]) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_u8(0xff);
    }
    // The low bits of FNV depend on the low bits of the input only; the high ones do not.
    hasher.0 ^ (hasher.0 >> 32)
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
