//! Sub-queries that a worker answers by work of its own: a search that asks Retriever many times, or a
//! question that is passed on to another service.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use budget::{Clock, Deadline};
use bytes::Bytes;
use meters::{Label, ServiceOutcome};
use retriever::{QueryError, SubmissionMetadata, SyncQuery};
use runtime::{UnusableBody, WireEncoding, body_work, decode, usable_payload};
use state::CallbackReport;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{Instrument, Span};
use trapi::{LogEntry, LogLevel, QueryGraph};

use crate::submission::Shared;

/// Why work of a worker's own gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// Nothing was heard before the time was over.
    #[error("nothing was heard in time")]
    Late,
    /// It cannot be answered.
    #[error("{0}")]
    Failed(String),
}

/// Why a question that was asked on the way has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// No time is left to ask it.
    #[error("no time was left to ask")]
    NoTime,
    /// The question cannot be written.
    #[error("the question cannot be written: {0}")]
    Unwritable(String),
    /// There was no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The answer is of no use.
    #[error(transparent)]
    Unusable(#[from] UnusableBody),
    /// The answer is in an encoding that was not asked for.
    #[error("the answer has the content encoding `{0}`, which was not asked for")]
    Encoding(String),
}

impl AskError {
    /// Whether time was what it lacked.
    pub fn is_late(&self) -> bool {
        matches!(self, Self::NoTime | Self::Query(QueryError::TimedOut(_)))
    }
}

type Answer = Pin<Box<dyn Future<Output = Result<Vec<u8>, WorkError>> + Send>>;

/// Work that answers one sub-query with the body of a TRAPI response, which then takes the way of a callback.
/// It runs while the lookup waits and ends with it; after a take-over it is begun anew.
pub struct Work(Box<dyn FnOnce(Assignment) -> Answer + Send>);

impl Work {
    /// The work that `run` does.
    pub fn new<F>(run: impl FnOnce(Assignment) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Vec<u8>, WorkError>> + Send + 'static,
    {
        Self(Box::new(move |assignment| Box::pin(run(assignment))))
    }
}

impl Work {
    /// Work that is done already.
    pub fn done(body: Vec<u8>) -> Self {
        Self::new(move |_| std::future::ready(Ok(body)))
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

/// What work needs to know of its lookup, and how it asks on the way. Cheap to clone.
#[derive(Clone)]
pub struct Assignment {
    pub(crate) shared: Arc<Shared>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) answer_by: Deadline,
}

impl Assignment {
    /// When the answer must be there; what comes later is lost.
    pub fn answer_by(&self) -> Deadline {
        self.answer_by
    }

    /// Time left for the answer.
    pub fn remaining(&self) -> Duration {
        self.answer_by.remaining(self.clock.now())
    }

    /// The clock that the lookup goes by.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// An entry for the log that goes with the answer.
    pub fn note(&self, level: LogLevel, message: impl Into<String>) -> LogEntry {
        let timestamp = runtime::rfc3339(self.clock.now());
        LogEntry { timestamp, level, code: None, message: message.into() }
    }

    /// Asks `service`, when it is this question's turn, and returns its answer, decoded. The service is told to stop
    /// one margin before `end`, as Retriever is with every sub-query, so that it can still answer with what it has.
    ///
    /// # Errors
    /// [`AskError`] when there is no usable answer by `end`.
    pub async fn ask(
        &self,
        service: &SyncQuery,
        graph: &QueryGraph,
        end: Deadline,
    ) -> Result<Bytes, AskError> {
        // the semaphore is never closed
        let _slot = self.slots.acquire().await;
        let started = Instant::now();
        let span =
            tracing::info_span!("service.query", otel.kind = "client", outcome = tracing::field::Empty);
        let answer = self.ask_now(service, graph, end).instrument(span.clone()).await;
        let outcome = counted(&answer);
        span.record("outcome", outcome.as_str());
        meters::service_asked(&self.shared.ara, outcome, started.elapsed());
        answer
    }

    async fn ask_now(
        &self,
        service: &SyncQuery,
        graph: &QueryGraph,
        end: Deadline,
    ) -> Result<Bytes, AskError> {
        let now = self.clock.now();
        let end = end.min(self.answer_by);
        let timeout_seconds = self.shared.budgets.retriever_timeout(end, now).ok_or(AskError::NoTime)?;
        let query = self.shared.body(graph, timeout_seconds, None);
        let query = query.map_err(|error| AskError::Unwritable(error.to_string()))?;
        let traceparent = runtime::traceparent(&Span::current(), &self.shared.traceparent);
        let metadata = SubmissionMetadata { traceparent };
        let answer = service.post(query.into(), &metadata, end.remaining(now)).await?;
        let Some(encoding) = WireEncoding::parse(&answer.encoding) else {
            return Err(AskError::Encoding(answer.encoding));
        };
        let (size, limit) = (answer.body.len(), service.max_answer_bytes());
        let decoded = body_work(size, encoding, move || decode(&answer.body, encoding, limit)).await;
        Ok(decoded.ok_or(AskError::NoTime)??)
    }
}

/// What is counted of an answer.
fn counted(answer: &Result<Bytes, AskError>) -> ServiceOutcome {
    match answer {
        Ok(_) => ServiceOutcome::Answered,
        Err(AskError::Query(QueryError::Refused { .. })) => ServiceOutcome::Refused,
        Err(AskError::Query(QueryError::NotReached { .. })) => ServiceOutcome::Unreached,
        Err(error) if error.is_late() => ServiceOutcome::Late,
        Err(_) => ServiceOutcome::Unusable,
    }
}

/// What became of work.
pub(crate) enum Worked {
    /// It brings an answer, or one that is of no use.
    Report(CallbackReport),
    /// Nothing was heard in time: the deadline ends the wait, as it does for a callback that never comes.
    Late,
    /// There will be no answer, for this reason.
    Failed(String),
}

impl Worked {
    /// Does `work`; an answer of more than `max_bytes` is of no use.
    pub(crate) async fn of(work: Work, assignment: Assignment, max_bytes: usize) -> Self {
        let body: Bytes = match (work.0)(assignment).await {
            Ok(body) => body.into(),
            Err(WorkError::Late) => return Self::Late,
            Err(WorkError::Failed(reason)) => return Self::Failed(reason),
        };
        let (size, encoding) = (body.len(), WireEncoding::Identity);
        match body_work(size, encoding, move || usable_payload(body, encoding, max_bytes)).await {
            Some(Ok(payload)) => Self::Report(CallbackReport::Payload(payload)),
            Some(Err(unusable)) => Self::Report(CallbackReport::Unusable(unusable.to_string())),
            None => Self::Late,
        }
    }
}
