//! Runs the operations of a plan on a message in memory.

use answers::Message;
use answers::Note;
use answers::operations::{
    Limit, Order, Profile, aragorn_omnicorp, aragorn_score, arax_rank, filter_analyses_top_n,
    filter_kgraph_orphans, filter_results_top_n, sort_results_score,
};
use literature::{LiteratureError, Omnicorp};
use trapi::{LogLevel, Operation, Query};

/// Why an operation did not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperationError {
    /// This version does not know it: the plan was made by another one.
    #[error("operation `{0}` is unknown to this worker")]
    Unknown(String),
    /// The literature cannot be looked up.
    #[error(transparent)]
    Literature(#[from] LiteratureError),
}

/// The operations of `plan` after its lookup and merge, with the client's options where it sent any.
pub(crate) fn operations_of(plan: &[String], query: &Query) -> Vec<Operation> {
    let own = query.workflow.as_deref().unwrap_or_default();
    let ids = plan.iter().skip(2).take_while(|id| *id != "finish_query");
    // the plan of a client's workflow follows it entry by entry, the lookup first
    ids.enumerate()
        .map(|(index, id)| match own.get(index + 1) {
            Some(operation) if operation.id == *id => operation.clone(),
            _ => Operation::new(id.clone()),
        })
        .collect()
}

/// Runs one operation and returns what the client should know about it.
pub(crate) fn run(
    operation: &Operation,
    message: &mut Message<'_>,
    literature: Option<&Omnicorp>,
) -> Result<Vec<Note>, OperationError> {
    match operation.id.as_str() {
        "aragorn.score" | "score" => return Ok(aragorn_score(message, profile(operation))),
        "aragorn.omnicorp" => return omnicorp(message, literature),
        "arax.rank" => return Ok(arax_rank(message)),
        "sort_results_score" => sort_results_score(message, Order::of(operation)),
        "filter_results_top_n" => filter_results_top_n(message, Limit::of(operation, "max_results")),
        "filter_analyses_top_n" => filter_analyses_top_n(message, Limit::of(operation, "max_analyses")),
        "filter_kgraph_orphans" => filter_kgraph_orphans(message),
        unknown => return Err(OperationError::Unknown(unknown.to_owned())),
    }
    Ok(Vec::new())
}

fn omnicorp(message: &mut Message<'_>, literature: Option<&Omnicorp>) -> Result<Vec<Note>, OperationError> {
    match literature {
        Some(literature) => Ok(aragorn_omnicorp(message, literature)?),
        None => Ok(vec![Note {
            level: LogLevel::Info,
            code: "LiteratureNotConfigured",
            message: "aragorn.omnicorp passes through: no literature is configured".to_owned(),
        }]),
    }
}

/// The weights that a client asks for by name.
fn profile(operation: &Operation) -> Profile {
    let raw = operation.parameters.get("profile").or_else(|| operation.extra.get("profile"));
    let name = raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    name.map_or_else(Profile::default, |name| Profile::named(&name))
}

/// The workflow as it is told in the response: under TRAPI's names, with the options that apply.
pub(crate) fn told(query: &Query, operations: &[Operation]) -> Vec<Operation> {
    if let Some(workflow) = &query.workflow {
        return workflow.clone();
    }
    let mut told = vec![Operation::new("lookup")];
    told.extend(operations.iter().filter_map(|operation| {
        let (name, value) = match operation.id.as_str() {
            "aragorn.score" | "arax.rank" => return Some(Operation::new("score")),
            "sort_results_score" => ("ascending_or_descending", "\"descending\""),
            "filter_results_top_n" => ("max_results", "500"),
            "filter_kgraph_orphans" => return Some(operation.clone()),
            // no name that TRAPI knows
            _ => return None,
        };
        let mut operation = operation.clone();
        let value = serde_json::value::RawValue::from_string(value.to_owned()).ok()?;
        operation.parameters.insert(name.to_owned(), value);
        Some(operation)
    }));
    told
}
