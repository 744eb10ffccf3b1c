//! The pathfinder of aragorn.
//!
//! A path between two pinned nodes is asked as one query of three hops with two open nodes between
//! them. Nodes and edges are asked for with their content, as there is no later step that would fetch it.

use std::process::ExitCode;

use answers::expand;
use lookup::{Ask, Expand, Expansion, ExpansionError};
use trapi::{Query, Question};

/// Expands a path into hops.
struct Pathfinder;

impl Expand for Pathfinder {
    const OPERATION: &'static str = "aragorn.pathfinder";

    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError> {
        let Question::Pathfinder(path) = question else { return Err(ExpansionError::WrongKind) };
        let hops = expand::pathfinder(&query.query_graph, path)?;
        let mut parameters = expand::pathfinder_parameters(&query.parameters);
        if !query.parameters.contains_key("dehydrated") {
            parameters.shift_remove("dehydrated");
        }
        Ok(Expansion { sub_queries: vec![(hops, Ask::Retriever)], parameters })
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("aragorn-pathfinder", |_| Ok(Pathfinder))
}
