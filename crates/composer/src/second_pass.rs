//! The second pass: nodes and edges that came without their content are filled by Retriever.
//!
//! It is worth a try and never a query: whatever goes wrong, the message stays as it is and its client is told.

use std::io;

use answers::message::Unreadable;
use answers::operations::REHYDRATE;
use answers::rehydrate::Filled;
use answers::{Message, Note};
use budget::{Budgets, Clock, EpochMillis};
use bytes::Bytes;
use meters::{Label, Rehydration};
use retriever::{QueryError, RehydrationRequest, SubmissionMetadata, SyncAnswer, SyncQuery};
use runtime::{Causes, Startup, UnusableBody, WireEncoding, decode, usable_text};
use state::QueryRecord;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{Instrument, Span};
use trapi::{Dialect, LogLevel, Members, Query};

/// Makes second passes.
pub(crate) struct SecondPass {
    rehydrator: SyncQuery,
    budgets: Budgets,
    /// In which a message is sent.
    pub(crate) dialect: Dialect,
    /// Bounds the messages that are held while Retriever fills them. Half of a process' tasks at most, so that a slow
    /// second pass keeps no other query from being composed.
    slots: Semaphore,
}

/// A message that waits for its second pass.
pub(crate) struct Dehydrated {
    /// In the form in which messages are kept.
    pub(crate) message: Vec<u8>,
    /// In the dialect in which it is sent, where that is another one.
    pub(crate) sent: Option<Vec<u8>>,
    /// The client's.
    pub(crate) parameters: Members,
}

/// What came back, or why the message stays as it is.
pub(crate) type Answer = Result<SyncAnswer, NotFilled>;

/// Why nodes and edges stay without their content.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotFilled {
    #[error("too little time is left for it")]
    NoTime,
    #[error("too many messages are being filled")]
    TooMany,
    #[error("it was given up: {0}")]
    GivenUp(String),
    #[error("the request cannot be written")]
    Write(#[from] serde_json::Error),
    #[error("Retriever gave no answer")]
    Retriever(#[from] QueryError),
    #[error("the encoding `{0}` is not known")]
    Encoding(String),
    #[error(transparent)]
    Body(#[from] UnusableBody),
    #[error("the answer cannot be read")]
    Answer(#[from] Unreadable),
}

impl NotFilled {
    fn outcome(&self) -> Rehydration {
        match self {
            Self::NoTime | Self::TooMany | Self::GivenUp(_) | Self::Write(_) => Rehydration::NotTried,
            Self::Retriever(QueryError::NotReached { .. }) => Rehydration::Unreached,
            Self::Retriever(QueryError::Refused { .. }) => Rehydration::Refused,
            Self::Retriever(QueryError::TimedOut(_)) => Rehydration::Late,
            Self::Retriever(QueryError::Broken { .. } | QueryError::TooLarge { .. })
            | Self::Encoding(_)
            | Self::Body(_)
            | Self::Answer(_) => Rehydration::Unusable,
        }
    }

    /// Counts it, and tells the client.
    pub(crate) fn note(&self) -> Note {
        meters::rehydrated(self.outcome());
        Note {
            level: LogLevel::Warning,
            code: "RehydrationFailed",
            message: format!(
                "{REHYDRATE}: nodes and edges came without their content and stay so: {}",
                Causes(self)
            ),
        }
    }
}

impl SecondPass {
    pub(crate) fn new(startup: &Startup) -> Self {
        meters::rehydration_started();
        let settings = &startup.settings;
        let (http, url) = (startup.http.clone(), settings.kg_rehydrate_url.clone());
        Self {
            rehydrator: SyncQuery::new(http, url, settings.callback_max_request_bytes),
            budgets: settings.budgets,
            dialect: settings.retriever_trapi_version,
            slots: Semaphore::new((settings.task_limit / 2).clamp(1, Semaphore::MAX_PERMITS)),
        }
    }

    /// Has a message filled, inside what is left of its query's time.
    pub(crate) async fn ask(
        &self,
        record: &QueryRecord,
        dehydrated: &Dehydrated,
        clock: &impl Clock,
    ) -> Answer {
        let Ok(_slot) = self.slots.try_acquire() else { return Err(NotFilled::TooMany) };
        let span = tracing::info_span!(
            "retriever.rehydrate",
            otel.kind = "client",
            bytes = dehydrated.message.len(),
            outcome = tracing::field::Empty
        );
        let started = Instant::now();
        let answer = self.post(record, dehydrated, clock.now(), &span).instrument(span.clone()).await;
        meters::stage_ended(REHYDRATE, started.elapsed());
        let outcome = answer.as_ref().map_or_else(NotFilled::outcome, |_| Rehydration::Filled);
        span.record("outcome", outcome.as_str());
        answer
    }

    async fn post(
        &self,
        record: &QueryRecord,
        dehydrated: &Dehydrated,
        now: EpochMillis,
        span: &Span,
    ) -> Answer {
        let end = self.budgets.second_pass(record.intake, &record.budget, now).ok_or(NotFilled::NoTime)?;
        let timeout_seconds = self.budgets.retriever_timeout(end, now).ok_or(NotFilled::NoTime)?;
        let message = dehydrated.sent.as_ref().unwrap_or(&dehydrated.message);
        let request = RehydrationRequest { message, parameters: &dehydrated.parameters, timeout_seconds };
        let body = request.to_json()?;
        let metadata = SubmissionMetadata { traceparent: runtime::traceparent(span, &record.traceparent) };
        Ok(self.rehydrator.post(body, &metadata, end.remaining(now)).await?)
    }
}

/// Why a message needs no second pass that is in its plan, where that is so, and what its client is told.
pub(crate) fn is_needless(query: &Query, message: &Message<'_>) -> Option<Vec<Note>> {
    if message.edge_count() == 0 {
        return Some(Vec::new());
    }
    // who puts the operation into its own workflow wants it
    let asked = query.parameters.get("dehydrated").filter(|_| query.workflow.is_none())?;
    match asked.get() {
        // everything came with its content
        "false" => Some(Vec::new()),
        "true" => Some(vec![Note {
            level: LogLevel::Info,
            code: "RehydrationSkipped",
            message: format!(
                "{REHYDRATE}: nodes and edges stay without their content, as `dehydrated` asks for"
            ),
        }]),
        _ => None,
    }
}

/// A message as it is kept and sent while it is filled.
pub(crate) fn written(message: &Message<'_>, query: &Query, dialect: Dialect) -> io::Result<Dehydrated> {
    let written = |dialect| {
        let mut text = Vec::new();
        message.write_in(dialect, &mut text).map(|()| text)
    };
    // only this one can be read again without a loss
    let kept = Dialect::V1;
    let sent = if dialect == kept { None } else { Some(written(dialect)?) };
    Ok(Dehydrated { message: written(kept)?, sent, parameters: query.parameters.clone() })
}

/// The body of an answer, decoded into at most `limit` bytes.
pub(crate) fn decoded(answer: Answer, limit: usize) -> Result<Bytes, NotFilled> {
    let SyncAnswer { body, encoding } = answer?;
    let encoding = WireEncoding::parse(&encoding).ok_or(NotFilled::Encoding(encoding))?;
    Ok(decode(&body, encoding, limit)?)
}

/// Takes over what came, and tells the client what did not.
pub(crate) fn fill<'a>(message: &mut Message<'a>, answer: &'a Result<Bytes, NotFilled>) -> Option<Note> {
    let filled = match answer {
        Ok(body) => usable_text(body).map_err(NotFilled::from).and_then(|text| Ok(message.fill(text)?)),
        Err(error) => return Some(error.note()),
    };
    let Filled { nodes, of_nodes, edges, of_edges, other_statements } = match filled {
        Ok(filled) => filled,
        Err(error) => return Some(error.note()),
    };
    meters::rehydrated(Rehydration::Filled);
    ((nodes, edges) != (of_nodes, of_edges)).then(|| Note {
        level: LogLevel::Warning,
        code: "RehydrationIncomplete",
        message: format!(
            "{REHYDRATE}: {nodes} of {of_nodes} nodes and {edges} of {of_edges} edges have their content; \
             {other_statements} edges came back with another statement"
        ),
    })
}
