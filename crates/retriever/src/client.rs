//! The HTTP side.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName};
use serde::Deserialize;
use tokio::time::Instant;
use url::Url;

use crate::body;
use crate::outcome::{SubmissionOutcome, causes};
use crate::retry;

/// Asks Retriever to compress the callback's body.
const CALLBACK_ACCEPT_ENCODING: HeaderName = HeaderName::from_static("callback-accept-encoding");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// What goes with a submission beside its body.
#[derive(Clone, Debug, Default)]
pub struct SubmissionMetadata {
    /// W3C trace context; empty without one.
    pub traceparent: String,
}

impl SubmissionMetadata {
    pub(crate) fn add_to(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        if self.traceparent.is_empty() { request } else { request.header(TRACEPARENT, &self.traceparent) }
    }
}

/// The client of one Retriever. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Retriever {
    pub(crate) http: reqwest::Client,
    pub(crate) asyncquery: Url,
}

impl Retriever {
    /// A client of the Retriever whose `/asyncquery` is at `asyncquery` (`KG_RETRIEVAL_URL`).
    pub fn new(http: reqwest::Client, asyncquery: Url) -> Self {
        Self { http, asyncquery }
    }

    /// Submits one sub-query and waits at most `ack_timeout` for the acknowledgement. A submission that
    /// surely did not reach Retriever is sent again inside that time; one that may have is not.
    pub async fn submit(
        &self,
        body: Bytes,
        metadata: &SubmissionMetadata,
        ack_timeout: Duration,
    ) -> SubmissionOutcome {
        let give_up = Instant::now() + ack_timeout;
        let mut pauses = retry::pauses();
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let (reason, asked) = match self.submit_once(body.clone(), metadata, left).await {
                Attempt::Ended(outcome) => return outcome,
                Attempt::Again { reason, after } => (reason, after),
            };
            let pause = asked.or_else(|| pauses.next()).unwrap_or(ack_timeout);
            let left = give_up.saturating_duration_since(Instant::now());
            if left.saturating_sub(pause) < retry::least_time(ack_timeout) {
                return SubmissionOutcome::NeverReached { reason };
            }
            tracing::debug!("Retriever not reached ({reason}), trying again in {} ms", pause.as_millis());
            tokio::time::sleep(pause).await;
        }
    }

    async fn submit_once(&self, body: Bytes, metadata: &SubmissionMetadata, left: Duration) -> Attempt {
        let request = self
            .http
            .post(self.asyncquery.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(CALLBACK_ACCEPT_ENCODING, "zstd")
            .timeout(left)
            .body(body);
        match metadata.add_to(request).send().await {
            // the only error that proves that nothing arrived
            Err(error) if error.is_connect() => Attempt::Again {
                reason: format!("no connection to Retriever: {}", causes(error)),
                after: None,
            },
            Err(error) if error.is_timeout() => Attempt::Ended(SubmissionOutcome::InFlight {
                reason: format!("no ACK within {:.1} s", left.as_secs_f64()),
            }),
            Err(error) => Attempt::Ended(SubmissionOutcome::InFlight {
                reason: format!("the connection broke while waiting for the ACK: {}", causes(error)),
            }),
            Ok(response) => acknowledgement(response).await,
        }
    }
}

/// How one try ended.
enum Attempt {
    Ended(SubmissionOutcome),
    /// Nothing arrived, or the server is too busy.
    Again {
        reason: String,
        after: Option<Duration>,
    },
}

#[derive(Deserialize)]
struct Acknowledgement {
    #[serde(default)]
    job_id: Option<String>,
}

/// The status decides; a broken body only costs the job id.
async fn acknowledgement(response: reqwest::Response) -> Attempt {
    let status = response.status();
    if retry::is_busy(status) {
        let after = retry::retry_after(response.headers(), SystemTime::now());
        return Attempt::Again { reason: format!("Retriever answered {}", status.as_u16()), after };
    }
    let body = body::start(response).await;
    Attempt::Ended(if matches!(status, StatusCode::OK | StatusCode::ACCEPTED) {
        let job_id = serde_json::from_slice::<Acknowledgement>(&body).ok().and_then(|ack| ack.job_id);
        SubmissionOutcome::Accepted { job_id }
    } else {
        SubmissionOutcome::Rejected { status: status.as_u16(), body_start: body::told(&body) }
    })
}
