//! From everything that is stored of a query to the text of its response, or to the message that the next
//! operation's process goes on with. No I/O: CPU work only.

use std::time::Instant;

use answers::merge::{Callback, Merged, merge, prune};
use answers::message::{Unreadable, parse, parse_message};
use answers::operations::REHYDRATE;
use answers::response::Envelope;
use answers::{Message, Note};
use budget::EpochMillis;
use meters::QueryKind;
use state::{Payload, PayloadError, QueryRecord};
use trapi::{Dialect, Invalid, LogEntry, LogLevel, Operation, Query, QueryGraph, Question};

use crate::bodies::decode_all;
use crate::ending::{Ending, Tally};
use crate::ingredients::{Composed, GivenUp, Ingredients, Outcome, SoFar, Source, Unfinished};
use crate::logs;
use crate::second_pass::{self, NotFilled};
use crate::workflow::{self, OperationError};

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
            let so_far = SoFar { foreign: logs, ..SoFar::of(tally) };
            go_on(ingredients, &query, message, so_far, notes)
        }
        Source::Intermediate { message, note } => {
            let bytes = message.decode()?;
            let so_far = SoFar::of(serde_json::from_str(&note)?);
            go_on(ingredients, &query, parse(std::str::from_utf8(&bytes)?)?, so_far, Vec::new())
        }
        Source::Client => {
            let mut message = parse(std::str::from_utf8(&ingredients.query)?)?;
            let notes = prune(&mut message).into_iter().collect();
            go_on(ingredients, &query, message, SoFar::of(Tally::of_the_client()), notes)
        }
        Source::SecondPass { message, answer, so_far } => {
            let answer = second_pass::decoded(answer, ingredients.max_answer_bytes);
            let mut message = parse_message(std::str::from_utf8(&message)?)?;
            let notes = second_pass::fill(&mut message, &answer).into_iter().collect();
            go_on(ingredients, &query, message, so_far, notes)
        }
    }
}

fn go_on(
    ingredients: &Ingredients,
    query: &Query,
    mut message: Message<'_>,
    mut so_far: SoFar,
    mut notes: Vec<Note>,
) -> Result<Outcome, Uncomposable> {
    let Ingredients { record, stretch, given_up, now, .. } = ingredients;
    let operations = workflow::operations_of(&record.plan, query);
    let failure = match given_up {
        Some(GivenUp::Operation(failure)) => Some(failure.as_str()),
        Some(GivenUp::SecondPass(_)) | None => None,
    };
    let mut dehydrated = None;
    if failure.is_none() {
        dehydrated = run_all(ingredients, query, &operations, &mut message, &mut notes)?;
    }
    so_far.own.extend(notes.into_iter().map(|note| {
        let code = Some(note.code.to_owned());
        LogEntry { code, ..logs::own(*now, note.level, note.message) }
    }));
    if let Some(step) = dehydrated {
        let message = second_pass::written(&message, query, ingredients.retriever_dialect)?;
        return Ok(Outcome::Dehydrated { message, step, so_far });
    }
    if stretch.is_last() || failure.is_some() {
        let operations: Vec<_> = operations.into_iter().map(|(_, operation)| operation).collect();
        return respond(ingredients, query, &mut message, so_far, failure, &operations)
            .map(Outcome::Response);
    }
    let mut text = b"{\"message\":".to_vec();
    message.write(&mut text)?;
    text.push(b'}');
    let SoFar { tally, foreign, own } = so_far;
    Ok(Outcome::Intermediate(Unfinished {
        message: Payload::compress(&text)?,
        note: serde_json::to_string(&tally)?,
        logs: foreign.into_iter().chain(own).collect(),
    }))
}

/// Runs the operations of the stretch up to a second pass that is needed; its step, where there is one.
fn run_all(
    ingredients: &Ingredients,
    query: &Query,
    operations: &[(usize, Operation)],
    message: &mut Message<'_>,
    notes: &mut Vec<Note>,
) -> Result<Option<usize>, OperationError> {
    let Ingredients { stretch, resources, given_up, .. } = ingredients;
    for (step, operation) in operations.iter().filter(|(step, _)| stretch.contains(*step)) {
        if operation.id != REHYDRATE {
            let started = Instant::now();
            let _span = tracing::info_span!("operation.run", otel.name = operation.id).entered();
            notes.extend(workflow::run(operation, message, resources)?);
            meters::stage_ended(&operation.id, started.elapsed());
            continue;
        }
        match (second_pass::is_needless(query, message), given_up) {
            (Some(told), _) => notes.extend(told),
            (None, Some(GivenUp::SecondPass(why))) => notes.push(NotFilled::GivenUp(why.clone()).note()),
            (None, _) => return Ok(Some(*step)),
        }
    }
    Ok(None)
}

fn respond(
    ingredients: &Ingredients,
    query: &Query,
    message: &mut Message<'_>,
    so_far: SoFar,
    failure: Option<&str>,
    operations: &[Operation],
) -> Result<Composed, Uncomposable> {
    message.keep_valid();
    let SoFar { tally, foreign, own: notes } = so_far;
    let Ingredients { record, now, dialect, .. } = ingredients;
    let results = message.result_count();
    let ending = tally.ending(results, failure.or(record.failure.as_deref()));
    let mut own = summary(&tally, &ending, *now);
    own.extend(notes);
    let told = logs::stored(&ingredients.logs).chain(foreign).chain(own.iter().cloned());
    let told = logs::arrange(told, query.log_level.unwrap_or(logs::DEFAULT_LEVEL));
    let envelope = Envelope {
        message,
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
