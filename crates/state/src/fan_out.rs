//! A lookup's sub-queries: registered before they are sent, recorded as they fare, closed together.

use std::collections::HashMap;

use budget::{Deadline, EpochMillis};
use redis::{AsyncCommands, Value};

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::ids::{CallbackId, ConsumerName, QueryId};
use crate::keys;
use crate::logs::StoredLog;
use crate::payload::{Encoding, Payload};
use crate::query::Standing;
use crate::script::Run;
use crate::tasks::StepEntry;

/// What is known of one callback id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackStatus {
    /// Stored; its submission may or may not have gone out.
    Registered,
    /// Retriever has acknowledged the submission.
    Accepted,
    /// The submission went out, or may have, without an acknowledgement.
    InFlight,
    /// The callback came and was kept.
    Returned,
    /// The callback came and was unusable.
    Failed,
    /// Nobody waits for it: Retriever refused it, or was not reached.
    Removed,
}

impl CallbackStatus {
    fn is_awaited(self) -> bool {
        matches!(self, Self::Registered | Self::Accepted | Self::InFlight)
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "registered" => Self::Registered,
            "accepted" => Self::Accepted,
            "in_flight" => Self::InFlight,
            "returned" => Self::Returned,
            "failed" => Self::Failed,
            "removed" => Self::Removed,
            _ => return None,
        })
    }
}

/// The record of one callback id.
#[derive(Clone, Debug)]
pub struct CallbackRecord {
    /// The id.
    pub id: CallbackId,
    /// What its sub-query is called in logs.
    pub label: String,
    /// The sub-query's query graph as JSON text.
    pub query_graph: String,
    /// What is known of it.
    pub status: CallbackStatus,
    /// Retriever's name for the job, where it has acknowledged it.
    pub job_id: Option<String>,
    /// Why it failed or was removed.
    pub reason: Option<String>,
    /// How its payload is encoded, where it has one.
    pub encoding: Option<Encoding>,
    /// Size of the payload, decoded.
    pub bytes: u64,
}

/// A sub-query that is about to be registered.
#[derive(Clone, Debug)]
pub struct NewSubQuery {
    /// The id that its callback will name.
    pub callback: CallbackId,
    /// What it is called in logs.
    pub label: String,
    /// Its query graph as JSON text; a worker that takes over sends the same.
    pub query_graph: String,
}

/// When a lookup ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupTimes {
    /// Its deadline.
    pub deadline: Deadline,
    /// By when Retriever is told to stop.
    pub retriever_stop: Deadline,
}

/// How a lookup is to be closed.
#[derive(Clone, Copy, Debug)]
pub struct Close<'a> {
    /// The operation that follows.
    pub next_operation: &'a str,
    /// Close it although callbacks are outstanding: the deadline has passed, or the lookup failed.
    pub force: bool,
    /// Why the lookup failed for good, where it did.
    pub failure: Option<&'a str>,
    /// Log entries to add to the query's log.
    pub logs: &'a [StoredLog],
}

/// The sub-queries of a lookup, in order.
#[derive(Clone, Debug)]
pub struct FanOut {
    /// When the lookup ends, as it was first fixed.
    pub deadline: Deadline,
    /// One record per sub-query.
    pub callbacks: Vec<CallbackRecord>,
    /// Whether an earlier worker had stored them.
    pub resumed: bool,
}

/// What became of one submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmissionRecord {
    /// Acknowledged, with Retriever's job id where it gave one.
    Accepted {
        /// Retriever's name for the job.
        job_id: Option<String>,
    },
    /// Sent, or maybe sent, without an acknowledgement.
    InFlight,
    /// Refused or never reached; its callback id is removed.
    Removed {
        /// Why.
        reason: String,
    },
}

/// What recording a submission showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// How many callbacks are outstanding.
    pub outstanding: u32,
}

/// What an attempt to close a lookup showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It is closed and the next operation is queued; so many callbacks never came.
    Closed {
        /// How many callbacks never came.
        missing: u32,
    },
    /// So many callbacks are outstanding, and the deadline has not passed.
    Open {
        /// How many callbacks are outstanding.
        outstanding: u32,
    },
    /// It is not this worker's to close.
    Not(Standing),
}

impl Store {
    /// Stores the lookup deadline and the callback ids in one atomic step, before anything is sent. When
    /// an earlier worker has done so, its deadline and ids are returned instead.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take them.
    pub async fn register(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        times: LookupTimes,
        sub_queries: &[NewSubQuery],
    ) -> Result<Result<FanOut, Standing>, StateError> {
        let mut invocation = self.scripts.register_fan_out.prepare_invoke();
        invocation.key(keys::query(entry.query)).key(keys::callbacks(entry.query));
        invocation
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(times.deadline.instant().0)
            .arg(times.retriever_stop.instant().0)
            .arg(entry.query.to_string());
        for sub_query in sub_queries {
            invocation
                .key(keys::callback(sub_query.callback))
                .arg(sub_query.callback.to_string())
                .arg(&sub_query.label)
                .arg(&sub_query.query_graph);
        }
        let answer: Vec<Value> = invocation.run(&self.small, "register the sub-queries").await?;
        let unknown = || StateError::Answer { script: "register_fan_out" };
        let mut answer = answer.into_iter();
        let word: String = answer.next().and_then(|v| redis::from_redis_value(v).ok()).ok_or_else(unknown)?;
        if let Some(standing) = Standing::parse(&word) {
            return Ok(Err(standing));
        }
        let deadline: u64 =
            answer.next().and_then(|v| redis::from_redis_value(v).ok()).ok_or_else(unknown)?;
        let deadline = Deadline::at(EpochMillis(deadline));
        match answer.next() {
            None => {
                let callbacks = sub_queries.iter().map(CallbackRecord::fresh).collect();
                Ok(Ok(FanOut { deadline, callbacks, resumed: false }))
            }
            Some(_) => {
                let callbacks = self.callbacks(entry.query).await?;
                Ok(Ok(FanOut { deadline, callbacks, resumed: true }))
            }
        }
    }

    /// Records what became of the submission of `callback`. A second call changes nothing.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it.
    pub async fn record_submission(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        callback: CallbackId,
        outcome: &SubmissionRecord,
        now: EpochMillis,
    ) -> Result<Result<Recorded, Standing>, StateError> {
        let (word, job_id, reason) = match outcome {
            SubmissionRecord::Accepted { job_id } => ("accepted", job_id.as_deref().unwrap_or_default(), ""),
            SubmissionRecord::InFlight => ("in_flight", "", ""),
            SubmissionRecord::Removed { reason } => ("removed", "", reason.as_str()),
        };
        let (stand, outstanding): (String, u32) = self
            .scripts
            .record_submission
            .key(keys::query(entry.query))
            .key(keys::callback(callback))
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(word)
            .arg(job_id)
            .arg(now.0)
            .arg(reason)
            .run(&self.small, "record the submission")
            .await?;
        match (stand.as_str(), Standing::parse(&stand)) {
            ("ok", _) => Ok(Ok(Recorded { outstanding })),
            (_, Some(standing)) => Ok(Err(standing)),
            (_, None) => Err(StateError::Answer { script: "record_submission" }),
        }
    }

    /// Closes the lookup and queues the next operation in one atomic step: when nothing is outstanding,
    /// or in any case when forced.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot take it.
    pub async fn close_lookup(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        close: &Close<'_>,
        now: EpochMillis,
    ) -> Result<Closing, StateError> {
        let partition = entry.query.partition();
        let logs: Vec<&str> = close.logs.iter().map(|log| log.0.as_str()).collect();
        let (word, count): (String, u32) = self
            .scripts
            .close_lookup
            .key(keys::query(entry.query))
            .key(keys::stream(partition, &entry.operation))
            .key(keys::stream(partition, close.next_operation))
            .key(keys::logs(entry.query))
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(now.0)
            .arg(u8::from(close.force))
            .arg(&entry.id.0)
            .arg(keys::GROUP)
            .arg(entry.query.to_string())
            .arg(entry.step + 1)
            .arg(close.next_operation)
            .arg(&entry.traceparent)
            .arg(close.failure.unwrap_or_default())
            .arg(self.settings.max_logs)
            .arg(logs)
            .run(&self.small, "close the lookup")
            .await?;
        match (word.as_str(), Standing::parse(&word)) {
            ("closed", _) => Ok(Closing::Closed { missing: count }),
            ("open", _) => Ok(Closing::Open { outstanding: count }),
            (_, Some(standing)) => Ok(Closing::Not(standing)),
            (_, None) => Err(StateError::Answer { script: "close_lookup" }),
        }
    }

    pub(crate) async fn callback_ids(&self, query: QueryId) -> Result<Vec<CallbackId>, StateError> {
        let ids: Vec<String> =
            self.small.clone().lrange(keys::callbacks(query), 0, -1).await.action("read the callback ids")?;
        ids.iter().map(|id| id.parse().map_err(|_| StateError::Record { field: "callbacks" })).collect()
    }

    /// The records of all callbacks of a query, in the order of its sub-queries.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked, [`StateError::Record`] for a damaged record.
    pub async fn callbacks(&self, query: QueryId) -> Result<Vec<CallbackRecord>, StateError> {
        let ids = self.callback_ids(query).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipeline = redis::pipe();
        for id in &ids {
            pipeline.hgetall(keys::callback(*id));
        }
        let records: Vec<HashMap<String, String>> =
            pipeline.query_async(&mut self.small.clone()).await.action("read the callbacks")?;
        ids.into_iter().zip(&records).map(|(id, fields)| CallbackRecord::read(id, fields)).collect()
    }

    /// The payload of a callback that has returned.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn payload(&self, callback: &CallbackRecord) -> Result<Option<Payload>, StateError> {
        let Some(encoding) = callback.encoding else { return Ok(None) };
        let stored = self.whole_payload(&keys::payload(callback.id)).await?;
        Ok(Some(Payload { encoding, stored, decoded_bytes: callback.bytes }))
    }
}

impl FanOut {
    /// How many callbacks are awaited.
    pub fn outstanding(&self) -> u32 {
        let awaited = self.callbacks.iter().filter(|callback| callback.status.is_awaited());
        u32::try_from(awaited.count()).unwrap_or(u32::MAX)
    }
}

impl CallbackRecord {
    fn fresh(sub_query: &NewSubQuery) -> Self {
        Self {
            id: sub_query.callback,
            label: sub_query.label.clone(),
            query_graph: sub_query.query_graph.clone(),
            status: CallbackStatus::Registered,
            job_id: None,
            reason: None,
            encoding: None,
            bytes: 0,
        }
    }

    fn read(id: CallbackId, fields: &HashMap<String, String>) -> Result<Self, StateError> {
        let word = |name: &str| fields.get(name).filter(|text| !text.is_empty()).cloned();
        let status = word("status").and_then(|s| CallbackStatus::parse(&s));
        Ok(Self {
            id,
            label: word("label").unwrap_or_default(),
            query_graph: word("graph").ok_or(StateError::Record { field: "graph" })?,
            status: status.ok_or(StateError::Record { field: "status" })?,
            job_id: word("job_id"),
            reason: word("reason"),
            encoding: word("encoding").and_then(|text| Encoding::parse(&text)),
            bytes: word("bytes").and_then(|text| text.parse().ok()).unwrap_or_default(),
        })
    }
}
