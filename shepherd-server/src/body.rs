//! Request bodies: read under a limit and inside a time.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use runtime::WireEncoding;

use crate::error::ApiError;

/// A sender that is silent for longer than this has gone.
const SILENCE: Duration = Duration::from_secs(30);
/// A sender that trickles is cut off as well; Retriever itself gives up after 60 s.
const WHOLE_BODY: Duration = Duration::from_secs(120);
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
    loop {
        let frame = tokio::time::timeout(SILENCE, body.frame()).await.map_err(|_| ApiError::SlowBody)?;
        let Some(frame) = frame else { return Ok(bytes.freeze()) };
        let frame = frame.map_err(|_| ApiError::BrokenBody)?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(ApiError::TooLarge { limit });
        }
        bytes.extend_from_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
