//! One submission: when it may go out, what goes with it, what is written about its end.

use std::sync::Arc;
use std::time::Duration;

use budget::{Budgets, ClientBudget, Clock, Deadline};
use retriever::{SubQueryRequest, SubmissionMetadata, SubmissionOutcome};
use state::{CallbackRecord, SubmissionRecord};
use tokio::sync::Semaphore;
use tracing::Span;
use trapi::{Dialect, LogLevel, Members, QueryGraph};

use crate::ports::Submit;

/// What all submissions of one lookup have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) budgets: Budgets,
    pub(crate) client: ClientBudget,
    pub(crate) deadline: Deadline,
    pub(crate) dialect: Dialect,
    pub(crate) parameters: Members,
    pub(crate) default_tier: u32,
    pub(crate) submitter: String,
    pub(crate) ara: String,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) bypass_cache: Option<Box<serde_json::value::RawValue>>,
    /// Where callbacks go; the callback id follows.
    pub(crate) callback_base: String,
    /// Trace context of the query.
    pub(crate) traceparent: String,
}

impl Shared {
    /// Submits one sub-query once `slots` has room. The time it has is taken when it goes out.
    pub(crate) async fn submit(
        self: Arc<Self>,
        retriever: Arc<impl Submit>,
        slots: Arc<Semaphore>,
        clock: Arc<impl Clock>,
        callback: CallbackRecord,
    ) -> SubmissionOutcome {
        // the semaphore is never closed
        let _slot = slots.acquire().await;
        let now = clock.now();
        let Some(timeout_seconds) = self.budgets.retriever_timeout(self.deadline, now) else {
            return SubmissionOutcome::NeverReached { reason: "no time was left to submit it".to_owned() };
        };
        let body = match self.submission(&callback, timeout_seconds) {
            Ok(body) => body.into(),
            Err(reason) => return SubmissionOutcome::NeverReached { reason },
        };
        drop(callback);
        let ack_timeout = self.budgets.ack_timeout(self.client, self.deadline, now);
        let span = Span::current();
        let metadata = SubmissionMetadata { traceparent: runtime::traceparent(&span, &self.traceparent) };
        let outcome = retriever.submit(body, &metadata, ack_timeout).await;
        span.record("outcome", outcome.name());
        outcome
    }

    fn submission(&self, callback: &CallbackRecord, timeout_seconds: f64) -> Result<Vec<u8>, String> {
        let graph = QueryGraph::parse(&callback.query_graph).map_err(|invalid| invalid.to_string())?;
        let url = format!("{}{}", self.callback_base, callback.id);
        self.body(&graph, timeout_seconds, Some(&url)).map_err(|error| error.to_string())
    }

    /// A question as it is posted: to be answered at `callback`, or on the connection.
    pub(crate) fn body(
        &self,
        graph: &QueryGraph,
        timeout_seconds: f64,
        callback: Option<&str>,
    ) -> serde_json::Result<Vec<u8>> {
        let request = SubQueryRequest {
            dialect: self.dialect,
            query_graph: graph,
            parameters: &self.parameters,
            timeout_seconds,
            default_tier: self.default_tier,
            submitter: &self.submitter,
            log_level: self.log_level,
            bypass_cache: self.bypass_cache.as_deref(),
            callback,
        };
        request.to_json()
    }
}

/// What is counted of an outcome.
pub(crate) fn counted(outcome: &SubmissionOutcome) -> meters::SubmissionOutcome {
    match outcome {
        SubmissionOutcome::Accepted { .. } => meters::SubmissionOutcome::Accepted,
        SubmissionOutcome::InFlight { .. } => meters::SubmissionOutcome::InFlight,
        SubmissionOutcome::Rejected { .. } => meters::SubmissionOutcome::Rejected,
        SubmissionOutcome::NeverReached { .. } => meters::SubmissionOutcome::Unreached,
    }
}

/// What is stored of an outcome.
pub(crate) fn record(outcome: &SubmissionOutcome) -> SubmissionRecord {
    match outcome {
        SubmissionOutcome::Accepted { job_id } => SubmissionRecord::Accepted { job_id: job_id.clone() },
        SubmissionOutcome::InFlight { .. } => SubmissionRecord::InFlight,
        SubmissionOutcome::Rejected { status, .. } => {
            SubmissionRecord::Removed { reason: format!("Retriever refused it with status {status}") }
        }
        SubmissionOutcome::NeverReached { reason } => SubmissionRecord::Removed { reason: reason.clone() },
    }
}

/// What the query's log says of an outcome.
pub(crate) fn told(label: &str, outcome: &SubmissionOutcome, took: Duration) -> (LogLevel, String) {
    match outcome {
        SubmissionOutcome::Accepted { job_id } => {
            let job =
                job_id.as_deref().map_or_else(|| "without a job id".to_owned(), |id| format!("as job {id}"));
            (LogLevel::Debug, format!("Sub-query {label}: accepted {job} after {} ms", took.as_millis()))
        }
        SubmissionOutcome::Rejected { status, body_start } => (
            LogLevel::Error,
            format!("Sub-query {label}: Retriever refused it with status {status}: {body_start}"),
        ),
        SubmissionOutcome::NeverReached { reason } => {
            (LogLevel::Error, format!("Sub-query {label}: {reason}"))
        }
        SubmissionOutcome::InFlight { reason } => {
            (LogLevel::Warning, format!("Sub-query {label}: {reason}; its callback is still awaited"))
        }
    }
}
