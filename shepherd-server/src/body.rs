//! Request bodies: read under a limit, decoded under the same limit.

use std::io::Read;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::error::ApiError;

/// A sender that is silent for longer than this has gone.
const SILENCE: Duration = Duration::from_secs(30);
/// What is announced but never sent must not be reserved.
const MOST_RESERVED_BYTES: usize = 1 << 20;
/// Decoding more than this is left to a thread that may block.
pub(crate) const SHORT_WORK_BYTES: usize = 64 * 1024;

/// How a body is encoded on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireEncoding {
    Identity,
    Gzip,
    Zstd,
}

/// Says how the body is encoded.
pub(crate) fn wire_encoding(headers: &HeaderMap) -> Result<WireEncoding, ApiError> {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Ok(WireEncoding::Identity) };
    let value = value.to_str().map_err(|_| ApiError::UnknownEncoding)?;
    match value.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(WireEncoding::Identity),
        "gzip" | "x-gzip" => Ok(WireEncoding::Gzip),
        "zstd" | "zst" => Ok(WireEncoding::Zstd),
        _ => Err(ApiError::UnknownEncoding),
    }
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
pub(crate) async fn read(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
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

/// Decodes a body into at most `limit` bytes.
pub(crate) fn decode(wire: &Bytes, encoding: WireEncoding, limit: usize) -> Result<Bytes, ApiError> {
    // 128 MB windows are what senders use at most; the decoder refuses larger ones
    match encoding {
        WireEncoding::Identity => Ok(wire.clone()),
        WireEncoding::Gzip => bounded(flate2::bufread::MultiGzDecoder::new(&wire[..]), "gzip", limit),
        WireEncoding::Zstd => {
            let decoder = zstd::Decoder::with_buffer(&wire[..])
                .map_err(|_| ApiError::BadEncoding { encoding: "zstd" })?;
            bounded(decoder, "zstd", limit)
        }
    }
}

fn bounded(decoder: impl Read, encoding: &'static str, limit: usize) -> Result<Bytes, ApiError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(most).read_to_end(&mut bytes).map_err(|_| ApiError::BadEncoding { encoding })?;
    if bytes.len() > limit { Err(ApiError::TooLarge { limit }) } else { Ok(bytes.into()) }
}

/// Runs CPU work on `bytes` where it disturbs nobody: in place when it is short.
pub(crate) async fn work<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    if bytes <= SHORT_WORK_BYTES {
        return Ok(work());
    }
    // only a panic or the end of the process gets here
    tokio::task::spawn_blocking(work).await.map_err(|_| ApiError::BrokenBody)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bomb_is_refused_at_the_limit() {
        let bomb: Bytes = zstd::encode_all(std::io::repeat(b' ').take(1 << 24), 1).unwrap().into();
        let refused = decode(&bomb, WireEncoding::Zstd, 1 << 20);
        assert!(matches!(refused, Err(ApiError::TooLarge { limit: 1_048_576 })), "{refused:?}");
    }

    #[test]
    fn several_frames_are_one_body_and_garbage_is_none() {
        let mut frames = zstd::encode_all(&b"{\"a\":"[..], 1).unwrap();
        frames.extend(zstd::encode_all(&b"1}"[..], 1).unwrap());
        assert_eq!(&decode(&frames.into(), WireEncoding::Zstd, 100).unwrap()[..], b"{\"a\":1}");
        for encoding in [WireEncoding::Zstd, WireEncoding::Gzip] {
            assert!(matches!(
                decode(&b"garbage".as_slice().into(), encoding, 100),
                Err(ApiError::BadEncoding { .. })
            ));
        }
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
