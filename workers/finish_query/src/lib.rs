//! Delivers responses to the clients' callbacks.
//!
//! A response is posted at least once, with the same bytes each time, until the client has it, refuses
//! it, or the query's deadline ends the tries. The one terminal outcome is recorded afterwards. Every such
//! worker also watches the deadlines of all open queries.

mod attempt;
mod patience;
mod standings;
mod watchdog;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use attempt::{Attempt, Parcel};
use budget::{Clock, Deadline};
use meters::DeliveryOutcome;
use runtime::{
    CallbackPolicy, SystemClock, Task, TaskError, Worker, callback_client, insist, log_entry, run_worker,
};
use state::{Conclusion, ConsumerName, Delivery, QueryRecord, Standing, StepEntry, Store, StoredResponse};
use tokio::sync::Semaphore;
use tracing::Instrument;
use trapi::LogLevel;
use url::Url;

use crate::patience::Patience;
use crate::watchdog::Watchdog;

/// Even a response that is late is offered for this long: its client may still take it.
const LAST_CHANCE: Duration = Duration::from_secs(10);

/// Delivers responses.
struct Finish<C> {
    store: Store,
    http: reqwest::Client,
    policy: CallbackPolicy,
    clock: C,
    owner: ConsumerName,
    /// Bounds the posts under way; pauses between tries do not count.
    posts: Semaphore,
}

/// How the tries ended.
enum Ending {
    Delivered { status: u16 },
    Undelivered { why: String },
    Draining,
}

/// Runs the worker until it is told to stop.
pub fn run() -> ExitCode {
    run_worker("finish-query", |startup| {
        meters::delivery_started();
        tokio::spawn(Watchdog::new(startup)?.watch());
        tokio::spawn(standings::observe(startup.store.clone()));
        Ok(Finish {
            store: startup.store.clone(),
            http: callback_client(&startup.settings.callback_policy)?,
            policy: startup.settings.callback_policy.clone(),
            clock: SystemClock,
            owner: startup.consumer.clone(),
            posts: Semaphore::new(startup.settings.task_limit.min(Semaphore::MAX_PERMITS)),
        })
    })
}

impl<C: Clock> Worker for Finish<C> {
    fn operations(&self) -> Vec<String> {
        vec!["finish_query".to_owned()]
    }

    async fn handle(&self, task: Task) -> Result<(), TaskError> {
        let Task { entry, work, draining, .. } = task;
        // a slow client must not keep others from being served
        drop(work);
        let record = match self.store.begin(&entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun.record,
            Err(Standing::Lost) => return Ok(()),
            Err(Standing::Missing | Standing::Over | Standing::Past) => {
                let partition = entry.query.partition();
                return Ok(self.store.settle(&entry.operation, partition, &entry.id).await?);
            }
        };
        let started = Instant::now();
        let ending = tokio::select! {
            ending = self.deliver(&record) => ending?,
            () = draining.cancelled() => Ending::Draining,
        };
        meters::stage_ended(&entry.operation, started.elapsed());
        self.conclude(&entry, ending).await
    }

    async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        if self.store.begin(entry, &self.owner, self.clock.now()).await?.is_ok() {
            let why = format!("the response could not be delivered: {reason}");
            return self.conclude(entry, Ending::Undelivered { why }).await;
        }
        Ok(self.store.settle(&entry.operation, entry.query.partition(), &entry.id).await?)
    }
}

impl<C: Clock> Finish<C> {
    async fn deliver(&self, record: &QueryRecord) -> Result<Ending, TaskError> {
        let Delivery::Callback(url) = &record.delivery else {
            return Ok(Ending::Delivered { status: 200 });
        };
        let bytes = record
            .response_bytes
            .ok_or_else(|| TaskError::Defect { what: "there is no response to deliver".to_owned() })?;
        // checked at intake too; the operator may have become stricter since
        let url = match Url::parse(url) {
            Ok(url) => url,
            Err(error) => return Ok(Ending::Undelivered { why: format!("the callback is no URL: {error}") }),
        };
        if let Err(forbidden) = self.policy.check(&url) {
            return Ok(Ending::Undelivered { why: format!("the callback {forbidden}") });
        }
        let parcel = Parcel {
            url,
            response: StoredResponse { query: record.id, bytes },
            traceparent: record.traceparent.clone(),
        };
        self.try_until_deadline(&parcel, self.last_moment(record)).await
    }

    fn last_moment(&self, record: &QueryRecord) -> Deadline {
        let last_chance = Deadline::after(self.clock.now(), LAST_CHANCE);
        let unlimited = || Deadline::after(self.clock.now(), Duration::from_secs(300));
        record.budget.deadline.unwrap_or_else(unlimited).max(last_chance)
    }

    async fn try_until_deadline(&self, parcel: &Parcel, end: Deadline) -> Result<Ending, TaskError> {
        let mut patience = Patience::new();
        loop {
            let (why, after) = match self.try_once(parcel, end).await? {
                Attempt::Delivered { status } => {
                    meters::delivery_attempt(DeliveryOutcome::Delivered);
                    return Ok(Ending::Delivered { status });
                }
                Attempt::Refused { why } => {
                    meters::delivery_attempt(DeliveryOutcome::Refused);
                    return Ok(Ending::Undelivered { why });
                }
                Attempt::Again { why, after } => (why, after),
            };
            let query = parcel.response.query;
            let Some(pause) = patience.pause(after, end.remaining(self.clock.now())) else {
                meters::delivery_attempt(DeliveryOutcome::GaveUp);
                return Ok(Ending::Undelivered { why: format!("{why}, and no time is left to try again") });
            };
            meters::delivery_attempt(DeliveryOutcome::Retried);
            tracing::warn!(%query, "response of query {query} not delivered: {why}; again in {} ms", pause.as_millis());
            tokio::time::sleep(pause).await;
        }
    }

    async fn try_once(&self, parcel: &Parcel, end: Deadline) -> Result<Attempt, TaskError> {
        // the semaphore is never closed
        let _post = self.posts.acquire().await;
        let left = end.remaining(self.clock.now());
        let span =
            tracing::info_span!("response.post", otel.kind = "client", query.id = %parcel.response.query);
        Ok(parcel.post(&self.http, &self.store, left).instrument(span).await)
    }

    async fn conclude(&self, entry: &StepEntry, ending: Ending) -> Result<(), TaskError> {
        let (query, now) = (entry.query, self.clock.now());
        let (level, message, problem) = match ending {
            Ending::Draining => {
                self.store.hand_back(entry, &self.owner).await?.ok();
                return Ok(());
            }
            Ending::Delivered { status } => {
                tracing::info!(%query, status, "response of query {query} delivered, the client answered {status}");
                (LogLevel::Info, format!("Response delivered, the client answered {status}"), None)
            }
            Ending::Undelivered { why } => {
                insist(|| self.store.bury(entry, 1, &why, now)).await?;
                tracing::error!(%query, "response of query {query} not delivered: {why}");
                (LogLevel::Error, format!("Response not delivered: {why}"), Some(why))
            }
        };
        let logs = [log_entry(now, level, message)];
        let conclusion = Conclusion { problem: problem.as_deref(), logs: &logs };
        // not by another run of the step, which would post the response again; not ours any more: whoever took
        // over concludes it
        insist(|| self.store.conclude(entry, &self.owner, &conclusion, now)).await?.ok();
        Ok(())
    }
}
