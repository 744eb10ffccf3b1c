//! The worker that makes responses: merge, score, sort, limit, clean, one after the other in memory.
//!
//! `OPERATIONS` limits a process to some of them, so that heavy ones scale apart. Between two processes the
//! message is stored.

use std::process::ExitCode;

use composer::{Composer, Owned};
use runtime::{StartupError, SystemClock, Task, TaskError, Worker, run_worker};
use state::StepEntry;

struct Operations {
    composer: Composer<SystemClock>,
    owned: Owned,
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    run_worker("operations", |startup| {
        let owned = Owned::named(&startup.settings.operations);
        let owned = owned
            .map_err(|error| StartupError::Load { what: "OPERATIONS".to_owned(), source: error.into() })?;
        Ok(Operations { composer: Composer::new(startup, SystemClock, owned.clone())?, owned })
    })
}

impl Worker for Operations {
    fn operations(&self) -> Vec<String> {
        self.owned.ids().iter().map(|&id| id.to_owned()).collect()
    }

    async fn handle(&self, task: Task) -> Result<(), TaskError> {
        self.composer.run(&task.entry, &task.draining).await
    }

    async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        self.composer.give_up(entry, reason).await
    }
}
