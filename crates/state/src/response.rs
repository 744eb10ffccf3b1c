//! The final response: written once, read by whoever delivers it.

use std::io::Read;

use budget::EpochMillis;
use bytes::Bytes;
use futures_util::stream::{self, Stream};

use crate::connect::Store;
use crate::error::StateError;
use crate::ids::{ConsumerName, QueryId};
use crate::keys;
use crate::logs::StoredLog;
use crate::payload::{self, PayloadError};
use crate::query::{JobState, Standing};
use crate::script::Run;
use crate::tasks::StepEntry;

/// Decoded bytes per chunk; each chunk is a zstd frame of its own, so that a reader needs one at a time.
const FRAME_BYTES: usize = 1 << 20;

/// A response that is about to be stored.
#[derive(Clone, Debug)]
pub struct FinalResponse<'a> {
    /// The JSON text.
    pub body: &'a [u8],
    /// How the query ended: completed or failed.
    pub outcome: JobState,
    /// TRAPI `status`.
    pub status: &'a str,
    /// TRAPI `description`.
    pub description: &'a str,
    /// What `/query` answers with.
    pub http_status: u16,
    /// The step at which it is delivered; `None` where the client's connection is waiting for it.
    pub delivery_step: Option<usize>,
    /// How long callback payloads are kept, in milliseconds; 0 frees them now.
    pub keep_payloads_ms: u64,
    /// Log entries to add to the query's log.
    pub logs: &'a [StoredLog],
    /// A random number that keeps simultaneous writers apart.
    pub token: u64,
}

/// How a delivery ended.
#[derive(Clone, Debug)]
pub struct Conclusion<'a> {
    /// Why the client does not have the response, where it does not: the query then counts as failed.
    pub problem: Option<&'a str>,
    /// Log entries to add to the query's log.
    pub logs: &'a [StoredLog],
}

/// A response in the store.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    /// Whose it is.
    pub query: QueryId,
    /// Its size, decoded.
    pub bytes: u64,
}

impl Store {
    /// Stores the response, frees the callbacks' payloads, and ends the query or queues its delivery, all
    /// in one atomic step.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it; then nothing has changed.
    pub async fn store_response(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        response: &FinalResponse<'_>,
        now: EpochMillis,
    ) -> Result<Result<(), Standing>, StateError> {
        let key = keys::response(entry.query);
        let staged_key = keys::staged(&key, response.token);
        let chunks = self.stage(&staged_key, frames(response.body)?).await?;
        let partition = entry.query.partition();
        let next_step = response.delivery_step.map_or_else(String::new, |step| step.to_string());
        let callbacks = self.callback_ids(entry.query).await?.into_iter();
        let payload_keys: Vec<String> =
            callbacks.map(keys::payload).chain([keys::message(entry.query)]).collect();
        let logs: Vec<&str> = response.logs.iter().map(|log| log.0.as_str()).collect();
        let answer: String = self
            .scripts
            .store_response
            .key(keys::query(entry.query))
            .key(key)
            .key(staged_key)
            .key(keys::stream(partition, &entry.operation))
            .key(keys::stream(partition, "finish_query"))
            .key(keys::logs(entry.query))
            .key(keys::open(partition))
            .key(payload_keys)
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(now.0)
            .arg(&entry.id.0)
            .arg(keys::GROUP)
            .arg(entry.query.to_string())
            .arg(keys::finished_channel(partition))
            .arg(next_step)
            .arg(&entry.traceparent)
            .arg(response.keep_payloads_ms)
            .arg(response.outcome.as_str())
            .arg(response.status)
            .arg(response.description)
            .arg(response.http_status)
            .arg(response.body.len())
            .arg(self.settings.max_logs)
            .arg(chunks.inline().len())
            .arg(payload::as_args(chunks.inline()))
            .arg(logs)
            .run(&self.large, "store the response")
            .await?;
        standing(&answer, "store_response")
    }

    /// Records the one terminal outcome of a query whose response was delivered, or could not be.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it.
    pub async fn conclude(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        conclusion: &Conclusion<'_>,
        now: EpochMillis,
    ) -> Result<Result<(), Standing>, StateError> {
        let partition = entry.query.partition();
        let logs: Vec<&str> = conclusion.logs.iter().map(|log| log.0.as_str()).collect();
        let answer: String = self
            .scripts
            .conclude_query
            .key(keys::query(entry.query))
            .key(keys::stream(partition, &entry.operation))
            .key(keys::logs(entry.query))
            .key(keys::open(partition))
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(now.0)
            .arg(&entry.id.0)
            .arg(keys::GROUP)
            .arg(entry.query.to_string())
            .arg(keys::finished_channel(partition))
            .arg(if conclusion.problem.is_some() { JobState::Failed.as_str() } else { "" })
            .arg(conclusion.problem.unwrap_or_default())
            .arg(self.settings.max_logs)
            .arg(logs)
            .run(&self.small, "conclude the query")
            .await?;
        standing(&answer, "conclude_query")
    }

    /// The response's bytes, one decoded chunk at a time; the whole is never in memory.
    pub fn read_response(
        &self,
        response: &StoredResponse,
    ) -> impl Stream<Item = Result<Bytes, StateError>> + Send + use<> {
        let store = self.clone();
        let key = keys::response(response.query);
        stream::try_unfold((store, key, 0usize), |(store, key, index)| async move {
            let Some(frame) = store.chunk(&key, index).await? else { return Ok(None) };
            let bytes = decode_frame(&frame)?;
            Ok(Some((bytes, (store, key, index + 1))))
        })
    }
}

fn standing(answer: &str, script: &'static str) -> Result<Result<(), Standing>, StateError> {
    match Standing::parse(answer) {
        Some(standing) => Ok(Err(standing)),
        None if answer == "ok" => Ok(Ok(())),
        None => Err(StateError::Answer { script }),
    }
}

fn frames(body: &[u8]) -> Result<Vec<Bytes>, PayloadError> {
    let mut compressor = zstd::bulk::Compressor::new(1).map_err(PayloadError::Zstd)?;
    body.chunks(FRAME_BYTES)
        .map(|raw| compressor.compress(raw).map(Bytes::from).map_err(PayloadError::Zstd))
        .collect()
}

fn decode_frame(frame: &[u8]) -> Result<Bytes, PayloadError> {
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::with_buffer(frame).map_err(PayloadError::Zstd)?;
    decoder.take(FRAME_BYTES as u64).read_to_end(&mut bytes).map_err(PayloadError::Zstd)?;
    Ok(bytes.into())
}
