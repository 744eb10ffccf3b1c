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
        Ok(match text {
            "aragorn" => Self::Aragorn,
            "arax" => Self::Arax,
            "bte" => Self::Bte,
            "example" => Self::Example,
            "sipr" => Self::Sipr,
            _ => return Err(()),
        })
    }
}

/// What may be in a workflow behind the lookup, as a client is told that put something else there.
static ALLOWED: LazyLock<String> = LazyLock::new(|| format!("one of {}", NAMES.join(", ")));

/// A query that its persona cannot run.
#[derive(Debug)]
pub(crate) enum Unplanned {
    /// The persona has no workers yet.
    NoWorkers,
    /// The client must change something.
    Invalid(Invalid),
}

impl Ara {
    pub(crate) const ALL: [Self; 5] = [Self::Aragorn, Self::Arax, Self::Bte, Self::Example, Self::Sipr];

    /// The team that answers for it in the network's registry.
    pub(crate) fn team(self) -> &'static str {
        match self {
            Self::Aragorn | Self::Example | Self::Sipr => "Ranking Agent",
            Self::Arax => "Expander Agent",
            Self::Bte => "Exploring Agent",
        }
    }

    /// Whether it answers questions for paths.
    pub(crate) fn finds_paths(self) -> bool {
        matches!(self, Self::Aragorn)
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
    pub(crate) fn plan(self, query: &Query, question: &Question) -> Result<Vec<String>, Unplanned> {
        let lookup = self.lookup(question)?;
        if let Some(workflow) = query.workflow.as_deref().filter(|_| brings_results(query))
            && workflow.first().is_some_and(|first| NAMES.contains(&first.id.as_str()))
        {
            let mut plan = operations(workflow, 0).map_err(Unplanned::Invalid)?;
            plan.push("finish_query".to_owned());
            return Ok(plan);
        }
        let mut plan = vec![lookup.to_owned(), "merge".to_owned()];
        match &query.workflow {
            Some(workflow) => plan.extend(after_lookup(workflow, lookup).map_err(Unplanned::Invalid)?),
            None => plan.extend(self.own_workflow(question).iter().map(|&id| id.to_owned())),
        }
        plan.push("finish_query".to_owned());
        Ok(plan)
    }

    fn lookup(self, question: &Question) -> Result<&'static str, Unplanned> {
        let no_paths = || Invalid::new("message.query_graph.paths", Problem::NotOneOf("absent for this ARA"));
        match (self, question) {
            (Self::Aragorn, Question::Pathfinder(_)) => Ok("aragorn.pathfinder"),
            (Self::Aragorn, Question::Lookup | Question::Inferred(_)) => Ok("aragorn.lookup"),
            (Self::Bte, Question::Lookup | Question::Inferred(_)) => Ok("bte.lookup"),
            (Self::Example, Question::Lookup | Question::Inferred(_)) => Ok("example.lookup"),
            (Self::Bte | Self::Example, Question::Pathfinder(_)) => Err(Unplanned::Invalid(no_paths())),
            (Self::Arax | Self::Sipr, _) => Err(Unplanned::NoWorkers),
        }
    }

    /// The persona's own workflow after the lookup.
    fn own_workflow(self, question: &Question) -> &'static [&'static str] {
        match (self, question) {
            (_, Question::Pathfinder(_)) => &[
                "score_paths",
                "sort_results_score",
                "filter_analyses_top_n",
                "filter_kgraph_orphans",
                REHYDRATE,
            ],
            // its made-up scores are part of its answer
            (Self::Example, _) => &["sort_results_score", "filter_results_top_n", "filter_kgraph_orphans"],
            (Self::Aragorn | Self::Arax | Self::Bte | Self::Sipr, _) => &[
                "aragorn.omnicorp",
                "aragorn.score",
                "sort_results_score",
                "filter_results_top_n",
                "filter_kgraph_orphans",
            ],
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
