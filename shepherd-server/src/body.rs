//! Request bodies: read under a limit and inside a time.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use runtime::WireEncoding;
use tokio::time::Instant;

use crate::error::ApiError;

/// A sender that is silent for longer than this has gone.
const SILENCE: Duration = Duration::from_secs(30);
/// A sender that trickles is cut off as well; Retriever itself gives up after 60 s.
const WHOLE_BODY: Duration = Duration::from_secs(120);
/// Time that the size of a body does not count for.
const GRACE: Duration = Duration::from_secs(10);
/// Past that, a body must come at this rate: a place is too dear for one that trickles.
const SLOWEST_BYTES_PER_SEC: u32 = 16 * 1024;
/// What is announced but never sent must not be reserved.
const MOST_RESERVED_BYTES: usize = 1 << 20;

/// Says how the body is encoded.
pub(crate) fn wire_encoding(headers: &HeaderMap) -> Result<WireEncoding, ApiError> {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Ok(WireEncoding::Identity) };
    value.to_str().ok().and_then(WireEncoding::parse).ok_or(ApiError::UnknownEncoding)
}

/// Queries are JSON; a client that says nothing means it.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let value = value.to_str().map_err(|_| ApiError::WrongContentType)?;
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let json =
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    if json { Ok(()) } else { Err(ApiError::WrongContentType) }
}

/// Reads a body of at most `limit` bytes.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, ApiError> {
    tokio::time::timeout(WHOLE_BODY, read_frames(headers, body, limit))
        .await
        .map_err(|_| ApiError::SlowBody)?
}

async fn read_frames(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|announced| announced > limit) {
        return Err(ApiError::TooLarge { limit });
    }
    let mut bytes = BytesMut::with_capacity(announced.unwrap_or_default().min(MOST_RESERVED_BYTES));
    let began = Instant::now();
    loop {
        let patience = SILENCE.min(time_for(bytes.len()).saturating_sub(began.elapsed()));
        let frame = tokio::time::timeout(patience, body.frame()).await.map_err(|_| ApiError::SlowBody)?;
        let Some(frame) = frame else { return Ok(bytes.freeze()) };
        let frame = frame.map_err(|_| ApiError::BrokenBody)?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(ApiError::TooLarge { limit });
        }
        bytes.extend_from_slice(&data);
    }
}

/// How long it may take until more than `received` bytes have come.
fn time_for(received: usize) -> Duration {
    let bytes = u32::try_from(received).unwrap_or(u32::MAX);
    GRACE + Duration::from_secs(1) * bytes / SLOWEST_BYTES_PER_SEC
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body of so many chunks, each of this size and this much later than the one before.
    async fn paced(chunks: usize, bytes: usize, pause: Duration) -> Result<Bytes, ApiError> {
        let stream = futures_util::stream::unfold(0, move |sent| async move {
            if sent == chunks {
                return None;
            }
            tokio::time::sleep(pause).await;
            Some((Ok::<_, std::io::Error>(Bytes::from(vec![b' '; bytes])), sent + 1))
        });
        read(&HeaderMap::new(), Body::from_stream(stream), 1 << 30).await
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_trickles_is_cut_off_and_one_that_is_only_slow_is_not() {
        const SECOND: Duration = Duration::from_secs(1);
        let started = Instant::now();
        assert!(matches!(paced(10_000, 1, SECOND).await, Err(ApiError::SlowBody)));
        assert!(started.elapsed() < 12 * SECOND);
        assert!(matches!(paced(2, 1, 20 * SECOND).await, Err(ApiError::SlowBody)), "silence");
        assert_eq!(paced(60, 20_000, SECOND).await.unwrap().len(), 1_200_000);
        assert!(matches!(paced(130, 1 << 20, SECOND).await, Err(ApiError::SlowBody)), "all in all");
    }

    #[test]
    fn json_is_taken_under_its_names_and_nothing_else_is() {
        let typed = |value: &'static str| {
            check_content_type(&HeaderMap::from_iter([(
                CONTENT_TYPE,
                axum::http::HeaderValue::from_static(value),
            )]))
        };
        assert!(check_content_type(&HeaderMap::new()).is_ok());
        assert!(typed("Application/JSON; charset=utf-8").is_ok());
        assert!(typed("application/trapi+json").is_ok());
        assert!(typed("text/plain").is_err());
    }
}
