//! The neighbourhood of a set, hop by hop.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use answers::message;
use answers::set_input::{HOPS, MAX_IDS, best_neighbours, hop, respond};
use budget::Deadline;
use futures_util::{StreamExt, stream};
use lookup::{AskError, Assignment, WorkError};
use retriever::SyncQuery;
use runtime::{Causes, WireEncoding, body_work};
use trapi::{LogEntry, LogLevel, QueryGraph, SetInput};

use crate::ARA;

/// How many batches of one set are asked for at once.
const AT_ONCE: usize = 4;

/// A question about a set, to be searched for.
pub(crate) struct Search {
    pub(crate) retriever: SyncQuery,
    pub(crate) graph: QueryGraph,
    pub(crate) set: SetInput,
}

/// One hop: what was asked for, and what came.
#[derive(Clone, Default)]
struct Hop {
    asked: Vec<String>,
    responses: Vec<String>,
}

impl Hop {
    fn texts(&self) -> Vec<&str> {
        self.responses.iter().map(String::as_str).collect()
    }

    fn bytes(&self) -> usize {
        self.responses.iter().map(String::len).sum()
    }
}

/// Why a batch gave nothing.
enum Lost {
    Late,
    Failed(String),
}

impl From<AskError> for Lost {
    fn from(error: AskError) -> Self {
        if error.is_late() { Self::Late } else { Self::Failed(Causes(&error).to_string()) }
    }
}

impl Search {
    /// Looks up the hops and makes the answer from what came in time. Without the first hop there is none;
    /// without a later one the answer rests on those before it.
    pub(crate) async fn run(self, assignment: Assignment) -> Result<Vec<u8>, WorkError> {
        let mut hops: Vec<Hop> = Vec::new();
        let mut logs = Vec::new();
        let mut known: HashSet<String> = HashSet::new();
        let mut asked = self.set.members.clone();
        // what reading the hops before took: the answer takes all of it once more
        let mut reading = Duration::ZERO;
        for nth in 0..HOPS {
            known.extend(asked.iter().cloned());
            let end = end_of_hop(&assignment, nth, reading);
            let (hop, lost) = self.look_up(&assignment, nth, std::mem::take(&mut asked), end).await;
            logs.extend(told(&assignment, nth, hop.responses.len() + lost.len(), &lost));
            if hop.responses.is_empty() {
                match (hops.is_empty(), lost.into_iter().next()) {
                    (true, Some(Lost::Failed(reason))) => return Err(WorkError::Failed(reason)),
                    (true, _) => return Err(WorkError::Late),
                    (false, _) => break,
                }
            }
            hops.push(hop.clone());
            if nth + 1 == HOPS {
                break;
            }
            let started = Instant::now();
            let next = body_work(hop.bytes(), WireEncoding::Identity, move || {
                best_neighbours(&hop.texts(), &hop.asked)
            });
            // what came has been read once, so it is TRAPI
            asked = next.await.and_then(Result::ok).unwrap_or_default();
            reading += started.elapsed();
            asked.retain(|id| !known.contains(id));
            if asked.is_empty() {
                break;
            }
        }
        self.respond(assignment, hops, logs).await
    }

    async fn respond(
        self,
        assignment: Assignment,
        hops: Vec<Hop>,
        logs: Vec<LogEntry>,
    ) -> Result<Vec<u8>, WorkError> {
        let bytes = hops.iter().map(Hop::bytes).sum();
        let body = body_work(bytes, WireEncoding::Identity, move || {
            let hops: Vec<(Vec<&str>, &[String])> =
                hops.iter().map(|hop| (hop.texts(), hop.asked.as_slice())).collect();
            let tell = |found: String| assignment.note(LogLevel::Info, found);
            respond(ARA, &self.graph, &self.set, &hops, logs, tell)
        });
        match body.await {
            Some(Ok(body)) => Ok(body),
            Some(Err(error)) => Err(WorkError::Failed(Causes(&error).to_string())),
            None => Err(WorkError::Failed("the scoring did not end".to_owned())),
        }
    }

    /// Asks for one hop in batches; also why batches gave nothing.
    async fn look_up(
        &self,
        assignment: &Assignment,
        nth: usize,
        asked: Vec<String>,
        end: Deadline,
    ) -> (Hop, Vec<Lost>) {
        let graphs: Vec<QueryGraph> = asked.chunks(MAX_IDS).map(|ids| hop(ids, nth)).collect();
        let answers = stream::iter(graphs)
            .map(|graph| async move { self.ask(assignment, &graph, end).await })
            .buffered(AT_ONCE);
        let (mut responses, mut lost) = (Vec::new(), Vec::new());
        for answer in answers.collect::<Vec<_>>().await {
            match answer {
                Ok(response) => responses.push(response),
                Err(why) => lost.push(why),
            }
        }
        (Hop { asked, responses }, lost)
    }

    /// The text of one response, which has been read once.
    async fn ask(&self, assignment: &Assignment, graph: &QueryGraph, end: Deadline) -> Result<String, Lost> {
        let body = assignment.ask(&self.retriever, graph, end).await?;
        let read = body_work(body.len(), WireEncoding::Identity, move || {
            let text = String::from_utf8(body.into()).map_err(|_| "it is not UTF-8".to_owned())?;
            message::parse(&text).map_err(|error| Causes(&error).to_string())?;
            Ok::<_, String>(text)
        });
        let unusable = |why: String| Lost::Failed(format!("Retriever's answer is of no use: {why}"));
        read.await.ok_or(Lost::Late)?.map_err(unusable)
    }
}

/// Each hop but the last has half of the time that is left, and the last leaves enough for the answer: three times what
/// reading took so far, as it is read again with what comes.
fn end_of_hop(assignment: &Assignment, nth: usize, reading: Duration) -> Deadline {
    if nth + 1 == HOPS {
        return assignment.answer_by().earlier_by(reading * 3);
    }
    Deadline::after(assignment.clock().now(), assignment.remaining() / 2)
}

/// What the client is told of batches that gave nothing.
fn told(assignment: &Assignment, nth: usize, batches: usize, lost: &[Lost]) -> Option<LogEntry> {
    let reason = match lost.first()? {
        Lost::Late => "no answer in time",
        Lost::Failed(reason) => reason,
    };
    let (count, hop) = (lost.len(), nth + 1);
    let message = format!("hop {hop} around the set: {count} of {batches} batches gave no answer: {reason}");
    Some(assignment.note(LogLevel::Warning, message))
}
