//! From everything that is stored of a query to the text of its response. No I/O: CPU work only.

use std::sync::Arc;

use answers::merge::{Callback, Merged, merge};
use answers::response::Envelope;
use budget::EpochMillis;
use literature::Omnicorp;
use runtime::Causes;
use state::{CallbackRecord, CallbackStatus, Payload, QueryRecord, StoredLog};
use trapi::{Dialect, Invalid, LogEntry, LogLevel, Query, QueryGraph};

use crate::ending::{Ending, Tally};
use crate::logs;
use crate::workflow::{self, OperationError};

/// Everything that a response is made from.
pub(crate) struct Ingredients {
    pub(crate) record: QueryRecord,
    pub(crate) query: Vec<u8>,
    /// One record per sub-query, and the payload of each that has returned.
    pub(crate) callbacks: Vec<(CallbackRecord, Option<Payload>)>,
    pub(crate) logs: Vec<StoredLog>,
    pub(crate) biolink_version: String,
    /// The dialect of a request that could be in either.
    pub(crate) dialect: Dialect,
    pub(crate) literature: Option<Arc<Omnicorp>>,
    pub(crate) now: EpochMillis,
    /// Why an operation was given up, where one was: the response is then made without the operations.
    pub(crate) failure: Option<String>,
}

/// A response.
pub(crate) struct Composed {
    pub(crate) body: Vec<u8>,
    pub(crate) ending: Ending,
    pub(crate) results: usize,
    pub(crate) logs: Vec<LogEntry>,
}

/// Why no response can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Uncomposable {
    #[error("the stored query cannot be read")]
    Query(#[from] Invalid),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error("the response cannot be written")]
    Write(#[from] std::io::Error),
}

/// Merges, runs the operations, and writes the response.
pub(crate) fn compose(ingredients: Ingredients) -> Result<Composed, Uncomposable> {
    let Ingredients {
        record,
        query,
        callbacks,
        logs: stored,
        biolink_version,
        dialect,
        literature,
        now,
        failure,
    } = ingredients;
    let query = Query::parse(&query)?;
    let question = query.query_graph.examine()?;
    let (records, bodies) = decode_all(callbacks);
    let graphs: Vec<QueryGraph> =
        bodies.iter().map(|body| QueryGraph::parse(&body.query_graph)).collect::<Result<_, _>>()?;
    let inputs: Vec<Callback<'_>> = bodies
        .iter()
        .zip(&graphs)
        .map(|(body, sent)| Callback { index: body.index, label: &body.label, sent, body: &body.text })
        .collect();
    let merged = merge(&record.ara, &query.query_graph, &question, &inputs);
    let tally = Tally::count(&records, &merged.outcomes);
    let failure = failure.as_deref().or(record.failure.as_deref());
    let operations = workflow::operations_of(&record.plan, &query);
    let Merged { mut message, logs: foreign, mut notes, .. } = merged;
    for operation in &operations {
        notes.extend(workflow::run(operation, &mut message, literature.as_deref())?);
    }
    let results = message.result_count();
    let ending = tally.ending(results, failure);

    let mut own = summary(&tally, &ending, now);
    own.extend(notes.into_iter().map(|note| {
        let code = Some(note.code.to_owned());
        LogEntry { code, ..logs::own(now, note.level, note.message) }
    }));
    let told = logs::stored(&stored).chain(foreign).chain(own.iter().cloned());
    let told = logs::arrange(told, query.log_level.unwrap_or(logs::DEFAULT_LEVEL));
    let envelope = Envelope {
        message: &message,
        query: &query,
        status: ending.status,
        description: &ending.description,
        logs: &told,
        workflow: &workflow::told(&query, &operations),
        schema_version: schema_version(query.dialect.unwrap_or(dialect)),
        biolink_version: &biolink_version,
        job_id: None,
    };
    let mut body = Vec::new();
    envelope.write(&mut body)?;
    Ok(Composed { body, ending, results, logs: own })
}

/// The version of TRAPI that a response in that dialect is written in.
fn schema_version(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::V1 => "1.6.0",
        Dialect::V2 => "2.0.0",
    }
}

/// What the query's log says at the end.
fn summary(tally: &Tally, ending: &Ending, now: EpochMillis) -> Vec<LogEntry> {
    let missing = tally.missing().map(|missing| logs::own(now, LogLevel::Warning, missing));
    let level = if ending.http_status == 200 { LogLevel::Info } else { LogLevel::Error };
    let end = logs::own(now, level, format!("Ended with {}: {}", ending.status, ending.description));
    missing.into_iter().chain([end]).collect()
}

/// A callback's body, ready to be read.
struct Decoded {
    index: u32,
    label: String,
    query_graph: String,
    text: String,
}

/// Decodes the payloads, on as many threads as there are processors. One that cannot be decoded is an
/// unusable callback, and costs nobody else.
fn decode_all(callbacks: Vec<(CallbackRecord, Option<Payload>)>) -> (Vec<CallbackRecord>, Vec<Decoded>) {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let numbered: Vec<_> = (0u32..).zip(callbacks).collect();
    let share = numbered.len().div_ceil(threads).max(1);
    let bytes: u64 =
        numbered.iter().filter_map(|(_, (_, payload))| Some(payload.as_ref()?.decoded_bytes)).sum();
    let mut records = Vec::with_capacity(numbered.len());
    let mut bodies = Vec::with_capacity(numbered.len());
    let mut take = |decoded: Vec<(CallbackRecord, Option<Decoded>)>| {
        for (record, body) in decoded {
            records.push(record);
            bodies.extend(body);
        }
    };
    if bytes < WORTH_A_THREAD_BYTES || threads == 1 {
        take(numbered.into_iter().map(decode).collect());
        return (records, bodies);
    }
    let mut numbered = numbered.into_iter();
    let shares: Vec<Vec<_>> = std::iter::from_fn(|| {
        let share: Vec<_> = numbered.by_ref().take(share).collect();
        (!share.is_empty()).then_some(share)
    })
    .collect();
    std::thread::scope(|scope| {
        let running: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(move || share.into_iter().map(decode).collect::<Vec<_>>()))
            .collect();
        for thread in running {
            match thread.join() {
                Ok(decoded) => take(decoded),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    (records, bodies)
}

/// Less than this is decoded faster than a thread is started.
const WORTH_A_THREAD_BYTES: u64 = 1 << 20;

fn decode(
    (index, (mut record, payload)): (u32, (CallbackRecord, Option<Payload>)),
) -> (CallbackRecord, Option<Decoded>) {
    let Some(payload) = payload else { return (record, None) };
    let text = payload
        .decode()
        .map_err(|error| Causes(&error).to_string())
        .and_then(|bytes| String::from_utf8(bytes.into_owned()).map_err(|error| error.to_string()));
    drop(payload);
    match text {
        Ok(text) => {
            let (label, query_graph) = (record.label.clone(), record.query_graph.clone());
            (record, Some(Decoded { index, label, query_graph, text }))
        }
        Err(reason) => {
            record.status = CallbackStatus::Failed;
            record.reason = Some(reason);
            (record, None)
        }
    }
}
