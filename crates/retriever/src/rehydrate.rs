//! The second pass: a message whose nodes and edges came without their content is sent to be filled.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use tokio::time::Instant;
use trapi::Members;
use url::Url;

use crate::body::{self, NotWhole, Whole};
use crate::client::SubmissionMetadata;
use crate::outcome::causes;
use crate::request::{Parameter, parameters};
use crate::retry;

/// The client of one Retriever's `/rehydrate`. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rehydrator {
    http: reqwest::Client,
    url: Url,
    limit_bytes: usize,
}

/// A message in the dialect that Retriever understands, as it is posted.
#[derive(Debug)]
pub struct RehydrationRequest<'a> {
    /// The message, a JSON object.
    pub message: &'a [u8],
    /// The client's parameters; `timeout` and `rehydrate` are put in.
    pub parameters: &'a Members,
    /// Retriever's time limit in seconds.
    pub timeout_seconds: f64,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehydrated {
    /// The body as it came, not larger than the limit.
    pub body: Bytes,
    /// Its `Content-Encoding`; empty for none.
    pub encoding: String,
}

/// Why nothing came back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RehydrationError {
    /// It never reached Retriever, or Retriever was too busy for as long as there was time.
    #[error("{reason}")]
    Unreached {
        /// What was in the way.
        reason: String,
    },
    /// Retriever answered with another status than 200; redirects are not followed.
    #[error("Retriever answered {status}: {body_start}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The first 500 characters of the body.
        body_start: String,
    },
    /// The time was over before the answer was complete.
    #[error("no answer within {:.1} s", .timeout.as_secs_f64())]
    Late {
        /// How long it was waited for.
        timeout: Duration,
    },
    /// The connection broke.
    #[error("the connection broke: {reason}")]
    Broken {
        /// How.
        reason: String,
    },
    /// The answer is larger than allowed.
    #[error("the answer is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
}

impl RehydrationRequest<'_> {
    /// The JSON text.
    ///
    /// # Errors
    /// A [`serde_json::Error`] when the parameters cannot be written.
    pub fn to_json(&self) -> serde_json::Result<Bytes> {
        let mut parameters = parameters(self.parameters, self.timeout_seconds);
        parameters.insert("rehydrate", Parameter::Flag(true));
        let parameters = serde_json::to_vec(&parameters)?;
        let parts: [&[u8]; 5] = [b"{\"message\":", self.message, b",\"parameters\":", &parameters, b"}"];
        Ok(parts.concat().into())
    }
}

impl Rehydrator {
    /// A client of the Retriever whose `/rehydrate` is at `url` (`KG_REHYDRATE_URL`); answers larger than
    /// `limit_bytes` are not read to their end.
    pub fn new(http: reqwest::Client, url: Url, limit_bytes: usize) -> Self {
        Self { http, url, limit_bytes }
    }

    /// Posts a message and waits at most `timeout` for all of the answer. Inside that time a request that surely did
    /// not reach Retriever, or came when it was too busy, is sent again. Cancel-safe: nothing is kept between two calls.
    ///
    /// # Errors
    /// [`RehydrationError`] says why nothing came.
    pub async fn rehydrate(
        &self,
        body: Bytes,
        metadata: &SubmissionMetadata,
        timeout: Duration,
    ) -> Result<Rehydrated, RehydrationError> {
        let give_up = Instant::now() + timeout;
        let mut pauses = retry::pauses();
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let tried = tokio::time::timeout(left, self.post(body.clone(), metadata)).await;
            let (reason, asked) = match tried {
                Ok(Ok(rehydrated)) => return Ok(rehydrated),
                Ok(Err(Failure::Final(error))) => return Err(error),
                Ok(Err(Failure::Again { reason, after })) => (reason, after),
                Err(_) => return Err(RehydrationError::Late { timeout }),
            };
            let pause = asked.or_else(|| pauses.next()).unwrap_or(timeout);
            let left = give_up.saturating_duration_since(Instant::now());
            if left.saturating_sub(pause) < retry::least_time(timeout) {
                return Err(RehydrationError::Unreached { reason });
            }
            tracing::debug!("{reason}: asking again in {} ms", pause.as_millis());
            tokio::time::sleep(pause).await;
        }
    }

    async fn post(&self, body: Bytes, metadata: &SubmissionMetadata) -> Result<Rehydrated, Failure> {
        let request = self
            .http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT_ENCODING, "zstd, gzip")
            .body(body);
        let response = match metadata.add_to(request).send().await {
            Ok(response) => response,
            // the only error that proves that nothing arrived
            Err(error) if error.is_connect() => {
                let reason = format!("no connection to Retriever: {}", causes(error));
                return Err(Failure::Again { reason, after: None });
            }
            Err(error) => return Err(RehydrationError::Broken { reason: causes(error) }.into()),
        };
        let status = response.status();
        if retry::is_busy(status) {
            let after = retry::retry_after(response.headers(), SystemTime::now());
            return Err(Failure::Again { reason: format!("Retriever answered {}", status.as_u16()), after });
        }
        if status != StatusCode::OK {
            let body_start = body::told(&body::start(response).await);
            return Err(RehydrationError::Refused { status: status.as_u16(), body_start }.into());
        }
        match body::whole(response, self.limit_bytes).await {
            Ok(Whole { body, encoding }) => Ok(Rehydrated { body, encoding }),
            Err(NotWhole::TooLarge) => {
                Err(RehydrationError::TooLarge { limit_bytes: self.limit_bytes }.into())
            }
            Err(NotWhole::Broken { reason }) => Err(RehydrationError::Broken { reason }.into()),
        }
    }
}

/// How one try failed.
enum Failure {
    Final(RehydrationError),
    /// Nothing arrived, or the server is too busy.
    Again {
        reason: String,
        after: Option<Duration>,
    },
}

impl From<RehydrationError> for Failure {
    fn from(error: RehydrationError) -> Self {
        Self::Final(error)
    }
}
