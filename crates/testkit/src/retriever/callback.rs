//! Sending a callback the way Retriever does: one POST, on a connection of its own, whose status is final.

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime};

use super::plan::Encoding;
use super::record::{CallbackOutcome, CallbackRecord, Submission};

/// Longest time for one callback.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);
/// Pauses before connecting again; once a connection was made, there is no further try.
const RECONNECTS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(1)];
/// How much of an answer's body is kept.
const BODY_START: usize = 500;

/// A body as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct WireBody {
    pub(super) bytes: Bytes,
    pub(super) encoding: Option<&'static str>,
    pub(super) breaks_off: bool,
}

/// Whether an `Accept-Encoding`-like value allows zstd.
pub(super) fn allows_zstd(value: &str) -> bool {
    value.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("zstd"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        named && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
    })
}

/// Encodes `body` for a submission.
pub(super) fn encode(body: Bytes, encoding: Encoding, submission: &Submission) -> io::Result<WireBody> {
    let allowed = submission.header("callback-accept-encoding").is_some_and(allows_zstd);
    let (bytes, encoding) = match encoding {
        Encoding::Negotiated if !allowed => (body, None),
        Encoding::Negotiated | Encoding::Zstd => (zstd::encode_all(&body[..], 3)?.into(), Some("zstd")),
        Encoding::Identity => (body, None),
        Encoding::MislabelledZstd => (body, Some("zstd")),
        Encoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&body)?;
            (encoder.finish()?.into(), Some("gzip"))
        }
    };
    Ok(WireBody { bytes, encoding, breaks_off: false })
}

/// Posts `body` once and tells how that went.
pub(super) async fn post(
    client: &reqwest::Client,
    submission: &Submission,
    body: &WireBody,
) -> CallbackRecord {
    let url = submission.callback().unwrap_or_default().to_owned();
    let started = Instant::now();
    let mut connects = 1;
    let outcome = loop {
        let failure = match attempt(client, &url, body).await {
            Ok(answered) => break answered,
            Err(failure) => failure,
        };
        let Some(pause) = RECONNECTS.get(connects - 1).filter(|_| failure.is_connect()) else {
            break CallbackOutcome::Failed { connect: failure.is_connect(), error: chain(&failure) };
        };
        connects += 1;
        tokio::time::sleep(*pause).await;
    };
    CallbackRecord {
        order: submission.order,
        job_id: submission.job_id.clone(),
        url,
        started,
        took: started.elapsed(),
        ended_at: SystemTime::now(),
        connects,
        wire_bytes: body.bytes.len(),
        encoding: body.encoding,
        outcome,
    }
}

async fn attempt(client: &reqwest::Client, url: &str, body: &WireBody) -> reqwest::Result<CallbackOutcome> {
    let mut request = client.post(url).header(CONTENT_TYPE, "application/json");
    if let Some(encoding) = body.encoding {
        request = request.header(CONTENT_ENCODING, encoding);
    }
    let request =
        if body.breaks_off { request.body(broken(&body.bytes)) } else { request.body(body.bytes.clone()) };
    let response = request.send().await?;
    let status = response.status().as_u16();
    // The status is the answer; a body that breaks off changes nothing.
    let text = response.text().await.unwrap_or_default();
    Ok(CallbackOutcome::Answered { status, body: text.chars().take(BODY_START).collect() })
}

/// A body that fails after its first half.
fn broken(bytes: &Bytes) -> reqwest::Body {
    let half = bytes.slice(..bytes.len() / 2);
    let failure = io::Error::new(io::ErrorKind::ConnectionReset, "the double breaks off");
    reqwest::Body::wrap_stream(stream::iter([Ok(half), Err(failure)]))
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zstd_is_used_only_where_it_is_allowed() {
        for allowed in ["zstd", "gzip, zstd", "ZSTD;q=0.5"] {
            assert!(allows_zstd(allowed), "{allowed}");
        }
        for refused in ["", "gzip", "zstd;q=0"] {
            assert!(!allows_zstd(refused), "{refused}");
        }
    }
}
