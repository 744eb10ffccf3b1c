//! Merges what a lookup gathered, runs the operations that follow in memory, and stores the response.
//!
//! All callbacks are read once and all at once, so nothing is rewritten step by step and no lock is
//! needed; the response is written once.

mod compose;
mod ending;
mod logs;
mod run;
mod worker;

pub use worker::run;
