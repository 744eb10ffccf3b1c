//! Payloads: large bodies in Redis, as lists of chunks.

use std::borrow::Cow;
use std::io::Read;

use bytes::Bytes;
use redis::AsyncCommands;

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::keys;

/// Redis takes no value above 512 MB, replicas lag on large ones, and a script copies its arguments.
pub(crate) const CHUNK_BYTES: usize = 8 << 20;

/// How a stored payload is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Identity,
    /// One or more zstd frames.
    Zstd,
}

impl Encoding {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Zstd => "zstd",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "identity" => Some(Self::Identity),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// A payload that cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// It is not there, or not whole.
    #[error("it has {found} bytes where {expected} were stored")]
    Size {
        /// Bytes found.
        found: u64,
        /// Bytes stored.
        expected: u64,
    },
    /// Its compression is damaged.
    #[error("its compression is damaged")]
    Zstd(#[source] std::io::Error),
}

/// A body as it is stored.
#[derive(Clone, Debug)]
pub struct Payload {
    /// How `stored` is encoded.
    pub encoding: Encoding,
    /// The bytes in Redis.
    pub stored: Bytes,
    /// How many bytes it has when decoded.
    pub decoded_bytes: u64,
}

impl Payload {
    /// A payload of these bytes, compressed.
    ///
    /// # Errors
    /// [`PayloadError::Zstd`] when there is no memory for it.
    pub fn compress(bytes: &[u8]) -> Result<Self, PayloadError> {
        let stored = zstd::bulk::compress(bytes, 1).map_err(PayloadError::Zstd)?;
        Ok(Self { encoding: Encoding::Zstd, stored: stored.into(), decoded_bytes: bytes.len() as u64 })
    }

    /// The decoded bytes; never more than were announced.
    ///
    /// # Errors
    /// [`PayloadError`] when they are not the bytes that were stored.
    pub fn decode(&self) -> Result<Cow<'_, [u8]>, PayloadError> {
        let decoded = match self.encoding {
            Encoding::Identity => Cow::Borrowed(&self.stored[..]),
            Encoding::Zstd => {
                let mut bytes = Vec::with_capacity(usize::try_from(self.decoded_bytes).unwrap_or_default());
                let decoder = zstd::Decoder::with_buffer(&self.stored[..]).map_err(PayloadError::Zstd)?;
                decoder.take(self.decoded_bytes + 1).read_to_end(&mut bytes).map_err(PayloadError::Zstd)?;
                Cow::Owned(bytes)
            }
        };
        let found = decoded.len() as u64;
        if found == self.decoded_bytes {
            Ok(decoded)
        } else {
            Err(PayloadError::Size { found, expected: self.decoded_bytes })
        }
    }
}

/// Where the chunks of a payload are when its script runs.
pub(crate) enum Chunks {
    /// Few and small enough to go with the script.
    Inline(Vec<Bytes>),
    /// Already in Redis, under the staged key.
    Staged,
}

impl Chunks {
    pub(crate) fn inline(&self) -> &[Bytes] {
        match self {
            Self::Inline(chunks) => chunks,
            Self::Staged => &[],
        }
    }
}

pub(crate) fn as_args(chunks: &[Bytes]) -> Vec<&[u8]> {
    chunks.iter().map(|chunk| &chunk[..]).collect()
}

/// Cuts stored bytes into chunks without copying them.
pub(crate) fn cut(stored: &Bytes) -> Vec<Bytes> {
    if stored.is_empty() {
        return vec![Bytes::new()];
    }
    (0..stored.len())
        .step_by(CHUNK_BYTES)
        .map(|at| stored.slice(at..stored.len().min(at + CHUNK_BYTES)))
        .collect()
}

impl Store {
    /// Makes chunks ready for a script: small ones travel with it, large ones go ahead to `staged_key`,
    /// which vanishes by itself when the script never comes. What an earlier try has left there goes first.
    pub(crate) async fn stage(&self, staged_key: &str, chunks: Vec<Bytes>) -> Result<Chunks, StateError> {
        const FORGOTTEN_AFTER_MS: i64 = 10 * 60 * 1000;
        if chunks.iter().map(Bytes::len).sum::<usize>() <= CHUNK_BYTES {
            return Ok(Chunks::Inline(chunks));
        }
        let mut connection = self.large.clone();
        connection.unlink::<_, ()>(staged_key).await.action("take a payload")?;
        for chunk in chunks {
            // in one: a key without an expiry would stay for ever
            redis::pipe()
                .atomic()
                .rpush(staged_key, &chunk[..])
                .ignore()
                .pexpire(staged_key, FORGOTTEN_AFTER_MS)
                .ignore()
                .query_async::<()>(&mut connection)
                .await
                .action("take a payload")?;
        }
        Ok(Chunks::Staged)
    }

    /// Chunk `index` of the list at `key`; `None` past its end.
    pub(crate) async fn chunk(&self, key: &str, index: usize) -> Result<Option<Bytes>, StateError> {
        let index = isize::try_from(index).unwrap_or(isize::MAX);
        let chunk: Option<Vec<u8>> = self.large.clone().lindex(key, index).await.action("read a payload")?;
        Ok(chunk.map(Bytes::from))
    }

    /// All chunks of the list at `key` in one piece.
    pub(crate) async fn whole_payload(&self, key: &str) -> Result<Bytes, StateError> {
        let chunks: Vec<Vec<u8>> = self.large.clone().lrange(key, 0, 0).await.action("read a payload")?;
        let mut whole = chunks.into_iter().next().unwrap_or_default();
        if whole.len() >= CHUNK_BYTES {
            let mut index = 1;
            while let Some(chunk) = self.chunk(key, index).await? {
                whole.extend_from_slice(&chunk);
                index += 1;
            }
        }
        Ok(whole.into())
    }

    /// Frees the payloads of a query that has ended without a response.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn discard_payloads(&self, query: crate::ids::QueryId) -> Result<(), StateError> {
        let callbacks = self.callback_ids(query).await?.into_iter();
        let keys: Vec<String> = callbacks.map(keys::payload).chain([keys::message(query)]).collect();
        self.small.clone().unlink::<_, ()>(keys).await.action("discard payloads")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_put_together_are_the_bytes() {
        let bytes = Bytes::from(vec![7; 2 * CHUNK_BYTES + 3]);
        let chunks = cut(&bytes);
        assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [CHUNK_BYTES, CHUNK_BYTES, 3]);
        assert_eq!(cut(&Bytes::new()).len(), 1, "an empty payload is still one");
    }

    #[test]
    fn payload_longer_or_shorter_than_announced_is_refused() {
        let stored = Bytes::from(zstd::encode_all(&b"0123456789"[..], 1).unwrap());
        let payload =
            |decoded_bytes| Payload { encoding: Encoding::Zstd, stored: stored.clone(), decoded_bytes };
        assert_eq!(&*payload(10).decode().unwrap(), b"0123456789");
        assert!(matches!(payload(9).decode(), Err(PayloadError::Size { found: 10, expected: 9 })));
        assert!(matches!(payload(11).decode(), Err(PayloadError::Size { found: 10, expected: 11 })));
    }
}
