//! The personas and the operations their queries run through.

use std::str::FromStr;
use std::sync::LazyLock;

use answers::operations::{NAMES, REHYDRATE};
use utoipa::ToSchema;

use trapi::{Invalid, Operation, Problem, Query, Question};

/// The persona a query is addressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Ara {
    Aragorn,
    Arax,
    Bte,
    Example,
    Sipr,
}

impl FromStr for Ara {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|ara| ara.as_str() == text).ok_or(())
    }
}

/// What may be in a workflow behind the lookup, as a client is told that put something else there.
static ALLOWED: LazyLock<String> = LazyLock::new(|| format!("one of {}", NAMES.join(", ")));

impl Ara {
    /// All of them, in the order in which they are listed.
    pub(crate) const ALL: &[Self] = &[
        // one per line, to be added to
        Self::Aragorn,
        Self::Arax,
        Self::Bte,
        Self::Example,
        Self::Sipr,
    ];

    /// Where its own OpenAPI document is.
    pub(crate) fn openapi_path(self) -> &'static str {
        match self {
            Self::Aragorn => "/aragorn/openapi.json",
            Self::Arax => "/arax/openapi.json",
            Self::Bte => "/bte/openapi.json",
            Self::Example => "/example/openapi.json",
            Self::Sipr => "/sipr/openapi.json",
        }
    }

    /// Their names, for people.
    pub(crate) fn names() -> String {
        Self::ALL.iter().map(|ara| ara.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The team that answers for it in the network's registry.
    pub(crate) fn team(self) -> &'static str {
        match self {
            Self::Arax => "Expander Agent",
            Self::Bte => "Exploring Agent",
            _ => "Ranking Agent",
        }
    }

    /// Whether it answers questions for paths.
    pub(crate) fn finds_paths(self) -> bool {
        matches!(self, Self::Aragorn | Self::Arax)
    }

    /// The operations of a workflow that TRAPI has a name for.
    pub(crate) fn trapi_operations() -> Vec<&'static str> {
        let ours = ["score_paths", "filter_analyses_top_n", REHYDRATE];
        let is_trapi = |id: &&str| !id.contains('.') && !ours.contains(id);
        ["lookup"].into_iter().chain(NAMES.into_iter().filter(is_trapi)).collect()
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Aragorn => "aragorn",
            Self::Arax => "arax",
            Self::Bte => "bte",
            Self::Example => "example",
            Self::Sipr => "sipr",
        }
    }

    /// The operations that `query` runs through, lookup first and delivery last.
    ///
    /// # Errors
    /// [`Invalid`] names what the client must change.
    pub(crate) fn plan(self, query: &Query, question: &Question) -> Result<Vec<String>, Invalid> {
        let lookup = self.lookup(query, question)?;
        if let Some(workflow) = query.workflow.as_deref().filter(|_| brings_results(query))
            && workflow.first().is_some_and(|first| NAMES.contains(&first.id.as_str()))
        {
            let mut plan = operations(workflow, 0)?;
            plan.push("finish_query".to_owned());
            return Ok(plan);
        }
        let mut plan = vec![lookup.to_owned(), "merge".to_owned()];
        match &query.workflow {
            Some(workflow) => plan.extend(after_lookup(workflow, lookup)?),
            None => plan.extend(self.own_workflow(question).iter().map(|&id| id.to_owned())),
        }
        plan.push("finish_query".to_owned());
        Ok(plan)
    }

    fn lookup(self, query: &Query, question: &Question) -> Result<&'static str, Invalid> {
        match (self, question) {
            (Self::Aragorn, Question::Pathfinder(_)) => Ok("aragorn.pathfinder"),
            (Self::Aragorn, Question::Lookup | Question::Inferred(_)) => Ok("aragorn.lookup"),
            (Self::Arax, Question::Pathfinder(_)) => Ok("arax.pathfinder"),
            (Self::Arax, Question::Lookup | Question::Inferred(_)) => Ok("arax.lookup"),
            (Self::Bte, Question::Lookup | Question::Inferred(_)) => Ok("bte.lookup"),
            (Self::Example, Question::Lookup | Question::Inferred(_)) => Ok("example.lookup"),
            (Self::Sipr, Question::Lookup | Question::Inferred(_)) => {
                query.query_graph.set_input().map(|_| "sipr.lookup")
            }
            (_, Question::Pathfinder(_)) => {
                Err(Invalid::new("message.query_graph.paths", Problem::NotOneOf("absent for this ARA")))
            }
        }
    }

    /// The persona's own workflow after the lookup.
    fn own_workflow(self, question: &Question) -> &'static [&'static str] {
        match (self, question) {
            (Self::Aragorn, Question::Pathfinder(_)) => &[
                "score_paths",
                "sort_results_score",
                "filter_analyses_top_n",
                "filter_kgraph_orphans",
                REHYDRATE,
            ],
            (_, Question::Pathfinder(_)) => {
                &["sort_results_score", "filter_analyses_top_n", "filter_kgraph_orphans", REHYDRATE]
            }
            // what it searches comes without content
            (Self::Sipr, _) => {
                &["sort_results_score", "filter_results_top_n", "filter_kgraph_orphans", REHYDRATE]
            }
            (Self::Aragorn | Self::Bte, _) => &[
                "aragorn.omnicorp",
                "aragorn.score",
                "sort_results_score",
                "filter_results_top_n",
                "filter_kgraph_orphans",
            ],
            // scores are part of the answers
            _ => &["sort_results_score", "filter_results_top_n", "filter_kgraph_orphans"],
        }
    }
}

/// Whether the client brings a message that operations can work on.
fn brings_results(query: &Query) -> bool {
    query.message.contains_key("results")
}

/// A client's workflow begins with a lookup, by its general or its own name, and goes on with what we know.
fn after_lookup(workflow: &[Operation], lookup: &str) -> Result<Vec<String>, Invalid> {
    let Some((first, rest)) = workflow.split_first() else {
        return Err(Invalid::new("workflow", Problem::Empty));
    };
    if first.id != "lookup" && first.id != lookup {
        let allowed = "lookup, or this ARA's own lookup, unless the message has results";
        return Err(Invalid::new("workflow[0].id", Problem::NotOneOf(allowed)));
    }
    operations(rest, 1)
}

/// The names of operations that follow a lookup, or work on the client's own message; the first of them is
/// entry `first` of the workflow.
fn operations(workflow: &[Operation], first: usize) -> Result<Vec<String>, Invalid> {
    let known = |(index, operation): (usize, &Operation)| {
        if NAMES.contains(&operation.id.as_str()) {
            return Ok(operation.id.clone());
        }
        Err(Invalid::new(format!("workflow[{}].id", first + index), Problem::NotOneOf(&ALLOWED)))
    };
    workflow.iter().enumerate().map(known).collect()
}
