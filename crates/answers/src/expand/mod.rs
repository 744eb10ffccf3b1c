//! From a client's question to the questions that Retriever is asked.
//!
//! The client's own graph always comes first, as a lookup; rules or templates follow, each a graph whose
//! answers suggest the edge that the client wants inferred.

mod aragorn;
mod bte;
mod pathfinder;
mod template;

use serde_json::value::RawValue;
use trapi::{Members, QueryGraph};

pub use aragorn::AragornRules;
pub use bte::BteTemplates;
pub use pathfinder::{bounded_parameters, own_key, pathfinder, pathfinder_parameters};
pub use template::{RuleError, RuleProblem};

/// Label of the sub-query that asks the client's own graph.
pub const DIRECT: &str = "direct";

/// One question to Retriever.
#[derive(Clone, Debug)]
pub struct SubQuery {
    /// [`DIRECT`], or the name of the rule or template.
    pub label: String,
    /// What is asked.
    pub query_graph: QueryGraph,
}

/// The client's graph as a plain lookup: the graph without knowledge types.
pub fn lookup(graph: &QueryGraph) -> SubQuery {
    let mut query_graph = graph.clone();
    for edge in query_graph.edges.values_mut() {
        edge.knowledge_type = None;
    }
    SubQuery { label: DIRECT.to_owned(), query_graph }
}

/// The client's parameters, and that nodes and edges are to come without their content, unless the client has
/// said what it wants: much is looked up of which little is answered, and that is filled in at the end.
pub fn dehydrated(client: &Members) -> Members {
    let mut parameters = client.clone();
    if parameters.get("dehydrated").is_none_or(|raw| raw.get() == "null") {
        parameters.insert("dehydrated".to_owned(), RawValue::TRUE.to_owned());
    }
    parameters
}
