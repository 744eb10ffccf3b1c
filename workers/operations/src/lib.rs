//! The worker that makes responses: merge, score, sort, limit, clean, one after the other in memory.

use std::process::ExitCode;

use composer::Composer;
use runtime::{SystemClock, Task, TaskError, Worker, run_worker};
use state::StepEntry;

struct Operations(Composer<SystemClock>);

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    run_worker("operations", |startup| Ok(Operations(Composer::new(startup, SystemClock)?)))
}

impl Worker for Operations {
    fn operations(&self) -> Vec<String> {
        vec!["merge".to_owned()]
    }

    async fn handle(&self, task: Task) -> Result<(), TaskError> {
        self.0.run(&task.entry).await
    }

    async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        self.0.give_up(entry, reason).await
    }
}
