//! Reading what Retriever answers, never more of it than is wanted.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::header::CONTENT_ENCODING;

use crate::outcome::{BODY_START_CHARS, causes};

/// A short body is small; whatever else comes is not read to its end.
const MAX_START_BYTES: usize = 64 * 1024;

/// A whole body.
pub(crate) struct Whole {
    pub(crate) body: Bytes,
    /// Its `Content-Encoding`; empty for none.
    pub(crate) encoding: String,
}

/// Why there is none.
pub(crate) enum NotWhole {
    TooLarge,
    Broken { reason: String },
}

/// All of a body of at most so many bytes.
pub(crate) async fn whole(response: reqwest::Response, limit_bytes: usize) -> Result<Whole, NotWhole> {
    let encoding = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let encoding = encoding.unwrap_or_default().to_owned();
    let mut body = BytesMut::new();
    let mut stream = response.bytes_stream();
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.map_err(|error| NotWhole::Broken { reason: causes(error) })?;
        if body.len() + bytes.len() > limit_bytes {
            return Err(NotWhole::TooLarge);
        }
        body.extend_from_slice(&bytes);
    }
    Ok(Whole { body: body.freeze(), encoding })
}

/// The first bytes of a body, as far as they come.
pub(crate) async fn start(response: reqwest::Response) -> Vec<u8> {
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

/// As much of a refusal's body as is told.
pub(crate) fn told(start: &[u8]) -> String {
    String::from_utf8_lossy(start).chars().take(BODY_START_CHARS).collect()
}
