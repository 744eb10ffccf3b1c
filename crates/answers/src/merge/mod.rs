//! From all callbacks of a lookup to one message.
//!
//! The order of arrival does not matter: callbacks are put in an order of their own first, every union is a
//! set union, and the ids that are made here are derived from what they stand for. Callbacks are read in
//! parallel and borrowed from; names become numbers once, and no content is parsed that need not be.

mod callback;
mod collect;
pub(crate) mod ids;
mod inferred;
mod logs;
mod lookup;
mod outcome;
mod paths;
mod prune;
mod union;

use serde_json::value::RawValue;
use trapi::{LogEntry, LogLevel, QueryGraph, Question};

pub(crate) use collect::shared_list;
pub use outcome::{Failure, Outcome};
pub use prune::prune;
pub(crate) use union::Renamed;

use crate::{Message, Note};
use callback::Filtered;
use collect::Collected;

/// The answer to one sub-query.
#[derive(Clone, Copy, Debug)]
pub struct Callback<'a> {
    /// Number of the sub-query.
    pub index: u32,
    /// Label of the sub-query: [`crate::expand::DIRECT`] for the client's own graph.
    pub label: &'a str,
    /// The graph as it was sent.
    pub sent: &'a QueryGraph,
    /// The response, decoded.
    pub body: &'a str,
}

/// A merged message and what became of each callback.
#[derive(Debug)]
pub struct Merged<'a> {
    /// The message.
    pub message: Message<'a>,
    /// What became of each callback, in the order given.
    pub outcomes: Vec<Outcome>,
    /// What the callbacks' senders logged, in the order of the callbacks given.
    pub logs: Vec<LogEntry>,
    /// What the client should know about the merge.
    pub notes: Vec<Note>,
}

/// Merges the callbacks to a client's question.
pub fn merge<'a>(
    ara: &str,
    graph: &QueryGraph,
    question: &Question,
    callbacks: &[Callback<'a>],
) -> Merged<'a> {
    let creative = matches!(question, Question::Inferred(_));
    let parts = callback::read_all(callbacks, creative);
    let mut outcomes = Vec::with_capacity(parts.len());
    let mut logs = Vec::new();
    let mut usable = Vec::with_capacity(parts.len());
    let mut filtered = Filtered::default();
    let mut failures = Vec::new();
    for (part, callback) in parts.into_iter().zip(callbacks) {
        failures.extend(part.failure.map(|failure| Note {
            level: LogLevel::Warning,
            code: "AnswerWithFailure",
            message: format!("the answer to sub-query `{}` came with {failure}", callback.label),
        }));
        outcomes.push(part.outcome);
        logs.extend(part.logs);
        filtered.add(part.filtered);
        usable.extend(part.content.map(|content| (callback, content)));
    }
    // An order of their own, whatever the order of arrival and the numbering.
    usable.sort_by(|(one, _), (other, _)| place(one, creative).cmp(&place(other, creative)));

    let mut collected = Collected::new(ara, graph, question);
    for (callback, part) in usable {
        collected.add(callback.label, is_direct(callback, creative), part);
    }
    collected.note_renamed();
    collected.prune();
    match question {
        Question::Inferred(question) => inferred::combine(&mut collected, question),
        Question::Lookup => lookup::combine(&mut collected),
        Question::Pathfinder(question) => paths::combine(&mut collected, question),
    }
    let (message, mut notes) = collected.finish();
    notes.extend(filtered.note());
    notes.append(&mut failures);
    Merged { message, outcomes, logs, notes }
}

/// Whether a callback answers the client's own graph; where nothing is inferred, all do.
fn is_direct(callback: &Callback<'_>, creative: bool) -> bool {
    !creative || callback.label == crate::expand::DIRECT
}

fn place<'a>(callback: &Callback<'a>, creative: bool) -> (bool, &'a str, &'a str) {
    (!is_direct(callback, creative), callback.label, callback.body)
}

/// The source that this persona is.
pub(crate) fn infores(ara: &str) -> String {
    format!("infores:shepherd-{ara}")
}

/// The source that a persona is, as JSON.
pub(crate) fn own_resource(ara: &str) -> Option<Box<RawValue>> {
    to_raw(&infores(ara))
}

/// A value as JSON text; values written here cannot fail to be.
pub(crate) fn to_raw(value: &impl serde::Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}
