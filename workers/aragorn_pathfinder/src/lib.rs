//! The pathfinder of aragorn.
//!
//! A path between two pinned nodes is asked as one query of three hops with two open nodes between
//! them. Unless the client says otherwise, nodes and edges come without their content, which `rehydrate` fetches for
//! those that the best paths are made of.

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
        let parameters = expand::pathfinder_parameters(&query.parameters);
        Ok(Expansion { sub_queries: vec![(hops, Ask::Retriever)], parameters })
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("aragorn-pathfinder", |_| Ok(Pathfinder))
}
