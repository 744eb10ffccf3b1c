//! Reads what a response is made from, and has it made.

use std::sync::Arc;
use std::time::Duration;

use answers::operations::REHYDRATE;
use budget::Clock;
use futures_util::{StreamExt, TryStreamExt, stream};
use runtime::{Causes, Startup, StartupError, TaskError};
use state::{
    Begun, CallbackRecord, CallbackStatus, ConsumerName, Payload, QueryRecord, StateError, StepEntry, Store,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use trapi::Dialect;

use crate::compose::{Uncomposable, compose};
use crate::ingredients::{GivenUp, Ingredients, Outcome, Source};
use crate::resources::Resources;
use crate::second_pass::SecondPass;
use crate::workflow::{self, Owned, Stretch};

/// Payloads read from Redis at once, per query.
const READS_AT_ONCE: usize = 4;

/// Makes responses, under the name of one worker.
pub struct Composer<C> {
    pub(crate) store: Store,
    pub(crate) clock: C,
    pub(crate) owner: ConsumerName,
    owned: Owned,
    pub(crate) keep_payloads: Duration,
    keep_failed: Duration,
    biolink_version: String,
    dialect: Dialect,
    max_answer_bytes: usize,
    resources: Arc<Resources>,
    second_pass: SecondPass,
    /// Bounds the queries that are composed at once: more would only take memory from each other.
    processors: Arc<Semaphore>,
}

impl<C: Clock> Composer<C> {
    /// A composer for the process that `startup` describes, which runs the operations `owned`.
    ///
    /// # Errors
    /// [`StartupError::Load`] when files that are configured cannot be used.
    pub fn new(startup: &Startup, clock: C, owned: Owned) -> Result<Self, StartupError> {
        let resources = Resources::open(&startup.settings)?;
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
            max_answer_bytes: startup.settings.callback_max_request_bytes,
            resources: Arc::new(resources),
            second_pass: SecondPass::new(startup),
            processors: Arc::new(Semaphore::new(processors)),
        })
    }

    /// Runs the operation of `entry` and those that follow it in this process; then stores the response, or
    /// the message for the process that goes on. A step that waits for Retriever when `draining` is cancelled is
    /// handed back.
    ///
    /// # Errors
    /// [`TaskError`]; a transient one may be followed by another try.
    pub async fn run(&self, entry: &StepEntry, draining: &CancellationToken) -> Result<(), TaskError> {
        let Begun { record, body } = match self.store.begin(entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(entry, standing).await,
        };
        // before the payloads are read, so that only so many queries' are in memory
        let mut processor = Arc::clone(&self.processors).acquire_owned().await;
        let mut source = self.source(&record, entry.step).await?;
        let mut stretch = self.owned.stretch(&record.plan, entry.step);
        loop {
            let next_step = stretch.end();
            let outcome = self.compose(&record, &body, source, stretch.clone(), None, processor.ok()).await?;
            let (message, step, so_far) = match outcome {
                Outcome::Dehydrated { message, step, so_far } => (message, step, so_far),
                Outcome::Response(composed) => {
                    return self.put(entry, &record, &composed, self.keep_payloads).await;
                }
                Outcome::Intermediate(unfinished) => {
                    return self.hand_on(entry, &record, &unfinished, next_step).await;
                }
            };
            let answer = tokio::select! {
                answer = self.second_pass.ask(&record, &message, &self.clock) => answer,
                () = draining.cancelled() => return self.hand_back(entry).await,
            };
            source = Source::SecondPass { message: message.message, answer, so_far };
            stretch = stretch.after(step);
            processor = Arc::clone(&self.processors).acquire_owned().await;
        }
    }

    /// Stores a response without the operation, which failed for `reason`: the client gets at least its
    /// question back, with what earlier operations made of the answers, and is told. The payloads stay for a
    /// later try. A second pass costs only itself: what follows it is run.
    ///
    /// # Errors
    /// [`TaskError`]; the query then has no response yet.
    pub async fn give_up(&self, entry: &StepEntry, reason: &str) -> Result<(), TaskError> {
        let Begun { record, body } = match self.store.begin(entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(entry, standing).await,
        };
        let failure = format!("{} failed: {reason}", entry.operation);
        let given_up = if entry.operation == REHYDRATE {
            GivenUp::SecondPass(reason.to_owned())
        } else {
            GivenUp::Operation(failure.clone())
        };
        let stretch = self.owned.stretch(&record.plan, entry.step);
        let salvaged = match self.salvage(&record, &body, entry.step, stretch.clone(), given_up).await {
            // the message itself may be at fault
            Err(error) if !error.is_transient() => None,
            salvaged => salvaged?,
        };
        let outcome = match salvaged {
            Some(outcome) => outcome,
            None => {
                let records = self.store.callbacks(record.id).await?;
                let source = Source::Callbacks(records.into_iter().map(|record| (record, None)).collect());
                let given_up = GivenUp::Operation(failure);
                self.compose(&record, &body, source, stretch.clone(), Some(given_up), None).await?
            }
        };
        match outcome {
            Outcome::Response(composed) => self.put(entry, &record, &composed, self.keep_failed).await,
            Outcome::Intermediate(unfinished) => {
                self.hand_on(entry, &record, &unfinished, stretch.end()).await
            }
            Outcome::Dehydrated { .. } => {
                Err(TaskError::Defect { what: "what was given up was tried again".to_owned() })
            }
        }
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
        stretch: Stretch,
        given_up: GivenUp,
    ) -> Result<Option<Outcome>, TaskError> {
        if workflow::is_merge(&record.plan, step) {
            return Ok(None);
        }
        let source = self.source(record, step).await?;
        self.compose(record, body, source, stretch, Some(given_up), None).await.map(Some)
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
        given_up: Option<GivenUp>,
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
            resources: Arc::clone(&self.resources),
            now: self.clock.now(),
            given_up,
            retriever_dialect: self.second_pass.dialect,
            max_answer_bytes: self.max_answer_bytes,
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
}
