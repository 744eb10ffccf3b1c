//! The lookup worker of bte.
//!
//! An inferred question is asked directly and once per template of each group that fits it; a lookup is
//! asked as it is. The templates are loaded once, at start.

use std::process::ExitCode;

use answers::expand::{self, BteTemplates};
use lookup::{Expand, Expansion, ExpansionError, rules};
use runtime::{Settings, StartupError};
use trapi::{Query, Question};

/// Expands by templates.
struct Bte(BteTemplates);

impl Expand for Bte {
    const OPERATION: &'static str = "bte.lookup";

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
    lookup::run("bte-lookup", |startup| load(&startup.settings).map(Bte))
}

fn load(settings: &Settings) -> Result<BteTemplates, StartupError> {
    let templates = rules::bte(&settings.rules_dir).map_err(|error| StartupError::Load {
        what: "RULES_DIR: the templates of bte cannot be used".to_owned(),
        source: Box::new(error),
    })?;
    for (group, count) in templates.keys() {
        tracing::info!("{count} templates for {group}");
    }
    Ok(templates)
}
