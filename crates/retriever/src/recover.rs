//! Asking for an answer whose callback has not come.
//!
//! Retriever posts a callback once. What it found stays readable under the job id of its acknowledgement:
//! first the status tells whether the job is done, then the response is fetched.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::ACCEPT_ENCODING;
use serde::Deserialize;
use url::Url;

use crate::body::{self, NotWhole, Whole};
use crate::client::Retriever;
use crate::outcome::causes;

/// A status is small; whatever else comes is not read to its end.
const MAX_STATUS_BYTES: usize = 1 << 20;

/// What Retriever says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// The job is not done.
    Pending,
    /// Here is what it found.
    Response {
        /// The body as it came.
        body: Bytes,
        /// Its `Content-Encoding`; empty for none.
        encoding: String,
    },
    /// It cannot be had.
    Lost {
        /// Why.
        reason: String,
    },
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

impl Retriever {
    /// Asks for the answer of `job_id`, of at most `limit` bytes, within `timeout`.
    pub async fn recover(&self, job_id: &str, limit: usize, timeout: Duration) -> Recovered {
        match tokio::time::timeout(timeout, self.status_then_response(job_id, limit)).await {
            Ok(recovered) => recovered,
            Err(_) => Recovered::Lost { reason: "Retriever did not answer in time".to_owned() },
        }
    }

    async fn status_then_response(&self, job_id: &str, limit: usize) -> Recovered {
        let status = match self.fetch("asyncquery_status", job_id, MAX_STATUS_BYTES).await {
            Ok(status) => status,
            Err(reason) => return Recovered::Lost { reason },
        };
        let status = serde_json::from_slice::<Status>(&status.0).map(|status| status.status);
        match status.as_deref() {
            Ok("Queued" | "Running") => return Recovered::Pending,
            // a job that failed may still have a response that says why
            Ok(_) => {}
            Err(_) => return Recovered::Lost { reason: "the status of the job is unreadable".to_owned() },
        }
        match self.fetch("response", job_id, limit).await {
            Ok((body, encoding)) => Recovered::Response { body, encoding },
            Err(reason) => Recovered::Lost { reason },
        }
    }

    async fn fetch(&self, what: &str, job_id: &str, limit: usize) -> Result<(Bytes, String), String> {
        let url = self.sibling(what, job_id).ok_or("Retriever's address has no path")?;
        let request = self.http.get(url).header(ACCEPT_ENCODING, "zstd, gzip");
        let response = request.send().await.map_err(causes)?;
        if response.status() != StatusCode::OK {
            return Err(format!(
                "Retriever answered {} for the {what} of the job",
                response.status().as_u16()
            ));
        }
        match body::whole(response, limit).await {
            Ok(Whole { body, encoding }) => Ok((body, encoding)),
            Err(NotWhole::TooLarge) => Err(format!("the {what} of the job is larger than {limit} bytes")),
            Err(NotWhole::Broken { reason }) => Err(reason),
        }
    }

    /// `WHAT/JOB_ID` beside `/asyncquery`; a job id is data and stays one segment.
    fn sibling(&self, what: &str, job_id: &str) -> Option<Url> {
        let mut url = self.asyncquery.clone();
        url.set_query(None);
        url.path_segments_mut().ok()?.pop_if_empty().pop().push(what).push(job_id);
        Some(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_is_asked_for_beside_asyncquery() {
        testkit::http::install_crypto_provider();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let retriever = Retriever::new(http, "http://r.test/kg/asyncquery?x=1".parse().unwrap());
        let url = retriever.sibling("response", "a/../b c").unwrap();
        assert_eq!(url.as_str(), "http://r.test/kg/response/a%2F..%2Fb%20c");
    }
}
