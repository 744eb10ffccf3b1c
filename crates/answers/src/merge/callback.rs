//! Reading callbacks, and what is filtered in each by itself.

use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::{HashMap, HashSet};
use trapi::{LogEntry, LogLevel, QEdge, QueryGraph};

use super::outcome::{Failure, Outcome};
use super::{Callback, is_direct, logs};
use crate::message::{Answer, BodyText, KeyId, NodeId, keep_usable};
use crate::operations::filter_kgraph_orphans;
use crate::{Message, Note};

/// A node that stands in one place of more results than this says little about any of them.
const MAX_RESULTS_PER_NODE: usize = 10;

/// Bodies smaller than this together are read faster by one thread.
const WORTH_THREADS: usize = 256 * 1024;

/// A callback that was read.
pub(super) struct Part<'a> {
    pub(super) outcome: Outcome,
    pub(super) logs: Vec<LogEntry>,
    pub(super) content: Option<Message<'a>>,
    pub(super) filtered: Filtered,
    /// The failure that it tells of although it has results.
    pub(super) failure: Option<String>,
}

/// How many results were left out, and why.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filtered {
    /// One node stands at two places of the query.
    pub(super) repeated: usize,
    /// A node stands in too many results.
    pub(super) crowded: usize,
}

impl Filtered {
    pub(super) fn add(&mut self, other: Self) {
        self.repeated += other.repeated;
        self.crowded += other.crowded;
    }

    /// What the client is told about it.
    pub(super) fn note(self) -> Option<Note> {
        let Self { repeated, crowded } = self;
        let message = format!(
            "left out {repeated} results in which one node stands at two places, and {crowded} around a node \
             that more than {MAX_RESULTS_PER_NODE} results of a sub-query share"
        );
        let note = Note { level: LogLevel::Info, code: "ResultsFiltered", message };
        (repeated + crowded > 0).then_some(note)
    }
}

/// Reads all callbacks, on all cores where it is worth it; parts come in the order of the callbacks.
pub(super) fn read_all<'a>(callbacks: &[Callback<'a>], creative: bool) -> Vec<Part<'a>> {
    let size: usize = callbacks.iter().map(|callback| callback.body.len()).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(callbacks.len());
    if threads < 2 || size < WORTH_THREADS {
        return callbacks.iter().map(|callback| read(callback, creative)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut parts = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(callback) = callbacks.get(position) else { return parts };
            parts.push((position, read(callback, creative)));
        }
    };
    let mut parts: Vec<(usize, Part<'a>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut parts = work();
        for other in others {
            match other.join() {
                Ok(more) => parts.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    });
    parts.sort_unstable_by_key(|(position, _)| *position);
    parts.into_iter().map(|(_, part)| part).collect()
}

fn read<'a>(callback: &Callback<'a>, creative: bool) -> Part<'a> {
    let body: BodyText<'a> = match serde_json::from_str(callback.body) {
        Ok(body) => body,
        Err(error) => return failed(Failure::Unreadable(error.to_string()), Vec::new()),
    };
    let logs = logs::read(body.logs);
    let status = body.status.as_deref().unwrap_or_default();
    let Some(message) = body.message else {
        if is_not_traversable(status) {
            return without_content(Outcome::NotTraversable, logs);
        }
        return failed(Failure::NoMessage { status: shown(status) }, logs);
    };
    let mut message = message.into_message();
    let results = message.results.len();
    if results == 0 && is_not_traversable(status) {
        return without_content(Outcome::NotTraversable, logs);
    }
    if results == 0 && is_failure(status) {
        let description = shown(body.description.as_deref().unwrap_or_default());
        return failed(Failure::Reported { status: shown(status), description }, logs);
    }
    for (_, edge) in message.edges.iter_mut() {
        keep_usable(&mut edge.sources);
    }
    let mut filtered = Filtered { repeated: drop_repeated_nodes(&mut message, callback.sent), crowded: 0 };
    if !is_direct(callback, creative) {
        filtered.crowded = drop_promiscuous(&mut message, callback.sent);
    }
    let failure = is_failure(status).then(|| {
        let description = shown(body.description.as_deref().unwrap_or_default());
        format!("status {}: {description}", shown(status))
    });
    Part { outcome: Outcome::Answered { results }, logs, content: Some(message), filtered, failure }
}

fn without_content<'a>(outcome: Outcome, logs: Vec<LogEntry>) -> Part<'a> {
    Part { outcome, logs, content: None, filtered: Filtered::default(), failure: None }
}

fn failed<'a>(reason: Failure, logs: Vec<LogEntry>) -> Part<'a> {
    without_content(Outcome::Failed { reason }, logs)
}

fn is_not_traversable(status: &str) -> bool {
    status.eq_ignore_ascii_case("QueryNotTraversable")
}

fn is_failure(status: &str) -> bool {
    let failures = ["Failed", "Failure", "Error", "KPsNotAvailable", "Timeout"];
    failures.iter().any(|failure| status.eq_ignore_ascii_case(failure))
}

/// A foreign text, short enough to be logged.
fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Drops results in which two keys bind the same nodes: such a path runs back on itself. What only they
/// reached goes with them. Two keys that both are pinned bind what the client named at both.
fn drop_repeated_nodes(message: &mut Message<'_>, sent: &QueryGraph) -> usize {
    let pinned = sent.nodes.iter().filter(|(_, node)| node.is_pinned());
    let pinned: Vec<KeyId> = pinned.filter_map(|(key, _)| message.keys.find(key)).collect();
    let before = message.results.len();
    message.results.retain(|answer| !repeats_nodes(answer, &pinned));
    let dropped = before - message.results.len();
    if dropped > 0 {
        filter_kgraph_orphans(message);
    }
    dropped
}

fn repeats_nodes(answer: &Answer<'_>, pinned: &[KeyId]) -> bool {
    let mut sets: Vec<(Vec<NodeId>, bool)> = Vec::with_capacity(answer.node_bindings.len());
    for (key, list) in &answer.node_bindings {
        let mut set: Vec<NodeId> = list.iter().map(|binding| binding.id).collect();
        set.sort_unstable();
        set.dedup();
        if !set.is_empty() {
            sets.push((set, pinned.contains(key)));
        }
    }
    sets.sort_unstable();
    sets.windows(2).any(|pair| match pair {
        [(one, one_pinned), (other, other_pinned)] => one == other && !(*one_pinned && *other_pinned),
        _ => false,
    })
}

/// Drops results around a node that stands in the same place of too many of them, where the sent graph
/// makes that likely: from three edges on, at a node where two edges meet that ask for the same.
///
/// The pinned node is in every result and says nothing by it.
fn drop_promiscuous(message: &mut Message<'_>, sent: &QueryGraph) -> usize {
    let centres: Vec<KeyId> = centres(sent).into_iter().filter_map(|key| message.keys.find(key)).collect();
    let mut counts: HashMap<(KeyId, NodeId), usize> = HashMap::default();
    for &key in &centres {
        for answer in &message.results {
            let nodes: HashSet<NodeId> = bound(answer, key).collect();
            for node in nodes {
                *counts.entry((key, node)).or_default() += 1;
            }
        }
    }
    let is_rare = |key, node| counts.get(&(key, node)).is_none_or(|&count| count <= MAX_RESULTS_PER_NODE);
    let before = message.results.len();
    message
        .results
        .retain(|answer| centres.iter().all(|&key| bound(answer, key).all(|node| is_rare(key, node))));
    before - message.results.len()
}

fn bound<'m>(answer: &'m Answer<'_>, key: KeyId) -> impl Iterator<Item = NodeId> + 'm {
    let lists = answer.node_bindings.iter().filter(move |(known, _)| *known == key);
    lists.flat_map(|(_, list)| list).map(|binding| binding.id)
}

fn centres(sent: &QueryGraph) -> Vec<&str> {
    if sent.edges.len() < 3 {
        return Vec::new();
    }
    let mut ends: HashMap<(bool, &str, Vec<&str>), usize> = HashMap::default();
    for edge in sent.edges.values() {
        for (is_subject, node) in [(true, &edge.subject), (false, &edge.object)] {
            *ends.entry((is_subject, node, predicates(edge))).or_default() += 1;
        }
    }
    let shared = ends.into_iter().filter(|(_, count)| *count > 1).map(|((_, node, _), _)| node);
    let mut nodes: Vec<&str> =
        shared.filter(|node| !sent.nodes.get(*node).is_some_and(trapi::QNode::is_pinned)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn predicates(edge: &QEdge) -> Vec<&str> {
    let mut predicates: Vec<&str> = edge.predicates.iter().flatten().map(String::as_str).collect();
    predicates.sort_unstable();
    predicates
}
