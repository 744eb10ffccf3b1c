//! The lookup worker of bte.
//!
//! An inferred question is asked directly and once per template of each group that fits it; a lookup is
//! asked as it is. The templates are loaded once, at start.

use std::collections::BTreeMap;
use std::process::ExitCode;

use answers::expand::{self, BteTemplates};
use lookup::{Expand, Expansion, ExpansionError, read_rules};
use runtime::{Settings, StartupError};
use trapi::{Query, Question};

const GROUPS_FILE: &str = "template_groups.json";

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
    lookup::run("bte-lookup", |settings| load(settings).map(Bte))
}

/// `template_groups.json` and the templates beside and below it, in `RULES_DIR/bte`.
fn load(settings: &Settings) -> Result<BteTemplates, StartupError> {
    let directory = settings.rules_dir.join("bte");
    let unusable = |source: Box<dyn std::error::Error + Send + Sync>| StartupError::Load {
        what: format!("the templates in {} cannot be used", directory.display()),
        source,
    };
    let mut groups = None;
    let mut templates = BTreeMap::new();
    for (path, text) in read_rules(&directory).map_err(|error| unusable(Box::new(error)))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == GROUPS_FILE {
            groups = Some((path.display().to_string(), text));
        } else if templates.insert(name, text).is_some() {
            return Err(unusable(format!("{} is a file name used twice", path.display()).into()));
        }
    }
    let (file, groups) = groups.ok_or_else(|| unusable(format!("{GROUPS_FILE} is missing").into()))?;
    let templates =
        BteTemplates::parse(&file, &groups, &templates).map_err(|error| unusable(Box::new(error)))?;
    for (group, count) in templates.keys() {
        tracing::info!("{count} templates for {group}");
    }
    Ok(templates)
}
