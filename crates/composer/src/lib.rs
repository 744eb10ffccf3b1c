//! Makes the response of a query.
//!
//! All callbacks are read once and all at once, so nothing is rewritten step by step and no lock is
//! needed; the response is written once. The `operations` worker does this when a lookup has closed; the
//! watchdog of `finish_query` does it when nobody else has. Between two operations the message may have to be sent to
//! Retriever to be filled; only then does it wait for anything but Redis.

mod bodies;
mod compose;
mod composer;
mod ending;
mod ingredients;
mod keep;
mod logs;
mod resources;
mod second_pass;
mod workflow;

pub use composer::Composer;
pub use workflow::{NoSuchOperation, OPERATIONS, Owned};
