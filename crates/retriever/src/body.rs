//! Reading bodies under a limit.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::outcome::{BODY_START_CHARS, causes};

/// Whatever a short answer is followed by is not read to its end.
const MAX_START_BYTES: usize = 64 * 1024;

/// Why a body was not read to its end.
pub(crate) enum BodyError {
    TooLarge { limit: usize },
    Broken { reason: String },
}

/// The whole body, of at most `limit` bytes.
pub(crate) async fn whole(response: reqwest::Response, limit: usize) -> Result<Bytes, BodyError> {
    let mut body = BytesMut::new();
    let mut stream = response.bytes_stream();
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.map_err(|error| BodyError::Broken { reason: causes(error) })?;
        if body.len() + bytes.len() > limit {
            return Err(BodyError::TooLarge { limit });
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body.freeze())
}

/// The first bytes of a body that should be short.
pub(crate) async fn start_bytes(response: reqwest::Response) -> Vec<u8> {
    let mut start = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(Ok(bytes)) = stream.next().await {
        let room = MAX_START_BYTES - start.len();
        start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if start.len() == MAX_START_BYTES {
            break;
        }
    }
    start
}

/// The first characters of a body, for people.
pub(crate) async fn start(response: reqwest::Response) -> String {
    shown_start(&start_bytes(response).await)
}

/// The first characters of bytes that should be text.
pub(crate) fn shown_start(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(BODY_START_CHARS).collect()
}
