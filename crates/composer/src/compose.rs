//! From everything that is stored of a query to the text of its response, or to the message that the next
//! operation's process goes on with. No I/O: CPU work only.

use std::sync::Arc;
use std::time::Instant;

use answers::merge::{Callback, Merged, merge, prune};
use answers::message::{Unreadable, parse};
use answers::response::Envelope;
use answers::{Message, Note};
use budget::EpochMillis;
use literature::Omnicorp;
use meters::QueryKind;
use state::{CallbackRecord, Payload, PayloadError, QueryRecord, StoredLog};
use trapi::{Dialect, Invalid, LogEntry, LogLevel, Query, QueryGraph, Question};

use crate::bodies::decode_all;
use crate::ending::{Ending, Tally};
use crate::logs;
use crate::workflow::{self, OperationError, Stretch};

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
    pub(crate) literature: Option<Arc<Omnicorp>>,
    pub(crate) now: EpochMillis,
    /// Why an operation was given up, where one was: the response is then made without any.
    pub(crate) failure: Option<String>,
}

/// Where the message comes from.
pub(crate) enum Source {
    /// One record per sub-query, and the payload of each that has returned: they are merged.
    Callbacks(Vec<(CallbackRecord, Option<Payload>)>),
    /// An operation has left it, and a note of what the merge counted.
    Intermediate { message: Payload, note: String },
    /// The client has brought it.
    Client,
}

/// What comes out.
pub(crate) enum Outcome {
    Response(Composed),
    Intermediate(Unfinished),
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

/// Why no response can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Uncomposable {
    #[error("the stored query cannot be read")]
    Query(#[from] Invalid),
    #[error("the stored message cannot be decoded")]
    Payload(#[from] PayloadError),
    #[error("the stored message is no text")]
    NotUtf8(#[from] std::str::Utf8Error),
    #[error("the message cannot be read")]
    Message(#[from] Unreadable),
    #[error("what goes with the stored message cannot be read or written")]
    Note(#[from] serde_json::Error),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error("the response cannot be written")]
    Write(#[from] std::io::Error),
}

/// Gets the message, runs the operations, and writes what comes out.
pub(crate) fn compose(ingredients: &mut Ingredients) -> Result<Outcome, Uncomposable> {
    let query = Query::parse(&ingredients.query)?;
    match std::mem::replace(&mut ingredients.source, Source::Client) {
        Source::Callbacks(callbacks) => {
            let question = query.query_graph.examine()?;
            let started = Instant::now();
            let _merging =
                tracing::info_span!("operation.run", otel.name = "merge", callbacks = callbacks.len())
                    .entered();
            let (records, bodies) = decode_all(callbacks);
            let graphs: Vec<QueryGraph> =
                bodies.iter().map(|body| QueryGraph::parse(&body.query_graph)).collect::<Result<_, _>>()?;
            let inputs: Vec<Callback<'_>> = bodies
                .iter()
                .zip(&graphs)
                .map(|(body, sent)| Callback {
                    index: body.index,
                    label: &body.label,
                    sent,
                    body: &body.text,
                })
                .collect();
            let Merged { message, outcomes, logs, notes } =
                merge(&ingredients.record.ara, &query.query_graph, &question, &inputs);
            let tally = Tally::count(&records, &outcomes);
            let took = started.elapsed();
            meters::merged(bodies.iter().map(|body| body.text.len() as u64).sum(), took);
            meters::stage_ended("merge", took);
            tally.count_missing(&ingredients.record.ara);
            go_on(ingredients, &query, Gathered { message, tally, foreign: logs, notes })
        }
        Source::Intermediate { message, note } => {
            let bytes = message.decode()?;
            let gathered = Gathered::of(parse(std::str::from_utf8(&bytes)?)?, serde_json::from_str(&note)?);
            go_on(ingredients, &query, gathered)
        }
        Source::Client => {
            let mut message = parse(std::str::from_utf8(&ingredients.query)?)?;
            let notes = prune(&mut message).into_iter().collect();
            go_on(ingredients, &query, Gathered { notes, ..Gathered::of(message, Tally::of_the_client()) })
        }
    }
}

/// The message at hand and what is told about it.
struct Gathered<'a> {
    message: Message<'a>,
    tally: Tally,
    foreign: Vec<LogEntry>,
    notes: Vec<Note>,
}

impl<'a> Gathered<'a> {
    fn of(message: Message<'a>, tally: Tally) -> Self {
        Self { message, tally, foreign: Vec::new(), notes: Vec::new() }
    }
}

fn go_on(
    ingredients: &Ingredients,
    query: &Query,
    mut gathered: Gathered<'_>,
) -> Result<Outcome, Uncomposable> {
    let Ingredients { record, stretch, literature, failure, now, .. } = ingredients;
    let operations = workflow::operations_of(&record.plan, query);
    if failure.is_none() {
        for (_, operation) in operations.iter().filter(|(step, _)| stretch.contains(*step)) {
            let started = Instant::now();
            let _span = tracing::info_span!("operation.run", otel.name = operation.id).entered();
            gathered.notes.extend(workflow::run(operation, &mut gathered.message, literature.as_deref())?);
            meters::stage_ended(&operation.id, started.elapsed());
        }
    }
    let notes = std::mem::take(&mut gathered.notes).into_iter().map(|note| {
        let code = Some(note.code.to_owned());
        LogEntry { code, ..logs::own(*now, note.level, note.message) }
    });
    let notes: Vec<LogEntry> = notes.collect();
    if stretch.is_last() || failure.is_some() {
        let operations: Vec<_> = operations.into_iter().map(|(_, operation)| operation).collect();
        return respond(ingredients, query, gathered, notes, &operations).map(Outcome::Response);
    }
    let mut text = b"{\"message\":".to_vec();
    gathered.message.write(&mut text)?;
    text.push(b'}');
    Ok(Outcome::Intermediate(Unfinished {
        message: Payload::compress(&text)?,
        note: serde_json::to_string(&gathered.tally)?,
        logs: gathered.foreign.into_iter().chain(notes).collect(),
    }))
}

fn respond(
    ingredients: &Ingredients,
    query: &Query,
    gathered: Gathered<'_>,
    notes: Vec<LogEntry>,
    operations: &[trapi::Operation],
) -> Result<Composed, Uncomposable> {
    let Gathered { message, tally, foreign, .. } = gathered;
    let Ingredients { record, now, dialect, .. } = ingredients;
    let results = message.result_count();
    let failure = ingredients.failure.as_deref().or(record.failure.as_deref());
    let ending = tally.ending(results, failure);
    let mut own = summary(&tally, &ending, *now);
    own.extend(notes);
    let told = logs::stored(&ingredients.logs).chain(foreign).chain(own.iter().cloned());
    let told = logs::arrange(told, query.log_level.unwrap_or(logs::DEFAULT_LEVEL));
    let envelope = Envelope {
        message: &message,
        query,
        status: ending.status,
        description: &ending.description,
        logs: &told,
        workflow: &workflow::told(query, operations),
        schema_version: schema_version(query.dialect.unwrap_or(*dialect)),
        biolink_version: &ingredients.biolink_version,
        job_id: None,
    };
    let mut body = Vec::new();
    envelope.write(&mut body)?;
    meters::query_finished(&record.ara, kind(record, query), ending.status);
    meters::body(meters::BodyKind::Response, body.len() as u64);
    Ok(Composed { body, ending, results, logs: own })
}

/// What the query asked for.
fn kind(record: &QueryRecord, query: &Query) -> QueryKind {
    match query.query_graph.examine() {
        _ if !record.plan.iter().any(|id| id == "merge") => QueryKind::None,
        Ok(Question::Inferred(_)) => QueryKind::Inferred,
        Ok(Question::Pathfinder(_)) => QueryKind::Pathfinder,
        Ok(Question::Lookup) | Err(_) => QueryKind::Lookup,
    }
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
