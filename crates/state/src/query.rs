//! The record of a query: what it is, how far it has come, who works on it.

use std::collections::HashMap;
use std::time::Duration;

use budget::{ClientBudget, Deadline, EpochMillis, QueryBudget};
use bytes::Bytes;
use redis::Value;

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::ids::{ConsumerName, QueryId};
use crate::intake::Delivery;
use crate::keys;
use crate::script::Run;
use crate::tasks::StepEntry;

/// How far a query has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for its first worker.
    Queued,
    /// At work.
    Running,
    /// Ended with an answer.
    Completed,
    /// Ended without one, or the answer could not be delivered.
    Failed,
    /// Ended because nobody waits for it any more.
    Cancelled,
}

impl JobState {
    /// Whether nothing more will happen to the query.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "queued" => Self::Queued,
            "running" => Self::Running,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a worker may not, or need not, change a query at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The query's record has expired.
    Missing,
    /// The query has ended.
    Over,
    /// The step was already done.
    Past,
    /// Another worker has taken over.
    Lost,
}

impl Standing {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "missing" => Self::Missing,
            "over" => Self::Over,
            "past" => Self::Past,
            "lost" => Self::Lost,
            _ => return None,
        })
    }
}

/// What is known of a query.
#[derive(Clone, Debug)]
pub struct QueryRecord {
    /// Its id.
    pub id: QueryId,
    /// The persona it is addressed to.
    pub ara: String,
    /// How far it has come.
    pub state: JobState,
    /// The operation it is at.
    pub stage: String,
    /// The operations it runs through.
    pub plan: Vec<String>,
    /// Which of them is next or at work.
    pub step: usize,
    /// Where the response goes.
    pub delivery: Delivery,
    /// When it came.
    pub intake: EpochMillis,
    /// What time it has.
    pub budget: QueryBudget,
    /// W3C trace context of the request; empty without one.
    pub traceparent: String,
    /// The lookup's deadline, once it is fixed.
    pub lookup_deadline: Option<Deadline>,
    /// When the lookup closed.
    pub lookup_closed: Option<EpochMillis>,
    /// Why an operation failed for good, where one did.
    pub failure: Option<String>,
    /// Size of the message between two operations, decoded, where one was handed on.
    pub message_bytes: Option<u64>,
    /// What goes with that message.
    pub message_note: Option<String>,
    /// What has become of the sub-queries.
    pub progress: Progress,
    /// When it ended.
    pub finished: Option<EpochMillis>,
    /// TRAPI `status` of the response, once there is one.
    pub status: Option<String>,
    /// In words, how it went.
    pub description: Option<String>,
    /// Why the response could not be delivered, where it could not.
    pub delivery_problem: Option<String>,
    /// What `/query` answers with.
    pub http_status: Option<u16>,
    /// Size of the response, decoded.
    pub response_bytes: Option<u64>,
}

/// What has become of a query's sub-queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many there are.
    pub sub_queries: u32,
    /// How many Retriever has accepted.
    pub accepted: u32,
    /// How many callbacks came and were kept.
    pub returned: u32,
    /// How many callbacks came and were unusable.
    pub failed: u32,
    /// How many are not waited for, as Retriever refused them or was not reached.
    pub removed: u32,
    /// How many are waited for.
    pub outstanding: u32,
    /// How many callbacks came after the lookup had closed.
    pub late: u32,
}

/// A step that this worker now owns.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The query.
    pub record: QueryRecord,
    /// Its request body as it came.
    pub body: Bytes,
}

impl Store {
    /// Makes `owner` the one worker that may change the query at the entry's step.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked, [`StateError::Record`] for a damaged record.
    pub async fn begin(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        now: EpochMillis,
    ) -> Result<Result<Begun, Standing>, StateError> {
        let answer: Vec<Value> = self
            .scripts
            .begin_step
            .key(keys::query(entry.query))
            .key(keys::body(entry.query))
            .arg(entry.step)
            .arg(owner.as_str())
            .arg(now.0)
            .run(&self.large, "begin the step")
            .await?;
        let unknown = || StateError::Answer { script: "begin_step" };
        let mut answer = answer.into_iter();
        let word: String = text(answer.next()).ok_or_else(unknown)?;
        if let Some(standing) = Standing::parse(&word) {
            return Ok(Err(standing));
        }
        let (Some(fields), Some(Value::BulkString(body))) = (answer.next(), answer.next()) else {
            return Err(unknown());
        };
        let fields = redis::from_redis_value(fields).map_err(|_| unknown())?;
        Ok(Ok(Begun { record: QueryRecord::read(entry.query, &fields)?, body: body.into() }))
    }

    /// What is known of a query; `None` for an unknown or expired id.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked, [`StateError::Record`] for a damaged record.
    pub async fn query(&self, id: QueryId) -> Result<Option<QueryRecord>, StateError> {
        let fields: HashMap<String, String> = redis::cmd("HGETALL")
            .arg(keys::query(id))
            .query_async(&mut self.small.clone())
            .await
            .action("read the query's record")?;
        if fields.is_empty() { Ok(None) } else { QueryRecord::read(id, &fields).map(Some) }
    }

    /// Ends a query that nobody waits for, and wakes whoever works on it. Returns whether it was open.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn cancel(&self, id: QueryId, reason: &str, now: EpochMillis) -> Result<bool, StateError> {
        let answer: String = self
            .scripts
            .cancel_query
            .key(keys::query(id))
            .key(keys::body(id))
            .key(keys::response(id))
            .key(keys::open(id.partition()))
            .arg(now.0)
            .arg(keys::returned_channel(id.partition()))
            .arg(id.to_string())
            .arg(reason)
            .run(&self.small, "cancel the query")
            .await?;
        Ok(answer == "ok")
    }
}

fn text(value: Option<Value>) -> Option<String> {
    value.and_then(|value| redis::from_redis_value(value).ok())
}

impl QueryRecord {
    fn read(id: QueryId, fields: &HashMap<String, String>) -> Result<Self, StateError> {
        let fields = Fields(fields);
        let client = match fields.optional("client_budget_ms")? {
            Some(ms) => ClientBudget::Limited {
                budget: Duration::from_millis(ms),
                named: fields.word("client_named") == Some("1"),
            },
            None => ClientBudget::NoLimit,
        };
        let instant = |name| Ok::<_, StateError>(fields.optional(name)?.map(EpochMillis));
        let callback = fields.word("callback");
        Ok(Self {
            id,
            ara: fields.required("ara")?.to_owned(),
            state: fields
                .word("state")
                .and_then(JobState::parse)
                .ok_or(StateError::Record { field: "state" })?,
            stage: fields.required("stage")?.to_owned(),
            plan: serde_json::from_str(fields.required("plan")?)
                .map_err(|_| StateError::Record { field: "plan" })?,
            step: fields.optional("step")?.ok_or(StateError::Record { field: "step" })?,
            delivery: callback.map_or(Delivery::Connection, |url| Delivery::Callback(url.to_owned())),
            intake: instant("intake_ms")?.ok_or(StateError::Record { field: "intake_ms" })?,
            budget: QueryBudget { client, deadline: instant("deadline_ms")?.map(Deadline::at) },
            traceparent: fields.word("traceparent").unwrap_or_default().to_owned(),
            lookup_deadline: instant("lookup_deadline_ms")?.map(Deadline::at),
            lookup_closed: instant("lookup_closed_ms")?,
            failure: fields.word("failure").map(str::to_owned),
            message_bytes: fields.optional("message_bytes")?,
            message_note: fields.word("message_note").map(str::to_owned),
            progress: Progress {
                sub_queries: fields.optional("sub_queries")?.unwrap_or_default(),
                accepted: fields.optional("accepted")?.unwrap_or_default(),
                returned: fields.optional("returned")?.unwrap_or_default(),
                failed: fields.optional("failed")?.unwrap_or_default(),
                removed: fields.optional("removed")?.unwrap_or_default(),
                outstanding: fields.optional("outstanding")?.unwrap_or_default(),
                late: fields.optional("late")?.unwrap_or_default(),
            },
            finished: instant("finished_ms")?,
            status: fields.word("status").map(str::to_owned),
            description: fields.word("description").map(str::to_owned),
            delivery_problem: fields.word("delivery_problem").map(str::to_owned),
            http_status: fields.optional("http_status")?,
            response_bytes: fields.optional("response_bytes")?,
        })
    }
}

/// Reads typed fields; an empty one counts as absent.
struct Fields<'a>(&'a HashMap<String, String>);

impl Fields<'_> {
    fn word(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn required(&self, field: &'static str) -> Result<&str, StateError> {
        self.word(field).ok_or(StateError::Record { field })
    }

    fn optional<T: std::str::FromStr>(&self, field: &'static str) -> Result<Option<T>, StateError> {
        self.word(field).map(|text| text.parse().map_err(|_| StateError::Record { field })).transpose()
    }
}
