//! The pathfinder of arax.
//!
//! Paths of up to four hops between two pinned nodes are searched from both ends at once, by asking Retriever for
//! the neighbours of some nodes at a time (crate `paths`). The paths that are found are its answer to one
//! sub-query, which the merge then treats as one of Retriever's.

mod answer;
mod files;
mod graph;
mod hints;
mod request;
mod work;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;

use answers::expand::{DIRECT, SubQuery};
use lookup::{Expand, Expansion, ExpansionError, Work};
use paths::{Blocked, Limits};
use retriever::SyncQuery;
use runtime::{Startup, StartupError};
use tokio::sync::Semaphore;
use trapi::{Query, Question};

use hints::Files;
use request::Request;

/// How far a search goes, unless the operator or the client says otherwise. Few nodes per question, so that no
/// answer grows too large and one that fails costs little; as many nodes in all as 5 ids at each end can keep.
const LIMITS: Limits = Limits {
    max_paths: 500,
    top_k: 75,
    max_degree: request::MAX_DEGREE as u64,
    max_edges_per_hop: 100,
    max_asked: 1000,
    ids_per_batch: NonZeroUsize::new(10).expect("is not 0"),
    batches_in_flight: NonZeroUsize::new(4).expect("is not 0"),
};
/// Each search holds what it found in memory; others wait for their turn, against their own deadline.
const MAX_SEARCHES: usize = 8;
/// The largest answer to one question that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 128 << 20;

/// Searches paths. Cheap to clone.
#[derive(Clone)]
struct Pathfinder {
    service: SyncQuery,
    files: Files,
    blocked: Arc<Blocked>,
    limits: Limits,
    places: Arc<Semaphore>,
}

impl Expand for Pathfinder {
    const OPERATION: &'static str = "arax.pathfinder";

    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError> {
        let Question::Pathfinder(path) = question else { return Err(ExpansionError::WrongKind) };
        let request = Request::read(query, path, self.limits)?;
        let sub_query = SubQuery { label: DIRECT.to_owned(), query_graph: query.query_graph.clone() };
        let pathfinder = self.clone();
        let work = Work::new(move |assignment| pathfinder.work(request, assignment));
        let parameters = request::parameters(&query.parameters);
        Ok(Expansion { parameters, ..Expansion::of_work(sub_query, work, query) })
    }
}

impl Pathfinder {
    fn load(startup: &Startup) -> Result<Self, StartupError> {
        let settings = &startup.settings;
        let (url, own) = (settings.sync_kg_retrieval_url.clone(), &settings.arax_pathfinder);
        let max_bytes = settings.callback_max_request_bytes.min(MAX_ANSWER_BYTES);
        let service = SyncQuery::new(startup.http.clone(), url, max_bytes);
        let (files, blocked) = match &own.directory {
            Some(directory) => files::open(directory, own.tier_version.as_deref()).map_err(|error| {
                StartupError::Load { what: "ARAX_PATHFINDER_DBS_DIR".to_owned(), source: error.into() }
            })?,
            None => (Files::default(), Blocked::default()),
        };
        let limits = Limits { top_k: own.top_k, ..LIMITS };
        Ok(Self::new(service, files, blocked, limits))
    }

    fn new(service: SyncQuery, files: Files, blocked: Blocked, limits: Limits) -> Self {
        let places = Arc::new(Semaphore::new(MAX_SEARCHES));
        Self { service, files, blocked: Arc::new(blocked), limits, places }
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("arax-pathfinder", Pathfinder::load)
}

#[cfg(test)]
mod tests;
