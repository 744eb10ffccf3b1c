//! Every timeout and deadline of a query, computed in one place.
//!
//! A *deadline* is an instant, a *budget* or *timeout* is a duration. Deadlines cross processes, so
//! they are milliseconds since the Unix epoch; whoever holds one asks what is left. No worker computes
//! a timeout by itself: it asks [`Budgets`] here, and passes in what time it is.

mod budgets;
mod instant;
mod parameter;

pub use budgets::{Budgets, ClientBudget, QueryBudget, Recovery};
pub use instant::{Clock, Deadline, EpochMillis};
pub use parameter::{TimeoutParameter, Unusable};
