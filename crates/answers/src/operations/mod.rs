//! The operations of a workflow that change a message in memory.

mod arax;
mod attributes;
mod limit;
mod omnicorp;
mod orphans;
mod score;
mod sort;

pub use arax::arax_rank;
pub use limit::{Limit, filter_analyses_top_n, filter_results_top_n};
pub use omnicorp::{Literature, Named, aragorn_omnicorp};
pub use orphans::filter_kgraph_orphans;
pub use score::{Profile, Property, aragorn_score};
pub use sort::{Order, sort_results_score};
