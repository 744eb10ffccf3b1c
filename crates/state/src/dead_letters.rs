//! Steps that were given up: why, and another try by hand.

use budget::{Deadline, EpochMillis};
use redis::AsyncCommands;
use redis::streams::StreamRangeReply;

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::ids::{EntryId, QueryId};
use crate::keys;
use crate::script::Run;
use crate::tasks::StepEntry;

/// How many notes are kept per partition; the oldest go first.
const MAX_NOTES: usize = 10_000;

/// A note of a step that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The note's own id.
    pub id: EntryId,
    /// The query.
    pub query: QueryId,
    /// The operation that was given up.
    pub operation: String,
    /// Which step of the query's plan it is.
    pub step: usize,
    /// How often it had been handed out.
    pub deliveries: u32,
    /// Why it was given up.
    pub reason: String,
    /// When.
    pub buried: EpochMillis,
}

/// What became of a redrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redriven {
    /// The step is queued again, and the note is gone.
    Queued,
    /// There is no such note.
    Unknown,
    /// The query has expired or was cancelled.
    Expired,
    /// The query is at work.
    Open,
}

impl Store {
    /// Notes that a step was given up; a second call changes nothing.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it.
    pub async fn bury(
        &self,
        entry: &StepEntry,
        deliveries: u32,
        reason: &str,
        now: EpochMillis,
    ) -> Result<(), StateError> {
        self.scripts
            .bury_step
            .key(keys::dead_letters(entry.query.partition()))
            .key(keys::query(entry.query))
            .arg(Deadline::after(now, self.settings.ttl).instant().0)
            .arg(MAX_NOTES)
            .arg(entry.query.to_string())
            .arg(&entry.operation)
            .arg(entry.step)
            .arg(deliveries)
            .arg(reason)
            .arg(now.0)
            .run::<String>(&self.small, "note a step that was given up")
            .await
            .map(|_| ())
    }

    /// The newest `count` notes of a partition, the newest first.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn dead_letters(&self, partition: u16, count: usize) -> Result<Vec<DeadLetter>, StateError> {
        let notes: StreamRangeReply = self
            .small
            .clone()
            .xrevrange_count(keys::dead_letters(partition), "+", "-", count)
            .await
            .action("list what was given up")?;
        Ok(notes.ids.iter().filter_map(DeadLetter::read).collect())
    }

    /// How many notes there are, over all partitions.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn dead_letter_count(&self) -> Result<u64, StateError> {
        let mut count = 0;
        for partition in self.partitions() {
            let notes: u64 = self
                .small
                .clone()
                .xlen(keys::dead_letters(partition))
                .await
                .action("count what was given up")?;
            count += notes;
        }
        Ok(count)
    }

    /// Queues a given-up step once more, with the time its query had at its intake.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it.
    pub async fn redrive(&self, letter: &DeadLetter, now: EpochMillis) -> Result<Redriven, StateError> {
        let partition = letter.query.partition();
        let answer: String = self
            .scripts
            .redrive_step
            .key(keys::query(letter.query))
            .key(keys::dead_letters(partition))
            .key(keys::stream(partition, &letter.operation))
            .key(keys::callbacks(letter.query))
            .key(keys::open(partition))
            .arg(&letter.id.0)
            .arg(letter.query.to_string())
            .arg(&letter.operation)
            .arg(letter.step)
            .arg(now.0)
            .run(&self.small, "queue a step once more")
            .await?;
        match answer.as_str() {
            "ok" => Ok(Redriven::Queued),
            "unknown" => Ok(Redriven::Unknown),
            "missing" => Ok(Redriven::Expired),
            "open" => Ok(Redriven::Open),
            _ => Err(StateError::Answer { script: "redrive_step" }),
        }
    }

    /// Takes a note off; false where there is none.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn drop_dead_letter(&self, partition: u16, id: &EntryId) -> Result<bool, StateError> {
        let deleted: usize =
            self.small.clone().xdel(keys::dead_letters(partition), &[&id.0]).await.action("drop a note")?;
        Ok(deleted > 0)
    }
}

impl DeadLetter {
    fn read(note: &redis::streams::StreamId) -> Option<Self> {
        Some(Self {
            id: EntryId(note.id.clone()),
            query: note.get::<String>("query")?.parse().ok()?,
            operation: note.get("operation")?,
            step: note.get("step")?,
            deliveries: note.get("deliveries")?,
            reason: note.get("reason")?,
            buried: EpochMillis(note.get("buried_ms")?),
        })
    }
}
