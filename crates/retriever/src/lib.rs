//! The client of Retriever, the knowledge-graph service that answers sub-queries by callback, and fills messages
//! that came without their content.
//!
//! The one question that matters about a submission is whether Retriever may be working on it: only
//! then is its callback worth waiting for. [`SubmissionOutcome`] has a variant per answer.

mod body;
mod client;
mod outcome;
mod recover;
mod rehydrate;
mod request;
mod retry;
mod sync_query;

pub use client::{Retriever, SubmissionMetadata};
pub use outcome::SubmissionOutcome;
pub use recover::Recovered;
pub use rehydrate::RehydrationRequest;
pub use request::SubQueryRequest;
pub use sync_query::{QueryError, SyncAnswer, SyncQuery};
