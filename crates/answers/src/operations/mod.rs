//! The operations of a workflow that change a message in memory.

mod arax;
mod attributes;
mod limit;
mod omnicorp;
mod orphans;
mod score;
mod sort;

use trapi::Operation;

use crate::{Message, Note};

pub use arax::arax_rank;
pub use limit::{Limit, filter_analyses_top_n, filter_results_top_n};
pub use omnicorp::{Literature, Named, aragorn_omnicorp};
pub use orphans::filter_kgraph_orphans;
pub use score::{Profile, Property, aragorn_score};
pub use sort::{Order, sort_results_score};

/// Executes an operation that needs nothing but the message; none where it is not such a one.
///
/// `aragorn.score` takes a `profile` parameter; `aragorn.omnicorp` needs counts, see [`aragorn_omnicorp`].
pub fn apply(message: &mut Message<'_>, operation: &Operation) -> Option<Vec<Note>> {
    match operation.id.as_str() {
        "aragorn.score" => {
            let profile = operation.parameters.get("profile").map(|raw| raw.get().trim_matches('"'));
            return Some(aragorn_score(message, profile.map_or(Profile::default(), Profile::named)));
        }
        "arax.rank" => return Some(arax_rank(message)),
        "sort_results_score" => sort_results_score(message, Order::of(operation)),
        "filter_results_top_n" => filter_results_top_n(message, Limit::of(operation, "max_results")),
        "filter_analyses_top_n" => filter_analyses_top_n(message, Limit::of(operation, "max_analyses")),
        "filter_kgraph_orphans" => filter_kgraph_orphans(message),
        _ => return None,
    }
    Some(Vec::new())
}
