//! Retriever's callbacks: whose they are, and keeping them.

use budget::EpochMillis;
use redis::Value;

use crate::connect::Store;
use crate::error::StateError;
use crate::ids::{CallbackId, QueryId};
use crate::keys;
use crate::payload::{self, Payload};
use crate::script::Run;

/// Whose a callback id is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackOwner {
    /// The query it belongs to.
    pub query: QueryId,
    /// Which of its sub-queries.
    pub index: u32,
    /// Trace context of the query; empty without one.
    pub traceparent: String,
    /// By when Retriever was told to stop, as of the start of the lookup.
    pub retriever_stop: Option<EpochMillis>,
}

/// Why a callback is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackRefusal {
    /// No such id, or its query has expired.
    Unknown,
    /// Its lookup closed at this instant.
    Closed(EpochMillis),
    /// Its submission had been refused, so nobody waits.
    Removed,
}

/// What a callback brings.
#[derive(Clone, Debug)]
pub enum CallbackReport {
    /// A usable body.
    Payload(Payload),
    /// An unusable one, and why; nobody waits for it any longer.
    Unusable(String),
}

/// One callback that has arrived whole.
#[derive(Clone, Debug)]
pub struct NewCallback {
    /// Its id.
    pub id: CallbackId,
    /// Whose it is.
    pub query: QueryId,
    /// What it brings.
    pub report: CallbackReport,
    /// When it came.
    pub now: EpochMillis,
    /// A random number that keeps simultaneous uploads apart.
    pub token: u64,
}

/// What became of a wanted callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was kept; so many are outstanding.
    Now {
        /// How many callbacks of the query are still outstanding.
        outstanding: u32,
    },
    /// It had been kept before.
    Before,
}

impl Store {
    /// Whose callback `id` is, and whether it is still awaited. One that came too late is counted, once.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn find_callback(
        &self,
        id: CallbackId,
    ) -> Result<Result<CallbackOwner, CallbackRefusal>, StateError> {
        let answer: Vec<String> = self
            .scripts
            .find_callback
            .key(keys::callback(id))
            .arg(keys::query_prefix(id.partition()))
            .run(&self.small, "look up the callback id")
            .await?;
        let [found, query, index, status, closed, traceparent, stop] = &answer[..] else {
            return Ok(Err(CallbackRefusal::Unknown));
        };
        let unknown = |_| StateError::Answer { script: "find_callback" };
        debug_assert_eq!(found, "found");
        if status == "removed" {
            return Ok(Err(CallbackRefusal::Removed));
        }
        // a repeated callback is answered as the first one was, also after the close
        if !closed.is_empty() && status != "returned" {
            let closed =
                EpochMillis(closed.parse().map_err(|_| StateError::Answer { script: "find_callback" })?);
            return Ok(Err(CallbackRefusal::Closed(closed)));
        }
        Ok(Ok(CallbackOwner {
            query: query.parse().map_err(unknown)?,
            index: index.parse().map_err(|_| StateError::Answer { script: "find_callback" })?,
            traceparent: traceparent.clone(),
            retriever_stop: stop.parse().ok().map(EpochMillis),
        }))
    }

    /// Keeps a callback: payload and status in one atomic step, after which the waiting worker is told.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it; then nothing was promised.
    pub async fn keep_callback(
        &self,
        callback: &NewCallback,
    ) -> Result<Result<Kept, CallbackRefusal>, StateError> {
        let payload_key = keys::payload(callback.id);
        let staged_key = keys::staged(&payload_key, callback.token);
        let (chunks, outcome, reason, encoding, bytes) = match &callback.report {
            CallbackReport::Payload(payload) => {
                let chunks = self.stage(&staged_key, payload::cut(&payload.stored)).await?;
                (Some(chunks), "returned", "", payload.encoding.as_str(), payload.decoded_bytes)
            }
            CallbackReport::Unusable(reason) => (None, "failed", reason.as_str(), "", 0),
        };
        let chunks = chunks.as_ref().map_or(&[][..], payload::Chunks::inline);
        let answer: Vec<Value> = self
            .scripts
            .take_callback
            .key(keys::query(callback.query))
            .key(keys::callback(callback.id))
            .key(payload_key)
            .key(staged_key)
            .arg(callback.now.0)
            .arg(keys::returned_channel(callback.query.partition()))
            .arg(callback.query.to_string())
            .arg(outcome)
            .arg(reason)
            .arg(encoding)
            .arg(bytes)
            .arg(payload::as_args(chunks))
            .run(&self.large, "keep the callback")
            .await?;
        kept(answer).ok_or(StateError::Answer { script: "take_callback" })
    }
}

fn kept(answer: Vec<Value>) -> Option<Result<Kept, CallbackRefusal>> {
    let mut answer = answer.into_iter();
    let word: String = redis::from_redis_value(answer.next()?).ok()?;
    let mut number = || redis::from_redis_value::<u64>(answer.next()?).ok();
    Some(match word.as_str() {
        "kept" => Ok(Kept::Now { outstanding: u32::try_from(number()?).ok()? }),
        "repeated" => Ok(Kept::Before),
        "removed" => Err(CallbackRefusal::Removed),
        "closed" => Err(CallbackRefusal::Closed(EpochMillis(number()?))),
        "unknown" => Err(CallbackRefusal::Unknown),
        _ => return None,
    })
}
