//! The operations of a plan: which of them a process runs, and how each is run on a message in memory.

use std::ops::Range;

use answers::Message;
use answers::Note;
use answers::operations::{NAMES, apply, aragorn_omnicorp, score_paths};
use literature::{LiteratureError, Omnicorp};
use trapi::{LogLevel, Operation, Query};

use crate::resources::Resources;

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

/// What this worker can run: the merge of the callbacks, and what follows it.
pub const OPERATIONS: [&str; NAMES.len() + 1] = {
    let mut all = [MERGE; NAMES.len() + 1];
    let (_, following) = all.split_at_mut(1);
    following.copy_from_slice(&NAMES);
    all
};
const MERGE: &str = "merge";
const DELIVERY: &str = "finish_query";

/// The operations that a process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned(Vec<&'static str>);

/// A name in `OPERATIONS` that is none of an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no operation `{name}`; there are {}", OPERATIONS.join(", "))]
pub struct NoSuchOperation {
    /// The name.
    pub name: String,
}

impl Owned {
    /// All there are.
    pub fn all() -> Self {
        Self(OPERATIONS.to_vec())
    }

    /// Those that are named; all where none is. Who runs `aragorn.score` runs it under TRAPI's name, too.
    ///
    /// # Errors
    /// [`NoSuchOperation`] for a name that is none.
    pub fn named(names: &[String]) -> Result<Self, NoSuchOperation> {
        if names.is_empty() {
            return Ok(Self::all());
        }
        if let Some(name) = names.iter().find(|name| !OPERATIONS.contains(&name.as_str())) {
            return Err(NoSuchOperation { name: name.clone() });
        }
        let named = |id: &str| names.iter().any(|name| name == id);
        let owned = |id: &&str| named(id) || (*id == "score" && named("aragorn.score"));
        Ok(Self(OPERATIONS.into_iter().filter(owned).collect()))
    }

    /// Their names, which are those of their streams.
    pub fn ids(&self) -> &[&'static str] {
        &self.0
    }

    /// The steps of `plan` from `step` on that run here, one after the other.
    pub(crate) fn stretch(&self, plan: &[String], step: usize) -> Stretch {
        let following = plan.iter().skip(step + 1);
        let more = following.take_while(|id| self.0.contains(&id.as_str())).count();
        let end = step + 1 + more;
        let last = plan.get(end).is_none_or(|id| id == DELIVERY);
        Stretch { steps: step..end, last }
    }
}

/// Consecutive steps of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    steps: Range<usize>,
    last: bool,
}

impl Stretch {
    pub(crate) fn contains(&self, step: usize) -> bool {
        self.steps.contains(&step)
    }

    /// What is left of it after a step of it.
    pub(crate) fn after(&self, step: usize) -> Self {
        Self { steps: step + 1..self.steps.end, last: self.last }
    }

    /// The step that follows.
    pub(crate) fn end(&self) -> usize {
        self.steps.end
    }

    /// Whether the response follows.
    pub(crate) fn is_last(&self) -> bool {
        self.last
    }
}

/// Whether the callbacks are merged at this step.
pub(crate) fn is_merge(plan: &[String], step: usize) -> bool {
    plan.get(step).is_some_and(|id| id == MERGE)
}

/// The operations of `plan` after its lookup and merge, each with its step and the client's options where it
/// sent any. A plan without them begins with its first operation.
pub(crate) fn operations_of(plan: &[String], query: &Query) -> Vec<(usize, Operation)> {
    let own = query.workflow.as_deref().unwrap_or_default();
    let merge = plan.iter().position(|id| id == MERGE);
    // the plan of a client's workflow follows it entry by entry, but for the merge behind the lookup
    let steps_more = usize::from(merge.is_some());
    let following = plan.iter().enumerate().skip(merge.map_or(0, |merge| merge + 1));
    following
        .take_while(|(_, id)| *id != DELIVERY)
        .map(|(step, id)| match own.get(step - steps_more) {
            Some(operation) if operation.id == *id => (step, operation.clone()),
            _ => (step, Operation::new(id.clone())),
        })
        .collect()
}

/// Runs one operation and returns what the client should know about it.
pub(crate) fn run(
    operation: &Operation,
    message: &mut Message<'_>,
    resources: &Resources,
) -> Result<Vec<Note>, OperationError> {
    match operation.id.as_str() {
        "aragorn.omnicorp" => omnicorp(message, resources.literature.as_ref()),
        "score_paths" => Ok(score_paths(message, resources.path_model.as_ref())),
        _ => apply(message, operation).ok_or_else(|| OperationError::Unknown(operation.id.clone())),
    }
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

/// The workflow as it is told in the response: under TRAPI's names, with the options that apply.
pub(crate) fn told(query: &Query, operations: &[Operation]) -> Vec<Operation> {
    if let Some(workflow) = &query.workflow {
        return workflow.clone();
    }
    let mut told = vec![Operation::new("lookup")];
    told.extend(operations.iter().filter_map(|operation| {
        let (name, value) = match operation.id.as_str() {
            "aragorn.score" | "arax.rank" | "score_paths" => return Some(Operation::new("score")),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Vec<String> {
        let ids = ["aragorn.lookup", "merge", "aragorn.score", "sort_results_score", "finish_query"];
        ids.map(str::to_owned).to_vec()
    }

    fn owned(names: &[&str]) -> Owned {
        Owned::named(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn stretch_ends_where_another_process_goes_on_or_the_response_follows() {
        let all = Owned::all().stretch(&plan(), 1);
        assert!(all.is_last() && all.contains(3) && !all.contains(4));
        let first = owned(&["merge", "aragorn.score"]).stretch(&plan(), 1);
        assert!(!first.is_last() && first.contains(2) && !first.contains(3));
        assert_eq!(first.end(), 3);
        assert!(owned(&["sort_results_score"]).stretch(&plan(), 3).is_last());
        // whoever has the step runs it, whatever it is set to
        assert!(owned(&["merge"]).stretch(&plan(), 2).contains(2));
    }

    #[test]
    fn names_are_those_of_operations_and_none_is_all() {
        assert_eq!(owned(&[]), Owned::all());
        assert_eq!(owned(&["aragorn.score"]).ids(), ["score", "aragorn.score"]);
        let unknown = Owned::named(&["sort".to_owned()]).unwrap_err();
        assert_eq!(unknown.name, "sort");
    }

    #[test]
    fn operations_have_the_options_of_the_workflow_with_and_without_a_lookup() {
        let graph = r#"{"nodes":{"a":{"ids":["X:1"]},"b":{}},"edges":{"e":{"subject":"a","object":"b"}}}"#;
        let limit = r#"{"id":"filter_results_top_n","parameters":{"max_results":3}}"#;
        for (lookup, plan) in [
            (r#"{"id":"lookup"},"#, &["aragorn.lookup", "merge", "filter_results_top_n", "finish_query"][..]),
            ("", &["filter_results_top_n", "finish_query"]),
        ] {
            let body = format!(r#"{{"message":{{"query_graph":{graph}}},"workflow":[{lookup}{limit}]}}"#);
            let query = Query::parse(body.as_bytes()).unwrap();
            let plan: Vec<String> = plan.iter().map(|&id| id.to_owned()).collect();
            let [(step, operation)] = &operations_of(&plan, &query)[..] else { panic!("one operation") };
            assert_eq!(*step, plan.len() - 2);
            assert_eq!(operation.parameters["max_results"].get(), "3");
        }
    }
}
