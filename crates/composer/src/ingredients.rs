//! What a response is made from, and what comes out.

use std::sync::Arc;

use budget::EpochMillis;
use state::{CallbackRecord, Payload, QueryRecord, StoredLog};
use trapi::{Dialect, LogEntry};

use crate::ending::{Ending, Tally};
use crate::resources::Resources;
use crate::second_pass::{Answer, Dehydrated};
use crate::workflow::Stretch;

/// Everything that a response is made from.
pub(crate) struct Ingredients {
    pub(crate) record: QueryRecord,
    pub(crate) query: Vec<u8>,
    pub(crate) source: Source,
    /// The operations to run; the last ones are followed by the response.
    pub(crate) stretch: Stretch,
    pub(crate) logs: Vec<StoredLog>,
    pub(crate) biolink_version: String,
    /// The dialect of a request that could be in either.
    pub(crate) dialect: Dialect,
    pub(crate) resources: Arc<Resources>,
    pub(crate) now: EpochMillis,
    /// What was given up, where something was.
    pub(crate) given_up: Option<GivenUp>,
    /// In which a message is sent to be filled.
    pub(crate) retriever_dialect: Dialect,
    /// Largest answer that is taken, decoded.
    pub(crate) max_answer_bytes: usize,
}

/// What was given up, and why.
#[derive(Clone, Debug)]
pub(crate) enum GivenUp {
    /// An operation: the response is made without any.
    Operation(String),
    /// A second pass: it costs only itself.
    SecondPass(String),
}

/// Where the message comes from.
pub(crate) enum Source {
    /// One record per sub-query, and the payload of each that has returned: they are merged.
    Callbacks(Vec<(CallbackRecord, Option<Payload>)>),
    /// An operation has left it, and a note of what the merge counted.
    Intermediate { message: Payload, note: String },
    /// The client has brought it.
    Client,
    /// It has been sent to be filled.
    SecondPass { message: Vec<u8>, answer: Answer, so_far: SoFar },
}

/// What is told about a message, but for the message itself.
pub(crate) struct SoFar {
    pub(crate) tally: Tally,
    /// What others have logged.
    pub(crate) foreign: Vec<LogEntry>,
    /// What its operations have to tell.
    pub(crate) own: Vec<LogEntry>,
}

/// What comes out.
pub(crate) enum Outcome {
    Response(Composed),
    Intermediate(Unfinished),
    /// Goes on once the message is filled.
    Dehydrated {
        message: Dehydrated,
        step: usize,
        so_far: SoFar,
    },
}

/// A response.
pub(crate) struct Composed {
    pub(crate) body: Vec<u8>,
    pub(crate) ending: Ending,
    pub(crate) results: usize,
    pub(crate) logs: Vec<LogEntry>,
}

/// A message that other operations follow.
pub(crate) struct Unfinished {
    pub(crate) message: Payload,
    pub(crate) note: String,
    pub(crate) logs: Vec<LogEntry>,
}

impl SoFar {
    pub(crate) fn of(tally: Tally) -> Self {
        Self { tally, foreign: Vec::new(), own: Vec::new() }
    }
}
