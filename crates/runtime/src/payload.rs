//! What a body from Retriever must be to be kept: decoded under a limit, JSON, with a message in it.

use std::io::Read;
use std::sync::LazyLock;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use state::{Encoding, Payload};
use tokio::sync::Semaphore;
use trapi::Flaw;

/// Larger bodies are stored compressed.
const COMPRESSED_FROM_BYTES: usize = 1024;
/// Checking more than this is left to a thread that may block.
const SHORT_WORK_BYTES: usize = 64 * 1024;

/// How a body is encoded on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireEncoding {
    /// As it is.
    Identity,
    /// One or more gzip members.
    Gzip,
    /// One or more zstd frames.
    Zstd,
}

impl WireEncoding {
    /// Reads a `Content-Encoding`; `None` for one that is not known.
    pub fn parse(value: &str) -> Option<Self> {
        match value.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "zstd" | "zst" => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Why a body is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableBody {
    /// It is larger than allowed, on the wire or decoded.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Its compression is damaged, or not what it says.
    #[error("the body is not valid {encoding}")]
    Encoding {
        /// What it should be.
        encoding: &'static str,
    },
    /// It is not UTF-8.
    #[error("the body is not UTF-8")]
    NotUtf8,
    /// It is nested too deeply, or has a member twice.
    #[error("the body {0}")]
    Flawed(Flaw),
    /// A text in it has half of a character.
    #[error("the body holds text that is not Unicode")]
    NotUnicode,
    /// It is no JSON object.
    #[error("the body is no JSON object (line {line}, column {column})")]
    NotAnObject {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// It has no message.
    #[error("message: is missing")]
    NoMessage,
    /// Its message is something else.
    #[error("message: must be an object")]
    MessageNotAnObject,
}

/// Decodes a body into at most `limit` bytes.
///
/// # Errors
/// [`UnusableBody`] when it is too large or damaged.
pub fn decode(wire: &Bytes, encoding: WireEncoding, limit: usize) -> Result<Bytes, UnusableBody> {
    match encoding {
        WireEncoding::Identity if wire.len() > limit => Err(UnusableBody::TooLarge { limit }),
        WireEncoding::Identity => Ok(wire.clone()),
        WireEncoding::Gzip => bounded(flate2::bufread::MultiGzDecoder::new(&wire[..]), "gzip", limit),
        // windows above 128 MB are refused by the decoder
        WireEncoding::Zstd => match zstd::Decoder::with_buffer(&wire[..]) {
            Ok(decoder) => bounded(decoder, "zstd", limit),
            Err(_) => Err(UnusableBody::Encoding { encoding: "zstd" }),
        },
    }
}

fn bounded(decoder: impl Read, encoding: &'static str, limit: usize) -> Result<Bytes, UnusableBody> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(most).read_to_end(&mut bytes).map_err(|_| UnusableBody::Encoding { encoding })?;
    if bytes.len() > limit { Err(UnusableBody::TooLarge { limit }) } else { Ok(bytes.into()) }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

/// Checks a callback's body and brings it into the form in which it is stored. What is not needed to tell
/// that it is of use is looked at by the merge. A zstd body is stored as it came.
///
/// # Errors
/// [`UnusableBody`] says why it is of no use.
pub fn usable_payload(wire: Bytes, encoding: WireEncoding, limit: usize) -> Result<Payload, UnusableBody> {
    let decoded = decode(&wire, encoding, limit)?;
    usable_text(&decoded)?;
    let decoded_bytes = decoded.len() as u64;
    Ok(match encoding {
        WireEncoding::Zstd => Payload { encoding: Encoding::Zstd, stored: wire, decoded_bytes },
        WireEncoding::Identity | WireEncoding::Gzip => compressed(decoded, decoded_bytes),
    })
}

/// The text of a decoded body with a message in it.
///
/// # Errors
/// [`UnusableBody`] says why it is of no use.
pub fn usable_text(decoded: &[u8]) -> Result<&str, UnusableBody> {
    let text = std::str::from_utf8(decoded).map_err(|_| UnusableBody::NotUtf8)?;
    trapi::scan(text, trapi::MAX_DEPTH).map_err(UnusableBody::Flawed)?;
    if !trapi::is_unicode(text) {
        return Err(UnusableBody::NotUnicode);
    }
    // serde would take a list for the members of a struct in their order
    if !text.trim_start().starts_with('{') {
        return Err(UnusableBody::NotAnObject { line: 1, column: 1 });
    }
    let envelope: Envelope<'_> = serde_json::from_str(text)
        .map_err(|error| UnusableBody::NotAnObject { line: error.line(), column: error.column() })?;
    match envelope.message.map(trapi::kind) {
        Some(trapi::Kind::Object) => {}
        Some(_) => return Err(UnusableBody::MessageNotAnObject),
        None => return Err(UnusableBody::NoMessage),
    }
    Ok(text)
}

fn compressed(decoded: Bytes, decoded_bytes: u64) -> Payload {
    if decoded.len() >= COMPRESSED_FROM_BYTES
        && let Ok(stored) = zstd::bulk::compress(&decoded, 1)
    {
        return Payload { encoding: Encoding::Zstd, stored: stored.into(), decoded_bytes };
    }
    Payload { encoding: Encoding::Identity, stored: decoded, decoded_bytes }
}

/// Bodies in work at once: more would not be faster, and each takes its decoded size in memory.
static PROCESSORS: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Semaphore::new(processors + 1)
});

/// Runs CPU work on a body where it disturbs nobody: in place when it is short, else on a thread that may
/// block, in its turn. `None` when the process is ending or the work panicked.
pub async fn body_work<T: Send + 'static>(
    wire_bytes: usize,
    encoding: WireEncoding,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    // a compressed body may be much longer than it looks
    let size = if encoding == WireEncoding::Identity { wire_bytes } else { wire_bytes.saturating_mul(8) };
    if size <= SHORT_WORK_BYTES {
        return Some(work());
    }
    // the semaphore is never closed
    let processor = PROCESSORS.acquire().await.ok()?;
    // work that has begun ends, also when its client has gone: so its place goes with it
    let work = move || {
        let done = work();
        drop(processor);
        done
    };
    tokio::task::spawn_blocking(work).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &'static str) -> Result<Payload, UnusableBody> {
        usable_payload(Bytes::from_static(body.as_bytes()), WireEncoding::Identity, 1 << 20)
    }

    #[test]
    fn bomb_is_refused_at_the_limit() {
        let bomb: Bytes = zstd::encode_all(std::io::repeat(b' ').take(1 << 24), 1).unwrap().into();
        assert_eq!(
            decode(&bomb, WireEncoding::Zstd, 1 << 20),
            Err(UnusableBody::TooLarge { limit: 1 << 20 })
        );
    }

    #[tokio::test]
    async fn work_whose_client_has_gone_keeps_its_place_until_it_ends() {
        let all = PROCESSORS.available_permits();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let work = move || {
            begin.send(()).unwrap();
            ended.recv().unwrap_err();
        };
        let asked = tokio::spawn(body_work(1 << 20, WireEncoding::Identity, work));
        begun.await.unwrap();
        asked.abort();
        asked.await.unwrap_err();
        assert_eq!(PROCESSORS.available_permits(), all - 1);
        drop(end);
        let _all = PROCESSORS.acquire_many(u32::try_from(all).unwrap()).await.unwrap();
    }

    #[test]
    fn several_frames_are_one_body_and_garbage_is_none() {
        let mut frames = zstd::encode_all(&b"{\"a\":"[..], 1).unwrap();
        frames.extend(zstd::encode_all(&b"1}"[..], 1).unwrap());
        assert_eq!(&decode(&frames.into(), WireEncoding::Zstd, 100).unwrap()[..], b"{\"a\":1}");
        for encoding in [WireEncoding::Zstd, WireEncoding::Gzip] {
            let refused = decode(&Bytes::from_static(b"garbage"), encoding, 100);
            assert!(matches!(refused, Err(UnusableBody::Encoding { .. })), "{refused:?}");
        }
    }

    #[test]
    fn body_with_a_message_is_kept_and_anything_else_is_not() {
        assert!(check(r#"{"message":{},"logs":null}"#).is_ok());
        assert_eq!(check("{}").unwrap_err(), UnusableBody::NoMessage);
        assert_eq!(check(r#"{"message":null}"#).unwrap_err(), UnusableBody::NoMessage);
        assert_eq!(check(r#"{"message":[]}"#).unwrap_err(), UnusableBody::MessageNotAnObject);
        for broken in ["", "[]", "oops", r#"{"message":{}"#, r#"{"message":{}} {}"#] {
            assert!(matches!(check(broken), Err(UnusableBody::NotAnObject { .. })), "{broken}");
        }
        let deep: &'static str =
            Box::leak(format!("{{\"message\":{{\"a\":{}", "[".repeat(10_000)).into_boxed_str());
        assert!(matches!(check(deep), Err(UnusableBody::Flawed(Flaw::TooDeep { .. }))));
        assert_eq!(check(r#"{"message":{"a":"\ud800"}}"#).unwrap_err(), UnusableBody::NotUnicode);
        let twice = check(r#"{"message":{"a":{"b":1,"b":2}}}"#);
        assert!(matches!(&twice, Err(UnusableBody::Flawed(Flaw::RepeatedMember { name })) if name == "b"));
    }

    #[test]
    fn zstd_body_is_stored_as_it_came_and_a_plain_one_compressed() {
        let body = format!("{{\"message\":{{\"x\":\"{}\"}}}}", "y".repeat(5000));
        let wire: Bytes = zstd::encode_all(body.as_bytes(), 3).unwrap().into();
        let kept = usable_payload(wire.clone(), WireEncoding::Zstd, 1 << 20).unwrap();
        assert_eq!((kept.encoding, kept.stored), (Encoding::Zstd, wire));
        let kept = usable_payload(body.clone().into(), WireEncoding::Identity, 1 << 20).unwrap();
        assert_eq!(kept.encoding, Encoding::Zstd);
        assert_eq!(&*kept.decode().unwrap(), body.as_bytes());
    }
}
