//! Posting queries to a Shepherd.

use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use std::time::Duration;

use super::ArsDouble;
use crate::queries;

/// An acknowledgement must not take longer.
const ACK_LIMIT: Duration = Duration::from_secs(30);

/// A query could not be posted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// There was no answer.
    #[error("could not post to {url}")]
    Send {
        /// Where the query was posted.
        url: String,
        /// The client's error.
        #[source]
        source: reqwest::Error,
    },
    /// The answer was no acceptance.
    #[error("{url} answered {status}: {body}")]
    Refused {
        /// Where the query was posted.
        url: String,
        /// The answer's status.
        status: u16,
        /// The answer's body.
        body: String,
    },
}

/// An accepted query.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The key its answer will be delivered under.
    pub key: String,
    /// The id the Shepherd gave it.
    pub job_id: Option<String>,
    /// The whole acknowledgement.
    pub body: Value,
}

/// An HTTP answer, read to its end.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// The parser's error.
    pub fn json(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.body)
    }
}

impl ArsDouble {
    /// Posts `query` to `{base}/{ara}/asyncquery` with a fresh callback URL.
    ///
    /// # Errors
    /// [`SubmitError`] unless it is accepted with 200.
    pub async fn submit_async(&self, base: &str, ara: &str, query: Value) -> Result<Accepted, SubmitError> {
        let key = format!("{:016x}", rand::random::<u64>());
        let query = queries::with_callback(query, &self.callback_url(&key));
        let url = format!("{base}/{ara}/asyncquery");
        let answer = self.post(&url, &query, ACK_LIMIT).await?;
        let text = || String::from_utf8_lossy(&answer.body).into_owned();
        if answer.status != 200 {
            return Err(SubmitError::Refused { url, status: answer.status, body: text() });
        }
        let body = answer.json().unwrap_or_else(|_| Value::String(text()));
        let job_id = body.get("job_id").and_then(Value::as_str).map(str::to_owned);
        Ok(Accepted { key, job_id, body })
    }

    /// Posts `query` to `{base}/{ara}/query` and waits for the answer, of whatever status, for at most `limit`.
    ///
    /// # Errors
    /// [`SubmitError::Send`] when there is none.
    pub async fn query_sync(
        &self,
        base: &str,
        ara: &str,
        query: &Value,
        limit: Duration,
    ) -> Result<Answer, SubmitError> {
        self.post(&format!("{base}/{ara}/query"), query, limit).await
    }

    /// Posts any JSON to any URL, for requests that are meant to be refused too.
    ///
    /// # Errors
    /// [`SubmitError::Send`] when there is no answer within `limit`.
    pub async fn post(&self, url: &str, body: &Value, limit: Duration) -> Result<Answer, SubmitError> {
        let send_error = |source| SubmitError::Send { url: url.to_owned(), source };
        let request = self.http.post(url).timeout(limit).header(CONTENT_TYPE, "application/json");
        let response = request.body(body.to_string()).send().await.map_err(send_error)?;
        let status = response.status().as_u16();
        Ok(Answer { status, body: response.bytes().await.map_err(send_error)? })
    }

    /// Gets any URL.
    ///
    /// # Errors
    /// [`SubmitError::Send`] when there is no answer within `limit`.
    pub async fn get(&self, url: &str, limit: Duration) -> Result<Answer, SubmitError> {
        let send_error = |source| SubmitError::Send { url: url.to_owned(), source };
        let response = self.http.get(url).timeout(limit).send().await.map_err(send_error)?;
        let status = response.status().as_u16();
        Ok(Answer { status, body: response.bytes().await.map_err(send_error)? })
    }
}
