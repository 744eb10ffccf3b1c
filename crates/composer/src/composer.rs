//! Reads what a response is made from, and stores what comes out.

use std::sync::Arc;
use std::time::Duration;

use budget::Clock;
use futures_util::{StreamExt, TryStreamExt, stream};
use literature::Omnicorp;
use rand::Rng;
use runtime::{Causes, Startup, StartupError, TaskError};
use state::{
    Begun, CallbackRecord, CallbackStatus, ConsumerName, Delivery, FinalResponse, Intermediate, Payload,
    QueryRecord, Standing, StateError, StepEntry, Store, StoredLog,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trapi::{Dialect, LogEntry};

use crate::compose::{Composed, Ingredients, Outcome, Source, Uncomposable, Unfinished, compose};
use crate::workflow::{self, Owned, Stretch};

/// Payloads read from Redis at once, per query.
const READS_AT_ONCE: usize = 4;

/// Makes responses, under the name of one worker.
pub struct Composer<C> {
    store: Store,
    clock: C,
    owner: ConsumerName,
    owned: Owned,
    keep_payloads: Duration,
    keep_failed: Duration,
    biolink_version: String,
    dialect: Dialect,
    literature: Option<Arc<Omnicorp>>,
    /// Bounds the queries that are composed at once: more would only take memory from each other.
    processors: Arc<Semaphore>,
}

impl<C: Clock> Composer<C> {
    /// A composer for the process that `startup` describes, which runs the operations `owned`.
    ///
    /// # Errors
    /// [`StartupError::Load`] when the literature is configured and cannot be opened.
    pub fn new(startup: &Startup, clock: C, owned: Owned) -> Result<Self, StartupError> {
        let files = startup.settings.omnicorp.as_ref();
        let literature = files.map(|files| Omnicorp::open(&files.curies, &files.shared_counts)).transpose();
        let literature = literature.map_err(|error| StartupError::Load {
            what: "OMNICORP_CURIES_LMDB_PATH, OMNICORP_SHARED_COUNTS_LMDB_PATH".to_owned(),
            source: error.into(),
        })?;
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Self {
            store: startup.store.clone(),
            clock,
            owner: startup.consumer.clone(),
            owned,
            keep_payloads: startup.settings.keep_callbacks,
            keep_failed: startup.settings.redis.ttl,
            biolink_version: startup.settings.biolink_version.clone(),
            dialect: startup.settings.trapi_version,
            literature: literature.map(Arc::new),
            processors: Arc::new(Semaphore::new(processors)),
        })
    }

    /// Runs the operation of `entry` and those that follow it in this process; then stores the response, or
    /// the message for the process that goes on.
    ///
    /// # Errors
    /// [`TaskError`]; a transient one may be followed by another try.
    pub async fn run(&self, entry: &StepEntry) -> Result<(), TaskError> {
        let Begun { record, body } = match self.store.begin(entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(entry, standing).await,
        };
        // before the payloads are read, so that only so many queries' are in memory
        let processor = Arc::clone(&self.processors).acquire_owned().await;
        let source = self.source(&record, entry.step).await?;
        let stretch = self.owned.stretch(&record.plan, entry.step);
        let next_step = stretch.end();
        let outcome = self.compose(&record, &body, source, stretch, None, processor.ok()).await?;
        match outcome {
            Outcome::Response(composed) => self.put(entry, &record, &composed, self.keep_payloads).await,
            Outcome::Intermediate(unfinished) => self.hand_on(entry, &record, &unfinished, next_step).await,
        }
    }

    /// Stores a response without the operation, which failed for `reason`: the client gets at least its
    /// question back, with what earlier operations made of the answers, and is told. The payloads stay for a
    /// later try.
    ///
    /// # Errors
    /// [`TaskError`]; the query then has no response yet.
    pub async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        let Begun { record, body } = match self.store.begin(entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(entry, standing).await,
        };
        let failure = format!("{} failed: {reason}", entry.operation);
        let salvaged = match self.salvage(&record, &body, entry.step, &failure).await {
            // the message itself may be at fault
            Err(error) if !error.is_transient() => None,
            salvaged => salvaged?,
        };
        let outcome = match salvaged {
            Some(outcome) => outcome,
            None => {
                let records = self.store.callbacks(record.id).await?;
                let source = Source::Callbacks(records.into_iter().map(|record| (record, None)).collect());
                let stretch = self.owned.stretch(&record.plan, entry.step);
                self.compose(&record, &body, source, stretch, Some(failure), None).await?
            }
        };
        match outcome {
            Outcome::Response(composed) => self.put(entry, &record, &composed, self.keep_failed).await,
            Outcome::Intermediate(_) => {
                Err(TaskError::Defect { what: "a failed operation was handed on".to_owned() })
            }
        }
    }

    async fn not_ours(&self, entry: &StepEntry, standing: Standing) -> Result<(), TaskError> {
        match standing {
            Standing::Lost => return Ok(()),
            Standing::Over => self.store.discard_payloads(entry.query).await?,
            Standing::Missing | Standing::Past => {}
        }
        Ok(self.store.settle(&entry.operation, entry.query.partition(), &entry.id).await?)
    }

    /// The message that the operation at `step` begins with.
    async fn source(&self, record: &QueryRecord, step: usize) -> Result<Source, TaskError> {
        if workflow::is_merge(&record.plan, step) {
            let records = self.store.callbacks(record.id).await?;
            return Ok(Source::Callbacks(self.payloads(records).await?));
        }
        if step == 0 {
            return Ok(Source::Client);
        }
        let message = self.store.intermediate(record).await?;
        match (message, record.message_note.clone()) {
            (Some(message), Some(note)) => Ok(Source::Intermediate { message, note }),
            _ => Err(TaskError::Defect { what: format!("there is no message for step {step}") }),
        }
    }

    /// What earlier operations made of the answers, where there were any.
    async fn salvage(
        &self,
        record: &QueryRecord,
        body: &[u8],
        step: usize,
        failure: &str,
    ) -> Result<Option<Outcome>, TaskError> {
        if workflow::is_merge(&record.plan, step) {
            return Ok(None);
        }
        let source = self.source(record, step).await?;
        let stretch = self.owned.stretch(&record.plan, step);
        self.compose(record, body, source, stretch, Some(failure.to_owned()), None).await.map(Some)
    }

    async fn payloads(
        &self,
        records: Vec<CallbackRecord>,
    ) -> Result<Vec<(CallbackRecord, Option<Payload>)>, StateError> {
        stream::iter(records)
            .map(|record| async move {
                let payload = match record.status {
                    CallbackStatus::Returned => self.store.payload(&record).await?,
                    _ => None,
                };
                Ok((record, payload))
            })
            .buffered(READS_AT_ONCE)
            .try_collect()
            .await
    }

    async fn compose(
        &self,
        record: &QueryRecord,
        body: &[u8],
        source: Source,
        stretch: Stretch,
        failure: Option<String>,
        processor: Option<OwnedSemaphorePermit>,
    ) -> Result<Outcome, TaskError> {
        let mut ingredients = Ingredients {
            record: record.clone(),
            query: body.to_vec(),
            source,
            stretch,
            logs: self.store.logs(record.id).await?,
            biolink_version: self.biolink_version.clone(),
            dialect: self.dialect,
            literature: self.literature.clone(),
            now: self.clock.now(),
            failure,
        };
        let span = tracing::Span::current();
        let composed = tokio::task::spawn_blocking(move || {
            let composed = span.in_scope(|| compose(&mut ingredients));
            // goes with the work, which does not end with the task that was waiting for it
            drop(processor);
            composed
        });
        let composed = composed.await;
        let defect = |what: String| TaskError::Defect { what };
        match composed {
            Ok(Ok(composed)) => Ok(composed),
            Ok(Err(error)) => Err(defect(Causes::<Uncomposable>(&error).to_string())),
            Err(panic) => Err(defect(format!("the merge did not end: {panic}"))),
        }
    }

    async fn hand_on(
        &self,
        entry: &StepEntry,
        record: &QueryRecord,
        unfinished: &Unfinished,
        next_step: usize,
    ) -> Result<(), TaskError> {
        let Some(next_operation) = record.plan.get(next_step) else {
            return Err(TaskError::Defect { what: format!("the plan ends before step {next_step}") });
        };
        let intermediate = Intermediate {
            message: &unfinished.message,
            note: &unfinished.note,
            next_step,
            next_operation,
            keep_payloads_ms: u64::try_from(self.keep_payloads.as_millis()).unwrap_or(u64::MAX),
            logs: &texts(&unfinished.logs),
            token: rand::rng().random(),
        };
        let query = record.id;
        match self.store.hand_on(entry, &self.owner, &intermediate).await? {
            Ok(()) => {
                let bytes = unfinished.message.decoded_bytes;
                tracing::info!(
                    %query, bytes, "handed the message of query {query} on to {next_operation}: {bytes} bytes"
                );
            }
            Err(Standing::Over) => self.store.discard_payloads(query).await?,
            // the script has settled the entry, or its new owner will
            Err(Standing::Lost | Standing::Missing | Standing::Past) => {}
        }
        Ok(())
    }

    async fn put(
        &self,
        entry: &StepEntry,
        record: &QueryRecord,
        composed: &Composed,
        keep_payloads: Duration,
    ) -> Result<(), TaskError> {
        let Composed { body, ending, results, logs } = composed;
        let logs = texts(logs);
        let delivery_step = match record.delivery {
            Delivery::Callback(_) => Some(record.plan.len().saturating_sub(1)),
            Delivery::Connection => None,
        };
        let response = FinalResponse {
            body,
            outcome: ending.job,
            status: ending.status,
            description: &ending.description,
            http_status: ending.http_status,
            delivery_step,
            keep_payloads_ms: u64::try_from(keep_payloads.as_millis()).unwrap_or(u64::MAX),
            logs: &logs,
            token: rand::rng().random(),
        };
        let query = record.id;
        match self.store.store_response(entry, &self.owner, &response, self.clock.now()).await? {
            Ok(()) => {
                let bytes = body.len();
                tracing::info!(
                    %query, results, bytes, status = ending.status,
                    "composed the response to query {query}: {}, {results} results, {bytes} bytes", ending.status
                );
            }
            Err(Standing::Over) => self.store.discard_payloads(query).await?,
            // the script has settled the entry, or its new owner will
            Err(Standing::Lost | Standing::Missing | Standing::Past) => {}
        }
        Ok(())
    }
}

/// Entries as they are stored.
fn texts(logs: &[LogEntry]) -> Vec<StoredLog> {
    logs.iter().filter_map(|entry| serde_json::to_string(entry).ok()).map(StoredLog).collect()
}
