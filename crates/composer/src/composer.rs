//! Reads what a response is made from, and stores what comes out.

use std::sync::Arc;
use std::time::Duration;

use budget::Clock;
use futures_util::{StreamExt, TryStreamExt, stream};
use literature::Omnicorp;
use rand::Rng;
use runtime::{Causes, Startup, StartupError, TaskError};
use state::{
    Begun, CallbackRecord, CallbackStatus, ConsumerName, Delivery, FinalResponse, Payload, QueryRecord,
    Standing, StateError, StepEntry, Store, StoredLog,
};
use tokio::sync::Semaphore;
use trapi::Dialect;

use crate::compose::{Composed, Ingredients, Uncomposable, compose};

/// Payloads read from Redis at once, per query.
const READS_AT_ONCE: usize = 4;

/// Makes responses, under the name of one worker.
pub struct Composer<C> {
    store: Store,
    clock: C,
    owner: ConsumerName,
    keep_payloads: Duration,
    keep_failed: Duration,
    biolink_version: String,
    dialect: Dialect,
    literature: Option<Arc<Omnicorp>>,
    /// Bounds the queries that are composed at once: more would only take memory from each other.
    processors: Arc<Semaphore>,
}

impl<C: Clock> Composer<C> {
    /// A composer for the process that `startup` describes.
    ///
    /// # Errors
    /// [`StartupError::Load`] when the literature is configured and cannot be opened.
    pub fn new(startup: &Startup, clock: C) -> Result<Self, StartupError> {
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
            keep_payloads: startup.settings.keep_callbacks,
            keep_failed: startup.settings.redis.ttl,
            biolink_version: startup.settings.biolink_version.clone(),
            dialect: startup.settings.trapi_version,
            literature: literature.map(Arc::new),
            processors: Arc::new(Semaphore::new(processors)),
        })
    }

    /// Merges what the lookup gathered, runs the operations of the plan, and stores the response.
    ///
    /// # Errors
    /// [`TaskError`]; a transient one may be followed by another try.
    pub async fn run(&self, entry: &StepEntry) -> Result<(), TaskError> {
        let Begun { record, body } = match self.store.begin(entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(entry, standing).await,
        };
        let records = self.store.callbacks(record.id).await?;
        // before the payloads are read, so that only so many queries' are in memory
        let processor = Arc::clone(&self.processors).acquire_owned().await;
        let callbacks = self.payloads(records).await?;
        let composed = self.compose(&record, &body, callbacks, None).await?;
        drop(processor);
        self.put(entry, &record, &composed, self.keep_payloads).await
    }

    /// Stores a response without the merge, which failed for `reason`: the client gets at least its
    /// question back. The payloads are kept for another try by hand.
    ///
    /// # Errors
    /// [`TaskError`]; the query then has no response yet.
    pub async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        let Begun { record, body } = match self.store.begin(entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(entry, standing).await,
        };
        let records = self.store.callbacks(record.id).await?;
        let callbacks = records.into_iter().map(|record| (record, None)).collect();
        let failure = format!("{} failed: {reason}", entry.operation);
        let composed = self.compose(&record, &body, callbacks, Some(failure)).await?;
        self.put(entry, &record, &composed, self.keep_failed).await
    }

    async fn not_ours(&self, entry: &StepEntry, standing: Standing) -> Result<(), TaskError> {
        match standing {
            Standing::Lost => return Ok(()),
            Standing::Over => self.store.discard_payloads(entry.query).await?,
            Standing::Missing | Standing::Past => {}
        }
        Ok(self.store.settle(&entry.operation, entry.query.partition(), &entry.id).await?)
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
        callbacks: Vec<(CallbackRecord, Option<Payload>)>,
        failure: Option<String>,
    ) -> Result<Composed, TaskError> {
        let ingredients = Ingredients {
            record: record.clone(),
            query: body.to_vec(),
            callbacks,
            logs: self.store.logs(record.id).await?,
            biolink_version: self.biolink_version.clone(),
            dialect: self.dialect,
            literature: self.literature.clone(),
            now: self.clock.now(),
            failure,
        };
        let composed = tokio::task::spawn_blocking(|| compose(ingredients)).await;
        let defect = |what: String| TaskError::Defect { what };
        match composed {
            Ok(Ok(composed)) => Ok(composed),
            Ok(Err(error)) => Err(defect(Causes::<Uncomposable>(&error).to_string())),
            Err(panic) => Err(defect(format!("the merge did not end: {panic}"))),
        }
    }

    async fn put(
        &self,
        entry: &StepEntry,
        record: &QueryRecord,
        composed: &Composed,
        keep_payloads: Duration,
    ) -> Result<(), TaskError> {
        let Composed { body, ending, results, logs } = composed;
        let logs: Vec<StoredLog> =
            logs.iter().filter_map(|entry| serde_json::to_string(entry).ok()).map(StoredLog).collect();
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
