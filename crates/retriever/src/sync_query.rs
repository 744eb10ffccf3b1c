//! Asking a TRAPI service that answers on the connection: Retriever's `/query` and `/rehydrate`, or another agent's.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use tokio::time::Instant;
use url::Url;

use crate::body::{self, NotWhole, Whole};
use crate::client::SubmissionMetadata;
use crate::outcome::causes;
use crate::retry;

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It never reached the service, or the service was too busy to take it until the time was over.
    #[error("not reached: {reason}")]
    NotReached {
        /// What was in the way.
        reason: String,
    },
    /// No answer came in time.
    #[error("no answer within {:.1} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The service refused it.
    #[error("refused with status {status}{}", behind_colon(.body_start))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The first 500 characters of the body.
        body_start: String,
    },
    /// The connection broke.
    #[error("the connection broke: {reason}")]
    Broken {
        /// How.
        reason: String,
    },
    /// The answer is too large.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

fn behind_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// An answer as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncAnswer {
    /// The body.
    pub body: Bytes,
    /// Its `Content-Encoding`; empty for none.
    pub encoding: String,
}

/// A service that answers on the connection. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SyncQuery {
    http: reqwest::Client,
    url: Url,
    max_answer_bytes: usize,
}

impl SyncQuery {
    /// The service at `url`, whose answers are at most `max_answer_bytes` on the wire.
    pub fn new(http: reqwest::Client, url: Url, max_answer_bytes: usize) -> Self {
        Self { http, url, max_answer_bytes }
    }

    /// The largest answer that is taken, in bytes.
    pub fn max_answer_bytes(&self) -> usize {
        self.max_answer_bytes
    }

    /// Posts a query and waits for its answer, at most `timeout` in all. What surely did not reach the service
    /// is sent again inside that time.
    ///
    /// # Errors
    /// [`QueryError`] when there is no answer.
    pub async fn post(
        &self,
        query: Bytes,
        metadata: &SubmissionMetadata,
        timeout: Duration,
    ) -> Result<SyncAnswer, QueryError> {
        let give_up = Instant::now() + timeout;
        let mut pauses = retry::pauses();
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let once = tokio::time::timeout(left, self.post_once(query.clone(), metadata));
            let (reason, after) = match once.await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Failed::Ended(error))) => return Err(error),
                Ok(Err(Failed::Again { reason, after })) => (reason, after),
                Err(_) => return Err(QueryError::TimedOut(timeout)),
            };
            let pause = after.or_else(|| pauses.next()).unwrap_or(timeout);
            let left = give_up.saturating_duration_since(Instant::now());
            if left.saturating_sub(pause) < retry::least_time(timeout) {
                return Err(QueryError::NotReached { reason });
            }
            tracing::debug!("{reason}: asking again in {} ms", pause.as_millis());
            tokio::time::sleep(pause).await;
        }
    }

    async fn post_once(&self, query: Bytes, metadata: &SubmissionMetadata) -> Result<SyncAnswer, Failed> {
        let request = self
            .http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT_ENCODING, "zstd, gzip")
            .body(query);
        let response = metadata.add_to(request).send().await.map_err(|error| {
            if error.is_connect() {
                return Failed::Again { reason: format!("no connection: {}", causes(error)), after: None };
            }
            Failed::Ended(QueryError::Broken { reason: causes(error) })
        })?;
        let status = response.status();
        if retry::is_busy(status) {
            let after = retry::retry_after(response.headers(), SystemTime::now());
            return Err(Failed::Again { reason: format!("answered {}", status.as_u16()), after });
        }
        if status != StatusCode::OK {
            let body_start = body::told(&body::start(response).await);
            return Err(Failed::Ended(QueryError::Refused { status: status.as_u16(), body_start }));
        }
        let limit = self.max_answer_bytes;
        match body::whole(response, limit).await {
            Ok(Whole { body, encoding }) => Ok(SyncAnswer { body, encoding }),
            Err(NotWhole::TooLarge) => Err(Failed::Ended(QueryError::TooLarge { limit })),
            Err(NotWhole::Broken { reason }) => Err(Failed::Ended(QueryError::Broken { reason })),
        }
    }
}

/// How one try failed.
enum Failed {
    Ended(QueryError),
    /// Nothing arrived, or the service is too busy.
    Again {
        reason: String,
        after: Option<Duration>,
    },
}
