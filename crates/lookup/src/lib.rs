//! The lookup runner that every lookup worker shares.
//!
//! A lookup fixes its deadline, registers a callback id per sub-query, submits them, and waits for
//! events until nothing is outstanding or the deadline passes. The workers differ only in how they
//! expand a question ([`Expand`]). What the runner decides on time is tested on paused time against
//! the ports in [`ports`].

mod constraints;
mod expand;
pub mod ports;
mod recovery;
pub mod rules;
mod runner;
mod submission;
mod work;
mod worker;

pub use expand::{Ask, Expand, Expansion, ExpansionError};
pub use runner::{Runner, RunnerSettings};
pub use work::{AskError, Assignment, Work, WorkError};
pub use worker::{LookupWorker, run};
