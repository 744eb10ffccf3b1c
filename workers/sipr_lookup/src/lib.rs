//! The lookup worker of sipr, which answers questions about a set: what is near all of its members?
//!
//! It looks up the neighbourhood of the members through Retriever's `/query`, hop by hop, and scores it by
//! personalised PageRank; see [`answers::set_input`].

mod search;

use std::process::ExitCode;

use answers::expand;
use lookup::{Expand, Expansion, ExpansionError, Work};
use retriever::SyncQuery;
use trapi::{Query, Question};

use crate::search::Search;

/// The persona, as it stands in paths and sources.
const ARA: &str = "sipr";

/// Searches the neighbourhood of a set.
struct Sipr {
    retriever: SyncQuery,
}

impl Expand for Sipr {
    const OPERATION: &'static str = "sipr.lookup";

    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError> {
        if matches!(question, Question::Pathfinder(_)) {
            return Err(ExpansionError::WrongKind);
        }
        let search = Search {
            retriever: self.retriever.clone(),
            graph: query.query_graph.clone(),
            set: query.query_graph.set_input()?,
        };
        let work = Work::new(|assignment| search.run(assignment));
        let expansion = Expansion::of_work(expand::lookup(&query.query_graph), work, query);
        Ok(Expansion { parameters: expand::dehydrated(&query.parameters), ..expansion })
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("sipr-lookup", |startup| {
        let settings = &startup.settings;
        let url = settings.sync_kg_retrieval_url.clone();
        let retriever = SyncQuery::new(startup.http.clone(), url, settings.callback_max_request_bytes);
        Ok(Sipr { retriever })
    })
}
