//! Steps of queries as entries of streams, leased by the worker that handles them.

use std::collections::HashMap;
use std::time::Duration;

use budget::{Deadline, EpochMillis};
use redis::streams::{StreamPendingCountReply, StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, RedisError};

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::ids::{ConsumerName, EntryId, QueryId};
use crate::keys;
use crate::link::Open;
use crate::query::Standing;
use crate::script::Run;

/// One step of one query, as it stands on its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEntry {
    /// Its id on the stream.
    pub id: EntryId,
    /// The operation, which names the stream.
    pub operation: String,
    /// The query.
    pub query: QueryId,
    /// The step of the query's plan.
    pub step: usize,
    /// W3C trace context of the query; empty without one.
    pub traceparent: String,
}

/// An entry as it was handed to this worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The entry.
    pub entry: StepEntry,
    /// How often it has been handed out, this time included.
    pub deliveries: u32,
}

/// The stream of one operation in one partition, as one consumer sees it.
pub struct TaskQueue {
    store: Store,
    operation: String,
    partition: u16,
    stream: String,
    consumer: ConsumerName,
    reader: Option<Open>,
}

impl TaskQueue {
    /// The queue of `operation` in `partition` for `consumer`. Nothing is asked of Redis yet.
    pub fn new(store: &Store, operation: &str, partition: u16, consumer: &ConsumerName) -> Self {
        Self {
            store: store.clone(),
            operation: operation.to_owned(),
            partition,
            stream: keys::stream(partition, operation),
            consumer: consumer.clone(),
            reader: None,
        }
    }

    /// Waits up to `block` for at most `count` new entries; none is a normal answer. When this future is
    /// dropped the reader is too, so that nothing is handed to a read that nobody awaits.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked; the next call connects anew.
    pub async fn read(&mut self, count: usize, block: Duration) -> Result<Vec<Delivered>, StateError> {
        // taken out while in use: a dropped or failed read takes its connection with it
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                self.create_group().await?;
                self.store.blocking_connection().await?
            }
        };
        let reply = match self.read_once(&mut reader, count, block).await {
            Err(error) if error.code() == Some("NOGROUP") => {
                self.create_group().await?;
                self.read_once(&mut reader, count, block).await
            }
            other => other,
        };
        let reply = reply.action("hand out entries")?;
        self.reader = Some(reader);
        let entries = reply.into_iter().flat_map(|reply| reply.keys).flat_map(|key| key.ids);
        let mut delivered = Vec::new();
        for stream_id in entries {
            if let Some(entry) = self.understand(EntryId(stream_id.id), &stream_id.map).await? {
                delivered.push(Delivered { entry, deliveries: 1 });
            }
        }
        Ok(delivered)
    }

    async fn read_once(
        &self,
        reader: &mut Open,
        count: usize,
        block: Duration,
    ) -> Result<Option<StreamReadReply>, RedisError> {
        let block_ms = usize::try_from(block.as_millis()).unwrap_or(usize::MAX).max(1);
        let options = StreamReadOptions::default()
            .group(keys::GROUP, self.consumer.as_str())
            .count(count.max(1))
            .block(block_ms);
        // the server answers when the block ends; one that is silent for longer is gone
        let (streams, after) = ([&self.stream], [">"]);
        let read = reader.xread_options(&streams, &after, &options);
        match tokio::time::timeout(block + Duration::from_secs(5), read).await {
            Ok(reply) => reply,
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
        }
    }

    /// Renews the leases on `held` and returns those that were lost to another consumer.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked; then nothing is known.
    pub async fn renew(&self, held: &[EntryId]) -> Result<Vec<EntryId>, StateError> {
        const AT_ONCE: usize = 500;
        let mut lost = Vec::new();
        for some in held.chunks(AT_ONCE) {
            let ids: Vec<&str> = some.iter().map(|id| id.0.as_str()).collect();
            let gone: Vec<String> = self
                .store
                .scripts
                .renew_leases
                .key(&self.stream)
                .arg(keys::GROUP)
                .arg(self.consumer.as_str())
                .arg(ids)
                .run(&self.store.small, "renew leases")
                .await?;
            lost.extend(gone.into_iter().map(EntryId));
        }
        Ok(lost)
    }

    /// Whether there is an entry that nobody has renewed for `lease`. Changes nothing.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn has_lost(&self, lease: Duration) -> Result<bool, StateError> {
        let pending: Result<StreamPendingCountReply, RedisError> = redis::cmd("XPENDING")
            .arg(&self.stream)
            .arg(keys::GROUP)
            .arg("IDLE")
            .arg(millis(lease))
            .arg("-")
            .arg("+")
            .arg(1)
            .query_async(&mut self.store.small.clone())
            .await;
        match pending {
            // the stream has expired, and every entry with it
            Err(error) if error.code() == Some("NOGROUP") => Ok(false),
            other => Ok(!other.action("look for lost entries")?.ids.is_empty()),
        }
    }

    /// Takes over at most `count` entries that nobody has renewed for `lease`.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn claim(&self, lease: Duration, count: usize) -> Result<Vec<Delivered>, StateError> {
        let taken: Vec<(String, u32, HashMap<String, redis::Value>)> = self
            .store
            .scripts
            .claim_entries
            .key(&self.stream)
            .arg(keys::GROUP)
            .arg(self.consumer.as_str())
            .arg(millis(lease))
            .arg(count.max(1))
            .run(&self.store.small, "claim entries")
            .await?;
        let mut delivered = Vec::new();
        for (id, deliveries, fields) in taken {
            if let Some(entry) = self.understand(EntryId(id), &fields).await? {
                delivered.push(Delivered { entry, deliveries });
            }
        }
        Ok(delivered)
    }

    /// Creates the group and its stream where they are not there; both have an expiry from the first moment on.
    async fn create_group(&self) -> Result<(), StateError> {
        self.store
            .scripts
            .create_group
            .key(&self.stream)
            .arg(keys::GROUP)
            .arg(millis(self.store.settings.ttl))
            .run::<String>(&self.store.small, "create the consumer group")
            .await
            .map(|_| ())
    }

    /// Tells that this consumer reads the stream, for `alive` from now on: a group tells only of consumers that
    /// have taken something.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it.
    pub async fn appear(&self, now: EpochMillis, alive: Duration) -> Result<(), StateError> {
        let key = keys::workers(self.partition, &self.operation);
        let until = Deadline::after(now, alive).instant();
        redis::pipe()
            .zrembyscore(&key, "-inf", now.0)
            .zadd(&key, self.consumer.as_str(), until.0)
            .pexpire(&key, i64::try_from(alive.as_millis()).unwrap_or(i64::MAX))
            .query_async(&mut self.store.small.clone())
            .await
            .action("note a worker")
    }

    /// Removes this consumer for good, and queues again what it still holds: for when nothing is worked on any
    /// more. Returns how many entries that were.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn leave(&mut self) -> Result<usize, StateError> {
        self.reader = None;
        let workers = keys::workers(self.partition, &self.operation);
        let _: usize =
            self.store.small.clone().zrem(workers, self.consumer.as_str()).await.action("forget a worker")?;
        self.store
            .scripts
            .leave_group
            .key(&self.stream)
            .arg(keys::GROUP)
            .arg(self.consumer.as_str())
            .run(&self.store.small, "remove the consumer")
            .await
    }

    /// Removes the consumers that hold nothing and were silent for so long: a killed process cannot leave by
    /// itself. Returns how many there were. One that lives comes back with its next entry.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn dismiss(&self, silent: Duration) -> Result<usize, StateError> {
        self.store
            .scripts
            .dismiss_consumers
            .key(&self.stream)
            .arg(keys::GROUP)
            .arg(millis(silent))
            .run(&self.store.small, "remove silent consumers")
            .await
    }

    /// Reads an entry's fields. One that cannot be read is no query's and can help nobody: it is logged
    /// and taken off the stream.
    async fn understand(
        &self,
        id: EntryId,
        fields: &HashMap<String, redis::Value>,
    ) -> Result<Option<StepEntry>, StateError> {
        if let Some(entry) = self.parse(&id, fields) {
            return Ok(Some(entry));
        }
        tracing::error!(entry = %id, stream = self.stream, "entry {id} is unreadable and was dropped");
        self.store.settle(&self.operation, self.partition, &id).await?;
        Ok(None)
    }

    fn parse(&self, id: &EntryId, fields: &HashMap<String, redis::Value>) -> Option<StepEntry> {
        let word = |name: &str| redis::from_redis_value::<String>(fields.get(name)?.clone()).ok();
        Some(StepEntry {
            id: id.clone(),
            operation: self.operation.clone(),
            query: word("query")?.parse().ok()?,
            step: word("step")?.parse().ok()?,
            traceparent: word("traceparent").unwrap_or_default(),
        })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Store {
    /// Takes an entry off its stream whose query needs nothing more.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn settle(&self, operation: &str, partition: u16, entry: &EntryId) -> Result<(), StateError> {
        self.scripts
            .settle_entry
            .key(keys::stream(partition, operation))
            .arg(keys::GROUP)
            .arg(&entry.0)
            .run::<()>(&self.small, "settle an entry")
            .await
    }

    /// Gives an entry back so that another worker takes it at once.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn hand_back(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
    ) -> Result<Result<(), Standing>, StateError> {
        let answer: String = self
            .scripts
            .hand_back
            .key(keys::query(entry.query))
            .key(keys::stream(entry.query.partition(), &entry.operation))
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(&entry.id.0)
            .arg(keys::GROUP)
            .arg(entry.query.to_string())
            .arg(&entry.traceparent)
            .run(&self.small, "hand the entry back")
            .await?;
        match Standing::parse(&answer) {
            Some(standing) => Ok(Err(standing)),
            None => Ok(Ok(())),
        }
    }
}
