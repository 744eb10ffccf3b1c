//! The lookup worker of aragorn.
//!
//! An inferred question is asked directly and once per rule that concludes its predicate and
//! qualifiers; a lookup is asked as it is. The rules are loaded once, at start.

use std::process::ExitCode;

use answers::expand::{self, AragornRules};
use lookup::{Expand, Expansion, ExpansionError, rules};
use runtime::{Settings, StartupError};
use trapi::{Query, Question};

/// Expands by rules.
struct Aragorn(AragornRules);

impl Expand for Aragorn {
    const OPERATION: &'static str = "aragorn.lookup";

    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError> {
        let sub_queries = match question {
            Question::Lookup => vec![expand::lookup(&query.query_graph)],
            Question::Inferred(inferred) => self.0.expand(&query.query_graph, inferred),
            Question::Pathfinder(_) => return Err(ExpansionError::WrongKind),
        };
        Ok(Expansion::of_retriever(sub_queries, query))
    }
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    lookup::run("aragorn-lookup", |startup| load(&startup.settings).map(Aragorn))
}

fn load(settings: &Settings) -> Result<AragornRules, StartupError> {
    let rules = rules::aragorn(&settings.rules_dir).map_err(|error| StartupError::Load {
        what: "RULES_DIR: the rules of aragorn cannot be used".to_owned(),
        source: Box::new(error),
    })?;
    for (key, count) in rules.keys() {
        tracing::info!("{count} rules for {key}");
    }
    Ok(rules)
}
