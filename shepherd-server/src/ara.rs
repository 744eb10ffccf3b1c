//! The personas and the operations their queries run through.

use std::str::FromStr;

use trapi::{Invalid, Operation, Problem, Query, Question};

/// The persona a query is addressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Operations that follow a lookup and that a client may put into its workflow.
const AFTER_LOOKUP: [&str; 8] = [
    "score",
    "aragorn.omnicorp",
    "aragorn.score",
    "arax.rank",
    "sort_results_score",
    "filter_results_top_n",
    "filter_analyses_top_n",
    "filter_kgraph_orphans",
];

/// A query that its persona cannot run.
#[derive(Debug)]
pub(crate) enum Unplanned {
    /// The persona has no workers yet.
    NoWorkers,
    /// The client must change something.
    Invalid(Invalid),
}

impl Ara {
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
            (_, Question::Pathfinder(_)) => {
                &["sort_results_score", "filter_analyses_top_n", "filter_kgraph_orphans"]
            }
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

/// A client's workflow begins with a lookup, by its general or its own name, and goes on with what we know.
fn after_lookup(workflow: &[Operation], lookup: &str) -> Result<Vec<String>, Invalid> {
    let problem = |index: usize, allowed| {
        Err(Invalid::new(format!("workflow[{index}].id"), Problem::NotOneOf(allowed)))
    };
    let Some((first, rest)) = workflow.split_first() else {
        return Err(Invalid::new("workflow", Problem::Empty));
    };
    if first.id != "lookup" && first.id != lookup {
        return problem(0, "lookup, or this ARA's own lookup");
    }
    for (index, operation) in rest.iter().enumerate() {
        if !AFTER_LOOKUP.contains(&operation.id.as_str()) {
            return problem(
                index + 1,
                "one of score, aragorn.omnicorp, aragorn.score, arax.rank, sort_results_score, filter_results_top_n, filter_analyses_top_n, filter_kgraph_orphans",
            );
        }
    }
    Ok(rest.iter().map(|operation| operation.id.clone()).collect())
}
