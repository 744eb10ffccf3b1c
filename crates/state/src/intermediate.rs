//! The message of a query between two operations that run in different processes.

use crate::connect::Store;
use crate::error::StateError;
use crate::ids::ConsumerName;
use crate::keys;
use crate::logs::StoredLog;
use crate::payload::{self, Encoding, Payload, cut};
use crate::query::{QueryRecord, Standing};
use crate::script::Run;
use crate::tasks::StepEntry;

/// A message on its way to the next operation.
#[derive(Clone, Debug)]
pub struct Intermediate<'a> {
    /// The message, compressed.
    pub message: &'a Payload,
    /// What its next worker must know beside it.
    pub note: &'a str,
    /// The step that comes next.
    pub next_step: usize,
    /// Its operation.
    pub next_operation: &'a str,
    /// How long callback payloads are kept, in milliseconds; 0 frees them now.
    pub keep_payloads_ms: u64,
    /// Log entries to add to the query's log.
    pub logs: &'a [StoredLog],
    /// A random number that keeps simultaneous writers apart.
    pub token: u64,
}

impl Store {
    /// Stores the message and queues the next operation, in one atomic step.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it; then nothing has changed.
    pub async fn hand_on(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        intermediate: &Intermediate<'_>,
    ) -> Result<Result<(), Standing>, StateError> {
        let key = keys::message(entry.query);
        let staged_key = keys::staged(&key, intermediate.token);
        let chunks = self.stage(&staged_key, cut(&intermediate.message.stored)).await?;
        let partition = entry.query.partition();
        let payload_keys: Vec<String> =
            self.callback_ids(entry.query).await?.into_iter().map(keys::payload).collect();
        let logs: Vec<&str> = intermediate.logs.iter().map(|log| log.0.as_str()).collect();
        let answer: String = self
            .scripts
            .hand_on
            .key(keys::query(entry.query))
            .key(key)
            .key(staged_key)
            .key(keys::stream(partition, &entry.operation))
            .key(keys::stream(partition, intermediate.next_operation))
            .key(keys::logs(entry.query))
            .key(payload_keys)
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(&entry.id.0)
            .arg(keys::GROUP)
            .arg(entry.query.to_string())
            .arg(intermediate.next_step)
            .arg(intermediate.next_operation)
            .arg(&entry.traceparent)
            .arg(intermediate.keep_payloads_ms)
            .arg(intermediate.message.decoded_bytes)
            .arg(intermediate.note)
            .arg(self.settings.max_logs)
            .arg(chunks.inline().len())
            .arg(payload::as_args(chunks.inline()))
            .arg(logs)
            .run(&self.large, "hand the message on")
            .await?;
        match Standing::parse(&answer) {
            Some(standing) => Ok(Err(standing)),
            None if answer == "ok" => Ok(Ok(())),
            None => Err(StateError::Answer { script: "hand_on" }),
        }
    }

    /// The message as the last operation left it; `None` where none has handed one on.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn intermediate(&self, record: &QueryRecord) -> Result<Option<Payload>, StateError> {
        let Some(decoded_bytes) = record.message_bytes else { return Ok(None) };
        let stored = self.whole_payload(&keys::message(record.id)).await?;
        Ok(Some(Payload { encoding: Encoding::Zstd, stored, decoded_bytes }))
    }
}
