//! `aragorn.score`: how well what a result rests on connects its ends.
//!
//! Every analysis is a circuit. Its points are the keys of the query graph and the nodes of its support
//! graphs, its wires the edges, each conducting as well as its evidence is good. The score is
//! exp(−resistance) between the ends of the query graph.

mod circuit;
mod evidence;
mod profile;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::HashMap;
use trapi::{LogLevel, QueryGraph};

pub use profile::{Profile, Property};

use super::{Order, sort_results_score};
use crate::message::{Analysis, Answer, EdgeId, Index, KeyId, NodeId, Score};
use crate::{Message, Note};
use circuit::Circuit;

/// The weight of a query edge for being asked for.
const ASKED: f64 = 1e-3;

/// Query graphs, or results, with more nodes or edges than this are not scored.
const MAX_SHAPE: usize = 256;

/// So many results are worth a thread of their own.
const WORTH_A_THREAD: usize = 64;

/// Scores all analyses and puts the best results first. A result that cannot be scored has no score, and
/// the notes say so.
pub fn aragorn_score(message: &mut Message<'_>, profile: Profile) -> Vec<Note> {
    let shape = Shape::of(message);
    let scores = score_all(message, &shape, profile);
    let mut without = 0usize;
    for (answer, scores) in message.results.iter_mut().zip(scores) {
        without += usize::from(scores.iter().all(Option::is_none));
        for (analysis, score) in answer.analyses.iter_mut().zip(scores) {
            analysis.score = score.and_then(Score::new);
        }
    }
    sort_results_score(message, Order::Descending);
    let note = (without > 0).then(|| Note {
        level: LogLevel::Warning,
        code: "ResultsNotScored",
        message: format!("{without} results could not be scored"),
    });
    note.into_iter().collect()
}

/// One list of scores per result.
fn score_all(message: &Message<'_>, shape: &Shape, profile: Profile) -> Vec<Vec<Option<f64>>> {
    let known = (0..message.edges.mentioned()).map(|_| OnceLock::new()).collect();
    let scorer = Scorer { message, shape, profile, known };
    share_work(&message.results, |answer| scorer.answer(answer))
}

/// Works something out for every result, on all cores.
pub(super) fn share_work<'m, 'a, T: Send>(
    results: &'m [Answer<'a>],
    work: impl Fn(&'m Answer<'a>) -> T + Sync,
) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = results.len().div_ceil(cores).max(WORTH_A_THREAD);
    let work = &work;
    std::thread::scope(|scope| {
        let mut shares = results.chunks(share);
        let own = shares.next().unwrap_or_default();
        let others: Vec<_> =
            shares.map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<_>>())).collect();
        let mut done: Vec<T> = own.iter().map(work).collect();
        for other in others {
            match other.join() {
                Ok(share) => done.extend(share),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// What of the query graph matters to all results.
struct Shape {
    /// Pairs of keys between which resistance is measured.
    ends: Vec<(KeyId, KeyId)>,
    /// Pairs of keys that a query edge joins.
    asked: BTreeSet<(KeyId, KeyId)>,
}

impl Shape {
    fn of(message: &mut Message<'_>) -> Self {
        let graph = std::mem::take(&mut message.query_graph);
        let mut key = |name: &str| message.keys.intern(name.to_owned().into());
        let ends = ends(&graph).into_iter().map(|(one, other)| (key(one), key(other))).collect();
        let asked = graph.edges.values().map(|edge| {
            let (one, other) = (key(&edge.subject), key(&edge.object));
            (one.min(other), one.max(other))
        });
        let asked = asked.collect();
        message.query_graph = graph;
        Self { ends, asked }
    }
}

/// The nodes with the fewest edges, two at least, in pairs.
fn ends(graph: &QueryGraph) -> Vec<(&str, &str)> {
    if graph.nodes.len() > MAX_SHAPE || graph.edges.len() > MAX_SHAPE {
        return Vec::new();
    }
    let joined: BTreeSet<(&str, &str)> =
        graph.edges.values().map(|edge| (edge.subject.as_str(), edge.object.as_str())).collect();
    let degree = |node: &str| {
        joined
            .iter()
            .map(|(one, other)| usize::from(*one == node) + usize::from(*other == node))
            .sum::<usize>()
    };
    let mut nodes: Vec<(usize, &str)> = graph
        .nodes
        .keys()
        .map(|node| (degree(node), node.as_str()))
        .filter(|(degree, _)| *degree > 0)
        .collect();
    nodes.sort_by_key(|(degree, _)| *degree);
    let most = nodes.get(1).map_or(0, |(degree, _)| *degree);
    nodes.retain(|(degree, _)| *degree <= most);
    let pair = |place: usize| nodes.iter().skip(place + 1);
    nodes
        .iter()
        .enumerate()
        .flat_map(|(place, (_, one))| pair(place).map(|(_, other)| (*one, *other)))
        .collect()
}

struct Scorer<'m, 'a> {
    message: &'m Message<'a>,
    shape: &'m Shape,
    profile: Profile,
    /// What each edge conducts, worked out once by whoever needs it first.
    known: Vec<OnceLock<f64>>,
}

impl Scorer<'_, '_> {
    fn answer(&self, answer: &Answer<'_>) -> Vec<Option<f64>> {
        answer.analyses.iter().map(|analysis| self.analysis(answer, analysis)).collect()
    }

    /// The score of an analysis; none where an end is not bound or there are no ends.
    fn analysis(&self, answer: &Answer<'_>, analysis: &Analysis<'_>) -> Option<f64> {
        let keys: Vec<KeyId> = answer.node_bindings.iter().map(|(key, _)| *key).collect();
        let place = |key: KeyId| keys.iter().position(|known| *known == key);
        let ends: Option<Vec<(usize, usize)>> =
            self.shape.ends.iter().map(|&(one, other)| Some((place(one)?, place(other)?))).collect();
        let ends = ends.filter(|ends| !ends.is_empty() && keys.len() <= MAX_SHAPE)?;

        let mut circuit = Circuit::new(keys.len());
        for &(one, other) in &self.shape.asked {
            if let (Some(one), Some(other)) = (place(one), place(other)) {
                circuit.connect(one, other, evidence::admittance(ASKED));
            }
        }
        self.add_wires(&mut circuit, answer, analysis);
        circuit.resistance(&ends).map(|resistance| (-resistance).exp())
    }

    /// Draws every edge between all places where its ends are bound, else between points of their own.
    fn add_wires(&self, circuit: &mut Circuit, answer: &Answer<'_>, analysis: &Analysis<'_>) {
        let mut points: HashMap<NodeId, Vec<usize>> = HashMap::default();
        for (place, (_, list)) in answer.node_bindings.iter().enumerate() {
            for binding in list {
                let places = points.entry(binding.id).or_default();
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        for id in self.edges(analysis) {
            let Some(edge) = self.message.edges.get(id) else { continue };
            let conductance = self.conductance(id);
            for node in [edge.subject, edge.object] {
                points.entry(node).or_insert_with(|| vec![circuit.add_point()]);
            }
            let places = |node: NodeId| points.get(&node).into_iter().flatten().copied();
            let wires: BTreeSet<(usize, usize)> = places(edge.subject)
                .flat_map(|one| places(edge.object).map(move |other| (one.min(other), one.max(other))))
                .collect();
            for (one, other) in wires {
                circuit.connect(one, other, conductance);
            }
        }
    }

    /// All edges on which an analysis rests, in order: bound ones and those of support graphs at any depth.
    fn edges(&self, analysis: &Analysis<'_>) -> BTreeSet<EdgeId> {
        let graph_edges = |graph| self.message.graphs.get(graph).into_iter().flat_map(|graph| &graph.edges);
        let bound = analysis.edge_bindings.iter().flat_map(|(_, list)| list).map(|binding| binding.id);
        let mut open: Vec<EdgeId> = bound.collect();
        open.extend(analysis.support_graphs.iter().flat_map(|&graph| graph_edges(graph)));
        let mut edges = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !edges.insert(id) {
                continue;
            }
            if let Some(edge) = self.message.edges.get(id) {
                open.extend(edge.support_graphs().iter().flat_map(|&graph| graph_edges(graph)));
            }
        }
        edges
    }

    fn conductance(&self, id: EdgeId) -> f64 {
        let work = || {
            let edge = self.message.edges.get(id);
            edge.map_or(0.0, |edge| evidence::conductance(self.message, edge, self.profile))
        };
        self.known.get(id.position()).map_or_else(work, |known| *known.get_or_init(work))
    }
}
