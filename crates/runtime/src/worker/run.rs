//! Reading, renewing, claiming, stopping.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use budget::Clock;
use state::{Delivered, StateError, StepEntry, Store, TaskQueue};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::lease::{Lease, Leases};
use super::permits::{Permits, WorkPermit};
use super::{Task, Worker};
use crate::clock::SystemClock;
use crate::process::Startup;
use crate::shutdown::Shutdown;
use crate::telemetry::{join_trace, trace_id};
use crate::text::Causes;

/// How many entries one read takes at most.
const READ_AT_ONCE: usize = 32;
/// Between two tries while Redis is away, before jitter, which may double it: what waits when Redis comes back
/// must not wait for long.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long one read blocks; the end of it is a sign of life.
const BLOCK: Duration = Duration::from_secs(5);
/// The longest pause between two looks for leases that have run out, however long a lease is: what a killed
/// process held waits for no longer than its lease and this.
const CLAIM_EVERY: Duration = Duration::from_secs(1);
/// A consumer that holds nothing and is silent for so many leases has gone.
const SILENT_LEASES: u32 = 4;

/// Handles entries of all the worker's operations until the process stops.
pub(crate) async fn run<W: Worker>(worker: W, startup: &Startup) {
    let shared = Arc::new(Shared {
        worker,
        store: startup.store.clone(),
        permits: Permits::new(startup.settings.task_limit, startup.settings.max_waiting),
        lease: startup.settings.lease,
        max_deliveries: startup.settings.max_task_deliveries,
        shutdown: startup.shutdown.clone(),
        tasks: TaskTracker::new(),
    });
    let mut loops = JoinSet::new();
    for operation in shared.worker.operations() {
        meters::worker_started(&operation);
        for partition in startup.store.partitions() {
            let new_queue = || TaskQueue::new(&startup.store, &operation, partition, &startup.consumer);
            let leases = Leases::default();
            loops.spawn(Arc::clone(&shared).take_entries(new_queue(), leases.clone()));
            loops.spawn(Arc::clone(&shared).keep_leases(new_queue(), leases));
        }
    }
    while loops.join_next().await.is_some() {}
}

/// What all loops and tasks of a worker process share.
struct Shared<W> {
    worker: W,
    store: Store,
    permits: Permits,
    lease: Duration,
    max_deliveries: u32,
    shutdown: Shutdown,
    tasks: TaskTracker,
}

impl<W: Worker> Shared<W> {
    /// Takes entries while there is room for them: new ones, and at intervals those that others have let
    /// go.
    async fn take_entries(self: Arc<Self>, mut queue: TaskQueue, leases: Leases) {
        let mut pauses = Pauses::new();
        let claim_every = claim_every(self.lease);
        let mut next_claim = Instant::now() + claim_every;
        while let Some(room) = self.until_drained(self.permits.room(READ_AT_ONCE)).await {
            let claim_due = Instant::now() >= next_claim;
            let taken = if claim_due {
                self.until_drained(self.claim(&queue, room)).await
            } else {
                self.until_drained(queue.read(room, BLOCK.min(claim_every))).await.map(|read| read.map(Some))
            };
            match taken {
                None => break,
                Some(Ok(None)) => next_claim = Instant::now() + self.renewal_time(),
                Some(Ok(Some(delivered))) => {
                    // as many as there was room for: there may be more
                    if claim_due && delivered.len() < room {
                        next_claim = Instant::now() + claim_every;
                    }
                    pauses.reset();
                    self.start_all(delivered, &leases);
                }
                Some(Err(error)) => {
                    next_claim = Instant::now() + self.renewal_time();
                    let pause = pauses.next();
                    warn_of(&error, pause);
                    self.until_drained(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    /// Renews what this process holds until the last task has ended; then leaves the group. Removes those who have gone
    /// without leaving.
    async fn keep_leases(self: Arc<Self>, mut queue: TaskQueue, leases: Leases) {
        let mut ticks = tokio::time::interval(self.lease / 3);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut rounds = tokio::time::interval(self.lease * SILENT_LEASES);
        rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    if let Err(error) = queue.appear(SystemClock.now(), self.lease).await {
                        tracing::debug!("not seen as alive: {}", Causes(&error));
                    }
                    if let Err(error) = self.renew(&queue, &leases).await {
                        tracing::warn!("leases not renewed: {}", Causes(&error));
                    }
                }
                _ = rounds.tick() => self.dismiss(&queue).await,
                () = self.all_ended() => break,
                () = self.shutdown.abort.cancelled() => break,
            }
        }
        match queue.leave().await {
            Ok(0) => {}
            Ok(left) => tracing::info!("queued {left} entries again that nobody had begun"),
            Err(error) => tracing::warn!("the consumer stays behind: {}", Causes(&error)),
        }
    }

    /// Dead consumers harm nobody, they only add up: the next round comes.
    async fn dismiss(&self, queue: &TaskQueue) {
        match queue.dismiss(self.lease * SILENT_LEASES).await {
            Ok(0) => {}
            Ok(gone) => tracing::info!("removed {gone} consumers that were silent and held nothing"),
            Err(error) => tracing::debug!("silent consumers not looked for: {}", Causes(&error)),
        }
    }

    async fn all_ended(&self) {
        self.shutdown.drain.cancelled().await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn renew(&self, queue: &TaskQueue, leases: &Leases) -> Result<(), StateError> {
        let held = leases.entries();
        if held.is_empty() {
            return Ok(());
        }
        for entry in queue.renew(&held).await? {
            tracing::warn!("the lease on entry {entry} was lost to another worker");
            leases.lose(&entry);
        }
        Ok(())
    }

    /// How long those who live are given to renew their leases after Redis was away: they renew three times a lease.
    fn renewal_time(&self) -> Duration {
        self.lease / 2
    }

    /// Takes over what others have let go; `None` where Redis was silent for so long that nobody could renew anything.
    async fn claim(&self, queue: &TaskQueue, count: usize) -> Result<Option<Vec<Delivered>>, StateError> {
        let asked = Instant::now();
        if !queue.has_lost(self.lease).await? {
            return Ok(Some(Vec::new()));
        }
        if asked.elapsed() >= self.renewal_time() {
            return Ok(None);
        }
        let claimed = queue.claim(self.lease, count).await?;
        for Delivered { entry, deliveries } in &claimed {
            let query = entry.query;
            meters::lease_taken_over(&entry.operation);
            tracing::info!(%query, "took over {} of query {query}, delivery {deliveries}", entry.operation);
        }
        Ok(Some(claimed))
    }

    fn start_all(self: &Arc<Self>, delivered: Vec<Delivered>, leases: &Leases) {
        for delivered in delivered {
            let Some(lease) = leases.hold(&delivered.entry.id) else { continue };
            let shared = Arc::clone(self);
            self.tasks.spawn(async move { shared.handle(delivered, lease).await });
        }
    }

    /// Handles one entry until it is settled, lost or left to be claimed.
    async fn handle(&self, delivered: Delivered, lease: Lease) {
        let entry = &delivered.entry;
        let span = tracing::info_span!(
            "task.run",
            otel.name = format!("process {}", entry.operation),
            otel.kind = "consumer",
            messaging.system = "redis",
            messaging.operation.type = "process",
            messaging.destination.name = entry.operation,
            messaging.message.id = %entry.id,
            query.id = %entry.query,
            task.attempt = delivered.deliveries,
            trace_id = trace_id(&entry.traceparent),
        );
        join_trace(&span, &entry.traceparent);
        let handled = async {
            let Some((_waiting, work)) = self.permits.take().await else { return };
            self.try_until_settled(delivered, work).await;
        };
        let handled = handled.instrument(span);
        tokio::select! {
            () = handled => {}
            () = lease.lost.cancelled() => {}
            () = self.shutdown.abort.cancelled() => {}
        }
    }

    async fn try_until_settled(&self, delivered: Delivered, work: WorkPermit) {
        let Delivered { entry, deliveries } = delivered;
        if self.max_deliveries > 0 && deliveries > self.max_deliveries {
            let reason =
                format!("{} was handed out {} times without finishing", entry.operation, deliveries - 1);
            return self.give_up(&entry, deliveries, &reason).await;
        }
        let mut pauses = Pauses::new();
        let mut work = work;
        loop {
            let draining = self.shutdown.drain.clone();
            let task = Task { entry: entry.clone(), deliveries, work, draining };
            match self.worker.handle(task).await {
                Ok(()) => return,
                Err(error) if error.is_transient() => {
                    let pause = pauses.next();
                    warn_of(&error, pause);
                    tokio::time::sleep(pause).await;
                    // given back when the try failed
                    let Some(again) = self.permits.work_again().await else { return };
                    work = again;
                }
                Err(error) => return self.give_up(&entry, deliveries, &Causes(&error).to_string()).await,
            }
        }
    }

    async fn give_up(&self, entry: &StepEntry, deliveries: u32, reason: &str) {
        let query = entry.query;
        meters::dead_letter(&entry.operation);
        tracing::error!(%query, "gave up {} of query {query}: {reason}", entry.operation);
        if let Err(error) = self.store.bury(entry, deliveries, reason, SystemClock.now()).await {
            tracing::error!(%query, "and could not note it: {}", Causes(&error));
        }
        if let Err(error) = self.worker.give_up(entry, reason).await {
            tracing::error!(%query, "and could not end query {query}: {}", Causes(&error));
        }
    }

    async fn until_drained<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.shutdown.drain.cancelled() => None,
            done = work => Some(done),
        }
    }
}

/// The pause between two looks for leases that have run out.
fn claim_every(lease: Duration) -> Duration {
    CLAIM_EVERY.min(lease / 3)
}

fn warn_of(error: &(impl std::error::Error + 'static), pause: Duration) {
    tracing::warn!("{}; trying again in {} ms", Causes(error), pause.as_millis());
}

/// Growing pauses with jitter, reset by a success.
struct Pauses(backon::ExponentialBackoff);

impl Pauses {
    fn new() -> Self {
        Self(
            ExponentialBuilder::new()
                .with_min_delay(Duration::from_millis(100))
                .with_max_delay(LONGEST_PAUSE)
                .with_jitter()
                .without_max_times()
                .build(),
        )
    }

    fn next(&mut self) -> Duration {
        self.0.next().unwrap_or(LONGEST_PAUSE)
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_lease_is_seen_at_most_a_second_later_however_long_leases_are() {
        for seconds in [1, 2, 15, 600] {
            let lease = Duration::from_secs(seconds);
            let pause = claim_every(lease);
            assert!(pause <= Duration::from_secs(1) && pause <= lease / 3, "{pause:?} of {lease:?}");
        }
    }
}
