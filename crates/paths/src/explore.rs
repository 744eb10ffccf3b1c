//! Asking for neighbours: those of the ends, then those of what is kept, the cheapest first.

use std::collections::BTreeMap;
use std::pin::pin;

use foldhash::{HashMap, HashSet};
use futures_util::future::{Either, select};
use futures_util::stream::{self, StreamExt};

use crate::cost::Cost;
use crate::found::{Found, Gathered};
use crate::graph::Graph;
use crate::join::cheapest;
use crate::keep::{Kept, keep};
use crate::ports::{Hints, Neighbours};
use crate::question::{Blocked, Limits, Question};
use crate::scene::{Distances, Scene};

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All there was to ask was asked.
    Complete,
    /// It was told to stop, and returns the best of what was known by then.
    Stopped,
}

/// What is known so far.
pub(crate) struct Explored<C, E> {
    /// What came of each question, by its place in the order of asking.
    pub(crate) answers: BTreeMap<usize, Result<Kept<C>, E>>,
    /// How many questions there were to ask.
    pub(crate) batches: usize,
    /// How many nodes were left out for [`Limits::max_asked`].
    pub(crate) not_asked: usize,
}

/// Finds the best paths that `question` asks for, in the graph that `neighbours` tells of.
///
/// When `stop` ends, the search ends with the best of what it knows. Its own work between two answers and after the
/// last is not interrupted; it is bounded by what an answer holds and by K². It must not be dropped to end it early:
/// what it knows would be lost.
pub async fn search<P: Neighbours, H: Hints>(
    question: &Question,
    blocked: &Blocked,
    limits: &Limits,
    neighbours: &P,
    hints: &H,
    stop: impl Future<Output = ()>,
) -> Found<P::Content, P::Error> {
    let mut explored = Explored { answers: BTreeMap::new(), batches: 0, not_asked: 0 };
    let ended = {
        let exploring = explore(question, blocked, limits, neighbours, hints, &mut explored);
        match select(pin!(stop), pin!(exploring)).await {
            Either::Left(_) => Ended::Stopped,
            Either::Right(_) => Ended::Complete,
        }
    };
    let graph = Graph::of(question, limits, explored.answers.values().flatten());
    let paths = cheapest(&graph, question, limits.max_paths);
    let gathered = Gathered::of(&graph, &paths);
    drop(graph);
    Found::new(gathered, ended, explored)
}

async fn explore<P: Neighbours, H: Hints>(
    question: &Question,
    blocked: &Blocked,
    limits: &Limits,
    neighbours: &P,
    hints: &H,
    explored: &mut Explored<P::Content, P::Error>,
) {
    let distances = Distances::of(question, hints).await;
    let mut scene = Scene { question, blocked, limits, distances, near_ends: HashSet::default() };
    let pins = question.pins();
    let room = limits.max_asked.saturating_sub(pins.len());
    ask(&scene, neighbours, hints, pins, explored).await;
    let mut next = explored.cheapest_first(question);
    scene.near_ends.extend(next.iter().cloned());
    explored.not_asked = next.len().saturating_sub(room);
    next.truncate(room);
    ask(&scene, neighbours, hints, next, explored).await;
}

/// Asks about `nodes`, in batches, some of them at once.
async fn ask<P: Neighbours, H: Hints>(
    scene: &Scene<'_>,
    neighbours: &P,
    hints: &H,
    nodes: Vec<String>,
    explored: &mut Explored<P::Content, P::Error>,
) {
    let batches = nodes.chunks(scene.limits.ids_per_batch.get());
    let first = explored.batches;
    explored.batches += batches.len();
    // all made before the first runs: a stream that made them as it goes could not be sent to another thread
    let asking: Vec<_> =
        batches.zip(first..).map(|(ids, place)| about(scene, neighbours, hints, ids, place)).collect();
    let mut asking = pin!(stream::iter(asking).buffer_unordered(scene.limits.batches_in_flight.get()));
    while let Some((place, kept)) = asking.next().await {
        explored.answers.insert(place, kept);
    }
}

/// Asks about the nodes of one batch.
async fn about<P: Neighbours, H: Hints>(
    scene: &Scene<'_>,
    neighbours: &P,
    hints: &H,
    ids: &[String],
    place: usize,
) -> (usize, Result<Kept<P::Content>, P::Error>) {
    let kept = match neighbours.neighbours(ids).await {
        Ok(answer) => Ok(keep(scene, hints, ids, answer).await),
        Err(error) => Err(error),
    };
    (place, kept)
}

impl<C, E> Explored<C, E> {
    /// The nodes that answers keep and nobody asked about yet, the cheapest to reach first.
    fn cheapest_first(&self, question: &Question) -> Vec<String> {
        let mut reached: HashMap<&str, Cost> = HashMap::default();
        let asked = self.answers.values().flatten().flat_map(|kept| &kept.asked);
        for hop in asked.flat_map(|asked| &asked.hops).filter(|hop| !question.is_pinned(&hop.to)) {
            let known = reached.entry(&hop.to).or_insert(hop.cost);
            *known = hop.cost.min(*known);
        }
        let mut reached: Vec<(Cost, &str)> = reached.into_iter().map(|(id, cost)| (cost, id)).collect();
        reached.sort_unstable();
        reached.into_iter().map(|(_, id)| id.to_owned()).collect()
    }
}
