//! The neighbourhood of a set: what is worth following in what was looked up.

use foldhash::HashMap;
use serde_json::value::RawValue;

use super::page_rank;
use crate::Message;
use crate::message::{Edge, EdgeId, Marks, NodeId, Unreadable, parse};

/// How many nodes of a hop are followed.
const MAX_FOLLOWED: usize = 15;
/// Predicates that say too little.
const SAY_LITTLE: [&str; 2] = ["\"biolink:subclass_of\"", "\"biolink:related_to\""];
/// Phenotypes are not followed: nearly everything has some, and they have each other.
const PHENOTYPE: &str = "HP:";

/// The responses of one hop as one message: only what is worth following is in it.
pub(super) struct Hop<'a> {
    pub(super) message: Message<'a>,
    /// The best nodes, the best first.
    pub(super) best: Vec<NodeId>,
}

impl<'a> Hop<'a> {
    /// Reads the responses to a hop from `asked`.
    ///
    /// Edges that say little and those between phenotypes are left out. Of the rest those stay that touch one of
    /// the 15 best nodes that are no phenotypes, by PageRank personalised to what was asked; not where its score
    /// is 0, as no walk reaches it.
    pub(super) fn read(responses: &[&'a str], asked: &[String]) -> Result<Self, Unreadable> {
        let mut message = Message::default();
        for text in responses {
            message.take_graph(parse(text)?);
        }
        let mut marks = Marks::new(message.edges.mentioned());
        for (id, _, edge) in message.edges.iter() {
            if says_enough(&message, edge) {
                marks.set(id);
            }
        }
        message.edges.keep(&marks);
        let best = Scores::of(&message, asked).best(&message);
        let reached: Vec<NodeId> =
            best.iter().filter(|(_, score)| *score > 0.0).map(|(node, _)| *node).collect();
        let best = best.into_iter().map(|(node, _)| node).collect();
        let mut marks = Marks::new(message.edges.mentioned());
        for (id, _, edge) in message.edges.iter() {
            if reached.contains(&edge.subject) || reached.contains(&edge.object) {
                marks.set(id);
            }
        }
        message.edges.keep(&marks);
        message.keep_bound_nodes();
        Ok(Self { message, best })
    }
}

fn says_enough(message: &Message<'_>, edge: &Edge<'_>) -> bool {
    let says_little = SAY_LITTLE.contains(&RawValue::get(&edge.predicate));
    let is_phenotype = |node: NodeId| message.nodes.name(node).starts_with(PHENOTYPE);
    let of_phenotypes = is_phenotype(edge.subject) && is_phenotype(edge.object);
    !(says_little || of_phenotypes)
}

/// The scores of the nodes that edges connect.
pub(super) struct Scores {
    /// The nodes in the order of the edges.
    nodes: Vec<NodeId>,
    scores: Vec<f64>,
}

impl Scores {
    /// PageRank of the knowledge graph, personalised to those of `targets` that are in it; without scores where
    /// there are targets and none of them is.
    pub(super) fn of(message: &Message<'_>, targets: &[String]) -> Self {
        let mut positions: HashMap<NodeId, usize> = HashMap::default();
        let mut nodes = Vec::new();
        let mut edges = Vec::new();
        for (_, _, edge) in message.edges.iter() {
            let [subject, object] = [edge.subject, edge.object].map(|node| {
                *positions.entry(node).or_insert_with(|| {
                    nodes.push(node);
                    nodes.len() - 1
                })
            });
            edges.push((subject, object));
        }
        let known = targets.iter().filter_map(|id| positions.get(&message.nodes.find(id)?).copied());
        let known: Vec<usize> = known.collect();
        if known.is_empty() && !targets.is_empty() {
            return Self { nodes: Vec::new(), scores: Vec::new() };
        }
        let scores = page_rank(nodes.len(), &edges, &known);
        Self { nodes, scores }
    }

    /// All nodes with their scores, the best first; among equals by name.
    pub(super) fn ranked(&self, message: &Message<'_>) -> Vec<(NodeId, f64)> {
        let mut ranked: Vec<(NodeId, f64)> =
            self.nodes.iter().copied().zip(self.scores.iter().copied()).collect();
        ranked.sort_by(|(one, one_score), (other, other_score)| {
            let by_name = || message.nodes.name(*one).cmp(message.nodes.name(*other));
            other_score.total_cmp(one_score).then_with(by_name)
        });
        ranked
    }

    fn best(&self, message: &Message<'_>) -> Vec<(NodeId, f64)> {
        let mut ranked = self.ranked(message);
        ranked.retain(|(node, _)| !message.nodes.name(*node).starts_with(PHENOTYPE));
        ranked.truncate(MAX_FOLLOWED);
        ranked
    }
}

impl<'a> Message<'a> {
    /// Takes over the knowledge graph of another message, and nothing else.
    pub(super) fn take_graph(&mut self, other: Message<'a>) {
        let own =
            Message { nodes: other.nodes, edges: other.edges, graphs: other.graphs, ..Message::default() };
        self.absorb(own, &mut crate::merge::Renamed::default());
    }

    /// Forgets nodes at which no edge ends.
    fn keep_bound_nodes(&mut self) {
        let mut marks = Marks::new(self.nodes.mentioned());
        for (_, _, edge) in self.edges.iter() {
            marks.set(edge.subject);
            marks.set(edge.object);
        }
        self.nodes.keep(&marks);
    }

    /// The edges at each node, with the node at the other end.
    pub(super) fn adjacency(&self) -> HashMap<NodeId, Vec<(EdgeId, NodeId)>> {
        let mut adjacency: HashMap<NodeId, Vec<(EdgeId, NodeId)>> = HashMap::default();
        for (id, _, edge) in self.edges.iter() {
            adjacency.entry(edge.subject).or_default().push((id, edge.object));
            adjacency.entry(edge.object).or_default().push((id, edge.subject));
        }
        adjacency
    }
}

/// The nodes to ask for next, after `responses` to a hop from `asked`: the best of them, the best first.
///
/// # Errors
/// [`Unreadable`] when a response is no TRAPI.
pub fn best_neighbours(responses: &[&str], asked: &[String]) -> Result<Vec<String>, Unreadable> {
    let Hop { message, best } = Hop::read(responses, asked)?;
    Ok(best.into_iter().map(|node| message.nodes.name(node).to_owned()).collect())
}

/// What is worth following of `responses` to a hop from `asked`, as a TRAPI message.
///
/// # Errors
/// [`Unreadable`] when a response is no TRAPI.
pub fn neighbourhood(responses: &[&str], asked: &[String]) -> Result<Vec<u8>, Unreadable> {
    let mut text = Vec::new();
    // writing to memory does not fail
    Hop::read(responses, asked)?.message.write(&mut text).ok();
    Ok(text)
}

/// The score of every node in the knowledge graphs of `responses` taken together, by its id and the best first,
/// personalised to `targets`.
///
/// # Errors
/// [`Unreadable`] when a response is no TRAPI.
pub fn scores(responses: &[&str], targets: &[String]) -> Result<Vec<(String, f64)>, Unreadable> {
    let mut message = Message::default();
    for text in responses {
        message.take_graph(parse(text)?);
    }
    let ranked = Scores::of(&message, targets).ranked(&message);
    Ok(ranked.into_iter().map(|(node, score)| (message.nodes.name(node).to_owned(), score)).collect())
}
