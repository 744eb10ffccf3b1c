//! The runner as a worker process.

use std::process::ExitCode;

use budget::Clock;
use retriever::Retriever;
use runtime::{Startup, StartupError, SystemClock, Task, TaskError, Waits, Worker, log_entry, run_worker};
use state::{Close, Events, StepEntry, Store};
use trapi::LogLevel;

use crate::expand::Expand;
use crate::ports::LookupStore;
use crate::runner::{Runner, RunnerSettings};

/// A lookup worker.
pub struct LookupWorker<E>(Runner<Store, Retriever, SystemClock, E>);

/// Runs a lookup worker process; `load` reads what its expansion needs.
pub fn run<E: Expand>(name: &str, load: impl FnOnce(&Startup) -> Result<E, StartupError>) -> ExitCode {
    run_worker(name, |startup| {
        let expand = load(startup)?;
        let settings = &startup.settings;
        let waits = Waits::default();
        tokio::spawn(waits.clone().listen(startup.store.clone(), Events::Returned));
        let retriever = Retriever::new(startup.http.clone(), settings.kg_retrieval_url.clone());
        let runner_settings = RunnerSettings {
            budgets: settings.budgets,
            dialect: settings.retriever_trapi_version,
            default_tier: settings.default_data_tier,
            submitter: format!(
                "infores:shepherd-{{ara}}:{}@{}@{}",
                settings.server_maturity, settings.server_location, settings.server_url
            ),
            callback_host: settings.callback_host.as_str().trim_end_matches('/').to_owned(),
            max_concurrent_submissions: settings.max_concurrent_submissions,
            max_recovered_bytes: settings.callback_max_request_bytes,
        };
        let (store, owner) = (startup.store.clone(), startup.consumer.clone());
        Ok(LookupWorker(Runner::new(store, retriever, SystemClock, expand, owner, runner_settings, waits)))
    })
}

impl<E: Expand> Worker for LookupWorker<E> {
    fn operations(&self) -> Vec<String> {
        vec![E::OPERATION.to_owned()]
    }

    async fn handle(&self, task: Task) -> Result<(), TaskError> {
        self.0.run(task).await
    }

    /// Closes the lookup with what has come, so that the query is finished and its client told.
    async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        let runner = &self.0;
        let now = runner.clock.now();
        let Ok(begun) = LookupStore::begin(&runner.store, entry, &runner.owner, now).await? else {
            return Ok(runner.store.discard(entry).await?);
        };
        let Some(next_operation) = begun.record.plan.get(entry.step + 1) else {
            return Ok(runner.store.discard(entry).await?);
        };
        let logs = [log_entry(now, LogLevel::Error, format!("The lookup failed: {reason}"))];
        let close = Close { next_operation, force: true, failure: Some(reason), logs: &logs };
        LookupStore::close_lookup(&runner.store, entry, &runner.owner, &close, now).await?;
        Ok(())
    }
}
