//! Watches the deadlines of all open queries: one whose workers are all gone is closed and answered with
//! what was gathered, before its client gives up.

use std::time::Duration;

use budget::{Clock, Deadline};
use composer::{Composer, Owned};
use meters::CloseReason;
use runtime::{Causes, Startup, StartupError, SystemClock, TaskError, log_entry};
use state::{Close, Closing, ConsumerName, QueryId, StepEntry, Store};
use tokio_util::sync::CancellationToken;
use trapi::LogLevel;

/// The longest pause between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How many queries one look sees, the most urgent first.
const SEEN_AT_ONCE: usize = 100;
/// A rescuer that takes longer than this has gone, too.
const PATIENCE: Duration = Duration::from_secs(5);

/// What follows a lookup.
const NEXT: &str = "merge";

/// One watchdog; of several, exactly one acts on a query.
pub(crate) struct Watchdog {
    store: Store,
    composer: Composer<SystemClock>,
    owner: ConsumerName,
    /// How long before its deadline a query is taken from workers that are late.
    lead: Duration,
    draining: CancellationToken,
}

impl Watchdog {
    pub(crate) fn new(startup: &Startup) -> Result<Self, StartupError> {
        Ok(Self {
            store: startup.store.clone(),
            composer: Composer::new(startup, SystemClock, Owned::all())?,
            owner: startup.consumer.clone(),
            lead: startup.settings.budgets.finish_reserve / 2,
            draining: startup.shutdown.drain.clone(),
        })
    }

    /// Watches until the process drains.
    pub(crate) async fn watch(self) {
        loop {
            let pause = match self.look().await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!("deadlines not watched: {}", Causes(&error));
                    LOOK_EVERY
                }
            };
            tokio::select! {
                () = self.draining.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Answers what is due, and tells when to look again.
    async fn look(&self) -> Result<Duration, TaskError> {
        let mut pause = LOOK_EVERY;
        for partition in self.store.partitions() {
            for (query, deadline) in self.store.open_queries(partition, SEEN_AT_ONCE).await? {
                let left = self.time_left(deadline);
                if !left.is_zero() {
                    pause = pause.min(left);
                    break;
                }
                if let Err(error) = self.rescue(query).await {
                    tracing::error!(%query, "could not answer query {query}: {}", Causes(&error));
                }
            }
        }
        Ok(pause)
    }

    fn time_left(&self, deadline: Deadline) -> Duration {
        deadline.earlier_by(self.lead).remaining(SystemClock.now())
    }

    async fn rescue(&self, query: QueryId) -> Result<(), TaskError> {
        let Some(entry) = self.store.rescue(query, &self.owner, PATIENCE, SystemClock.now()).await? else {
            return Ok(());
        };
        tracing::warn!(%query, "query {query} is late at {}: answering with what was gathered", entry.operation);
        let due = if self.is_lookup(&entry).await? { self.close_lookup(&entry).await? } else { entry };
        match self.composer.run(&due, &self.draining).await {
            Err(error) if !error.is_transient() => {
                self.composer.give_up(&due, &Causes(&error).to_string()).await
            }
            other => other,
        }
    }

    /// Whether callbacks are gathered at this step: a client may also bring the message itself.
    async fn is_lookup(&self, entry: &StepEntry) -> Result<bool, TaskError> {
        let record = self.store.query(entry.query).await?;
        let next = record.as_ref().and_then(|record| record.plan.get(entry.step + 1));
        Ok(next.is_some_and(|id| id == NEXT))
    }

    /// Closes a lookup that its worker did not close; the step that follows.
    async fn close_lookup(&self, lookup: &StepEntry) -> Result<StepEntry, TaskError> {
        let now = SystemClock.now();
        let message = "The lookup was closed by the watchdog: its worker is gone or late";
        let logs = [log_entry(now, LogLevel::Warning, message)];
        let close = Close { next_operation: NEXT, force: true, failure: None, logs: &logs };
        // whatever it finds: the next step is what the composer looks at
        if let Closing::Closed { .. } = self.store.close_lookup(lookup, &self.owner, &close, now).await? {
            let ara = lookup.operation.split('.').next().unwrap_or_default();
            meters::lookup_closed(ara, CloseReason::TakenOver, Duration::ZERO);
        }
        Ok(StepEntry { operation: NEXT.to_owned(), step: lookup.step + 1, ..lookup.clone() })
    }
}
