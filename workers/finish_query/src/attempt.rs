//! One post of a response, and what the client's answer means.

use std::time::Duration;

use futures_util::StreamExt;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use state::{Store, StoredResponse};
use url::Url;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A client that answers may say this much; the rest is not read.
const MAX_ANSWER_BYTES: usize = 4096;
/// How much of a refusal is logged.
const ANSWER_START_CHARS: usize = 500;
/// The least time one post gets beside what its size needs.
const POST_TIMEOUT: Duration = Duration::from_secs(60);
/// A client that takes less than this per second is too slow.
const SLOWEST_BYTES_PER_SEC: u64 = 1 << 20;

/// A response on its way.
pub(crate) struct Parcel {
    pub(crate) url: Url,
    pub(crate) response: StoredResponse,
    /// Trace context of the query.
    pub(crate) traceparent: String,
}

/// How one post ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The client has the response, from this post or an earlier one.
    Delivered { status: u16 },
    /// The client does not want it, now or ever.
    Refused { why: String },
    /// It may want it later.
    Again { why: String, after: Option<Duration> },
}

impl Parcel {
    /// Posts the response from the store, chunk by chunk and uncompressed: the ARS reads no
    /// `Content-Encoding`. The length goes ahead, as not every server takes a chunked request.
    pub(crate) async fn post(&self, http: &reqwest::Client, store: &Store, left: Duration) -> Attempt {
        let patience = POST_TIMEOUT + Duration::from_secs(self.response.bytes / SLOWEST_BYTES_PER_SEC);
        let chunks = store.read_response(&self.response);
        let mut request = http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_LENGTH, self.response.bytes)
            .header(IDEMPOTENCY_KEY, self.response.query.to_string())
            .timeout(patience.min(left))
            .body(reqwest::Body::wrap_stream(chunks));
        let traceparent = runtime::traceparent(&tracing::Span::current(), &self.traceparent);
        if !traceparent.is_empty() {
            request = request.header(TRACEPARENT, traceparent);
        }
        match request.send().await {
            Ok(response) => judge(response).await,
            Err(error) if error.is_builder() => {
                Attempt::Refused { why: "the callback URL cannot be called".to_owned() }
            }
            Err(error) => {
                let what = if error.is_timeout() { "no answer in time" } else { "the connection failed" };
                let why = format!("{what} ({})", runtime::Causes(&error.without_url()));
                Attempt::Again { why, after: None }
            }
        }
    }
}

async fn judge(response: reqwest::Response) -> Attempt {
    let status = response.status();
    let after =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    match verdict(status) {
        Verdict::Delivered => Attempt::Delivered { status: status.as_u16() },
        Verdict::Again => Attempt::Again {
            why: format!("the client answered {}", status.as_u16()),
            after: after.map(Duration::from_secs),
        },
        Verdict::Refused => {
            let start = answer_start(response).await;
            Attempt::Refused {
                why: format!("the client refused it with status {}: {start}", status.as_u16()),
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Delivered,
    Again,
    Refused,
}

/// 409 means that the client has the response already. A redirect is not followed: the body must not
/// wander.
fn verdict(status: StatusCode) -> Verdict {
    match status {
        StatusCode::CONFLICT => Verdict::Delivered,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => Verdict::Again,
        _ if status.is_success() => Verdict::Delivered,
        _ if status.is_server_error() => Verdict::Again,
        _ => Verdict::Refused,
    }
}

async fn answer_start(response: reqwest::Response) -> String {
    let mut start = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(Ok(bytes)) = body.next().await {
        let room = MAX_ANSWER_BYTES - start.len();
        start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if start.len() == MAX_ANSWER_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&start).chars().take(ANSWER_START_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_mean_what_the_ars_means_by_them() {
        let verdicts = |codes: &[u16]| {
            codes.iter().map(|&code| verdict(StatusCode::from_u16(code).unwrap())).collect::<Vec<_>>()
        };
        assert!(verdicts(&[200, 201, 202, 204, 409]).iter().all(|verdict| *verdict == Verdict::Delivered));
        assert!(
            verdicts(&[408, 425, 429, 500, 502, 503, 598]).iter().all(|verdict| *verdict == Verdict::Again)
        );
        assert!(
            verdicts(&[301, 307, 400, 401, 404, 413, 422]).iter().all(|verdict| *verdict == Verdict::Refused)
        );
    }
}
