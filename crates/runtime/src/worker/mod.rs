//! The worker loop: entries are read, leased, handled, and handed back at the end.
//!
//! Delivery is at least once. A handler settles its entry itself, in the same atomic step that writes
//! the next one; the loop reads, renews, claims and counts.

mod lease;
mod permits;
mod run;

use state::{StateError, StepEntry};
use tokio_util::sync::CancellationToken;

pub use permits::{WaitingPermit, WorkPermit};
pub(crate) use run::run;

/// One step to handle.
pub struct Task {
    /// The entry.
    pub entry: StepEntry,
    /// How often it has been handed out, this time included.
    pub deliveries: u32,
    /// Bounds the work of this process; given up while the task only waits.
    pub work: WorkPermit,
    /// Cancelled when the process stops: a task that waits hands its entry back.
    pub draining: CancellationToken,
}

/// Why a task did not finish.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// Redis did not take a state change, or gave an unreadable answer.
    #[error(transparent)]
    State(#[from] StateError),
    /// Nothing that a second try could change.
    #[error("{what}")]
    Defect {
        /// What is wrong.
        what: String,
    },
}

impl TaskError {
    /// Whether the same task may succeed later with nothing changed on our side.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::State(error) => error.is_transient(),
            Self::Defect { .. } => false,
        }
    }
}

/// Handles the steps of one or more operations.
pub trait Worker: Send + Sync + 'static {
    /// The operations whose streams this worker reads. Part of the wire format.
    fn operations(&self) -> Vec<String>;

    /// Handles one step and settles its entry. May run again for the same step, also at the same time
    /// as a run that has lost its lease: every state change checks who owns the query.
    ///
    /// # Errors
    /// [`TaskError`]; a transient one is tried again while the lease is held.
    fn handle(&self, task: Task) -> impl Future<Output = Result<(), TaskError>> + Send;

    /// Ends a step that was handed out too often, or cannot succeed, with what there is.
    ///
    /// # Errors
    /// [`TaskError`]; the entry then stays and is claimed again.
    fn give_up(&self, entry: &StepEntry, reason: &str) -> impl Future<Output = Result<(), TaskError>> + Send;
}
