//! The operations of a workflow that change a message in memory.

mod arax;
mod attributes;
mod limit;
mod omnicorp;
mod orphans;
mod parameters;
mod score;
mod score_paths;
mod sort;

use trapi::Operation;

use crate::{Message, Note};

pub use arax::arax_rank;
pub use limit::{Limit, filter_analyses_top_n, filter_results_top_n};
pub use omnicorp::{Literature, Named, aragorn_omnicorp};
pub use orphans::filter_kgraph_orphans;
pub use score::{Profile, Property, aragorn_score};
pub use score_paths::{GRAPH_FEATURES, PathFeatures, PathModel, score_paths};
pub use sort::{Order, sort_results_score};

/// All operations that may follow a lookup and that a client may put into its workflow.
pub const NAMES: [&str; 10] = [
    "score",
    "aragorn.omnicorp",
    "aragorn.score",
    "arax.rank",
    "score_paths",
    "sort_results_score",
    "filter_results_top_n",
    "filter_analyses_top_n",
    "filter_kgraph_orphans",
    REHYDRATE,
];

/// The operation that has nodes and edges filled which came without their content, by [`Message::fill`].
pub const REHYDRATE: &str = "rehydrate";

/// Executes an operation that needs nothing but the message and returns what the client should know about it;
/// none where it is not such a one. `aragorn.omnicorp` needs counts, see [`aragorn_omnicorp`]; `score_paths` may need a model,
/// see [`score_paths()`]; [`REHYDRATE`] needs a network.
pub fn apply(message: &mut Message<'_>, operation: &Operation) -> Option<Vec<Note>> {
    let mut notes = Vec::new();
    match operation.id.as_str() {
        "aragorn.score" | "score" => {
            let profile = Profile::of(operation, &mut notes);
            notes.extend(aragorn_score(message, profile));
        }
        "arax.rank" => notes.extend(arax_rank(message)),
        "sort_results_score" => sort_results_score(message, Order::of(operation, &mut notes)),
        "filter_results_top_n" => {
            filter_results_top_n(message, Limit::of(operation, "max_results", &mut notes));
        }
        "filter_analyses_top_n" => {
            filter_analyses_top_n(message, Limit::of(operation, "max_analyses", &mut notes));
        }
        "filter_kgraph_orphans" => filter_kgraph_orphans(message),
        _ => return None,
    }
    Some(notes)
}
