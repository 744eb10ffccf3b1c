//! The lookup worker of arax, which passes questions on to the ARAX service.
//!
//! The client's own graph is asked, whatever it is, and the service's answer takes the way of a callback: the merge
//! names this persona in the sources of its edges. Questions for paths are not for this worker.

use std::process::ExitCode;

use answers::expand::{DIRECT, SubQuery};
use lookup::{Assignment, Expand, Expansion, ExpansionError, Work, WorkError};
use retriever::SyncQuery;
use runtime::Causes;
use trapi::{Query, QueryGraph, Question};

/// Passes questions on.
struct Arax {
    service: SyncQuery,
}

impl Expand for Arax {
    const OPERATION: &'static str = "arax.lookup";

    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError> {
        if matches!(question, Question::Pathfinder(_)) {
            return Err(ExpansionError::WrongKind);
        }
        let (service, graph) = (self.service.clone(), query.query_graph.clone());
        let work = Work::new(|assignment| async move { ask(&service, &graph, &assignment).await });
        // as it is: the service itself infers what is to be inferred
        let whole = SubQuery { label: DIRECT.to_owned(), query_graph: query.query_graph.clone() };
        Ok(Expansion::of_work(whole, work, query))
    }
}

async fn ask(service: &SyncQuery, graph: &QueryGraph, assignment: &Assignment) -> Result<Vec<u8>, WorkError> {
    match assignment.ask(service, graph, assignment.answer_by()).await {
        Ok(body) => Ok(body.into()),
        Err(error) if error.is_late() => Err(WorkError::Late),
        Err(error) => Err(WorkError::Failed(format!("ARAX: {}", Causes(&error)))),
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("arax-lookup", |startup| {
        let settings = &startup.settings;
        let limit = settings.callback_max_request_bytes;
        Ok(Arax { service: SyncQuery::new(startup.http.clone(), settings.arax_url.clone(), limit) })
    })
}
