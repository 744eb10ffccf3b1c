//! The lookup worker of example, a persona that answers itself.
//!
//! It shows new developers the way of a query, and operators that everything but Retriever works: each
//! open node is bound to a made-up node, each edge to a made-up edge, all of them named as examples.

mod stub;

use std::process::ExitCode;

use answers::expand;
use lookup::{Expand, Expansion, ExpansionError, Work};
use trapi::{Query, Question};

/// Answers itself.
struct Example;

impl Expand for Example {
    const OPERATION: &'static str = "example.lookup";

    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError> {
        if matches!(question, Question::Pathfinder(_)) {
            return Err(ExpansionError::WrongKind);
        }
        let direct = expand::lookup(&query.query_graph);
        let answer = stub::answer(&direct.query_graph);
        Ok(Expansion::of_work(direct, Work::done(answer), query))
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("example-lookup", |_| Ok(Example))
}
