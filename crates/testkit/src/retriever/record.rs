//! What the double saw and did, for a test to look at.

use axum::http::HeaderMap;
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// One request to `/asyncquery` (or `/query`, or `/rehydrate`) as it came in.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Position in the order of arrival at this endpoint, from 0.
    pub order: usize,
    /// Which try this is for the same callback URL, from 1.
    pub attempt: usize,
    /// When its body was complete.
    pub arrived: Instant,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body as sent, after decompression.
    pub body: Bytes,
    /// Its body, parsed.
    pub query: Arc<Value>,
    /// The job the double made of it.
    pub job_id: String,
}

impl Submission {
    /// The URL the answer goes to.
    pub fn callback(&self) -> Option<&str> {
        self.query.get("callback").and_then(Value::as_str)
    }

    /// An id that stands for this sub-query, the same at every try: see
    /// [`Behaviour::traced`](super::Behaviour::traced).
    pub fn trace(&self) -> Option<String> {
        self.callback().and_then(trace)
    }

    /// The question.
    pub fn query_graph(&self) -> &Value {
        &self.query["message"]["query_graph"]
    }

    /// `parameters.timeout` in seconds, where it is a number.
    pub fn timeout(&self) -> Option<f64> {
        self.query.pointer("/parameters/timeout").and_then(Value::as_f64)
    }

    /// The trace context that came with it.
    pub fn traceparent(&self) -> Option<&str> {
        self.header("traceparent")
    }

    /// A header's value, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the query graph holds this text anywhere: an id, a predicate, a category.
    pub fn mentions(&self, text: &str) -> bool {
        self.query_graph().to_string().contains(text)
    }
}

/// How a callback went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackOutcome {
    /// It was answered.
    Answered {
        /// Status of the answer.
        status: u16,
        /// The first 500 characters of the answer's body.
        body: String,
    },
    /// It was not.
    Failed {
        /// Whether no connection could be made at all.
        connect: bool,
        /// The errors from the outermost to the first cause.
        error: String,
    },
}

/// One callback that was sent, or could not be sent.
#[derive(Clone, Debug)]
pub struct CallbackRecord {
    /// [`Submission::order`] of the submission it belongs to.
    pub order: usize,
    /// The job it belongs to.
    pub job_id: String,
    /// Where it went.
    pub url: String,
    /// When the first attempt to send it began.
    pub started: Instant,
    /// From then until the outcome was known.
    pub took: Duration,
    /// When the outcome was known, by the clock on the wall.
    pub ended_at: SystemTime,
    /// How many connections were tried.
    pub connects: usize,
    /// Size of its body on the wire.
    pub wire_bytes: usize,
    /// Its `Content-Encoding`.
    pub encoding: Option<&'static str>,
    /// How it went.
    pub outcome: CallbackOutcome,
}

impl CallbackRecord {
    /// [`Submission::trace`] of the sub-query that it is for.
    pub fn trace(&self) -> Option<String> {
        trace(&self.url)
    }

    /// Status of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self.outcome {
            CallbackOutcome::Answered { status, .. } => Some(status),
            CallbackOutcome::Failed { .. } => None,
        }
    }
}

/// The last part of a callback URL is the sub-query's own.
fn trace(callback: &str) -> Option<String> {
    let (_, id) = callback.rsplit_once('/')?;
    Some(format!("TRACE:{id}"))
}
