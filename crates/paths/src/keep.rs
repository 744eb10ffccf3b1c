//! What is kept of an answer. Each answer is judged by itself, so that it does not matter when it comes.

use foldhash::{HashMap, HashSet};

use crate::cost::Cost;
use crate::ports::{Answer, Edge, Hints, Node};
use crate::scene::Scene;
use crate::wanted::Met;

/// What an answer says about the nodes that were asked about, and the nodes it keeps.
#[derive(Debug)]
pub(crate) struct Kept<C> {
    pub(crate) asked: Vec<Asked<C>>,
    pub(crate) nodes: HashMap<String, KeptNode<C>>,
}

/// A node that was asked about.
#[derive(Debug)]
pub(crate) struct Asked<C> {
    pub(crate) id: String,
    /// How many neighbours its answer shows.
    pub(crate) neighbours: u64,
    /// The hops to those that are kept.
    pub(crate) hops: Vec<Hop<C>>,
}

/// A hop and the edges that make it, by identifier.
#[derive(Debug)]
pub(crate) struct Hop<C> {
    pub(crate) to: String,
    /// What it costs to go there, as far as one can tell before it is asked about.
    pub(crate) cost: Cost,
    pub(crate) edges: Vec<Edge<C>>,
}

/// What is known about a node.
#[derive(Clone, Debug)]
pub(crate) struct KeptNode<C> {
    pub(crate) met: Met,
    /// How many neighbours it has, according to the hints.
    pub(crate) degree: Option<u64>,
    /// Its mean distance to both sides' ends.
    pub(crate) distance: f64,
    /// None for an end of the question of which nothing was told.
    pub(crate) content: Option<C>,
}

/// The edges from one node to each of its neighbours.
type Around<'a, C> = HashMap<&'a str, Vec<&'a Edge<C>>>;

/// Keeps the best of what `answer` tells about the nodes `asked`.
pub(crate) async fn keep<C: Clone>(
    scene: &Scene<'_>,
    hints: &impl Hints,
    asked: &[String],
    answer: Answer<C>,
) -> Kept<C> {
    let Answer { nodes, edges } = &answer;
    let mut judge = Judge {
        scene,
        // the first to be told counts
        told: nodes.iter().rev().map(|node| (node.id.as_str(), node)).collect(),
        degrees: HashMap::default(),
    };
    let joined = judge.join(asked, edges);
    judge.degrees = hints.degrees(&judge.passable(asked, &joined)).await;
    let mut kept = Kept { asked: Vec::with_capacity(asked.len()), nodes: HashMap::default() };
    for id in asked {
        let around = joined.get(id.as_str());
        let hops = around.map(|around| judge.hops(id, around)).unwrap_or_default();
        for node in hops.iter().map(|hop| &hop.to).chain([id]) {
            if !kept.nodes.contains_key(node) {
                kept.nodes.insert(node.clone(), judge.node(node));
            }
        }
        let neighbours = around.map_or(0, |around| around.len() as u64);
        kept.asked.push(Asked { id: id.clone(), neighbours, hops });
    }
    kept
}

/// What one answer is judged by.
struct Judge<'a, C> {
    scene: &'a Scene<'a>,
    told: HashMap<&'a str, &'a Node<C>>,
    /// How many neighbours nodes have, according to the hints.
    degrees: HashMap<String, u64>,
}

/// A hop that may be kept, in the order of what is kept first.
struct Candidate<'a, C> {
    cost: Cost,
    to: &'a str,
    edges: Vec<&'a Edge<C>>,
}

impl<C: Clone> Judge<'_, C> {
    /// The edges at each of the nodes that were asked about.
    fn join<'e>(&self, asked: &'e [String], edges: &'e [Edge<C>]) -> HashMap<&'e str, Around<'e, C>> {
        let about: HashSet<&str> = asked.iter().map(String::as_str).collect();
        let mut joined: HashMap<&str, Around<'e, C>> = HashMap::default();
        for edge in edges.iter().filter(|edge| edge.subject != edge.object) {
            let (subject, object) = (edge.subject.as_str(), edge.object.as_str());
            for (from, to) in [(subject, object), (object, subject)] {
                if about.contains(from) && (self.told.contains_key(to) || self.is_pinned(to)) {
                    joined.entry(from).or_default().entry(to).or_default().push(edge);
                }
            }
        }
        joined
    }

    /// All nodes that may be passed, as far as one can tell without their degrees, once each.
    fn passable(&self, asked: &[String], joined: &HashMap<&str, Around<'_, C>>) -> Vec<String> {
        let neighbours = joined.values().flat_map(HashMap::keys).copied();
        let ids: HashSet<&str> = neighbours.chain(asked.iter().map(String::as_str)).collect();
        ids.into_iter().filter(|id| !self.is_pinned(id) && !self.is_blocked(id)).map(str::to_owned).collect()
    }

    /// The hops from a node that are kept.
    fn hops(&self, from: &str, around: &Around<'_, C>) -> Vec<Hop<C>> {
        let scene = self.scene;
        let degree = self.degrees.get(from).copied().unwrap_or(around.len() as u64);
        if degree > scene.limits.max_degree && !self.is_pinned(from) {
            return Vec::new();
        }
        let candidates = around.iter().filter_map(|(&to, edges)| self.candidate(to, edges));
        let (ends, mut others): (Vec<_>, Vec<_>) = candidates.partition(|hop| self.is_pinned(hop.to));
        others.sort_unstable_by_key(|hop| (hop.cost, hop.to));
        let kept = others
            .into_iter()
            .enumerate()
            .filter(|(place, hop)| *place < scene.limits.top_k || scene.near_ends.contains(hop.to));
        kept.map(|(_, hop)| hop).chain(ends).map(Candidate::into_hop).collect()
    }

    /// The hop to a neighbour, where that may be passed or is an end.
    fn candidate<'e>(&self, to: &'e str, edges: &[&'e Edge<C>]) -> Option<Candidate<'e, C>> {
        let limits = self.scene.limits;
        let edges = first_of_each(edges, limits.max_edges_per_hop);
        let mut cost = Cost::of_hop(edges.len());
        if !self.is_pinned(to) {
            let degree = self.degrees.get(to).copied();
            if self.is_blocked(to) || degree.is_some_and(|degree| degree > limits.max_degree) {
                return None;
            }
            cost = cost + Cost::of_node(degree, limits.max_degree, self.scene.distances.to_both_sides(to));
        }
        Some(Candidate { cost, to, edges })
    }

    /// What is known about a node.
    fn node(&self, id: &str) -> KeptNode<C> {
        let node = self.told.get(id);
        KeptNode {
            met: node.map(|node| self.scene.question.wanted.met_by(&node.categories)).unwrap_or_default(),
            degree: self.degrees.get(id).copied(),
            distance: self.scene.distances.to_both_sides(id),
            content: node.map(|node| node.content.clone()),
        }
    }

    fn is_pinned(&self, id: &str) -> bool {
        self.scene.question.is_pinned(id)
    }

    fn is_blocked(&self, id: &str) -> bool {
        self.scene.blocked.blocks(id, self.told.get(id).and_then(|node| node.name.as_deref()))
    }
}

impl<C: Clone> Candidate<'_, C> {
    fn into_hop(self) -> Hop<C> {
        let edges = self.edges.into_iter().cloned().collect();
        Hop { to: self.to.to_owned(), cost: self.cost, edges }
    }
}

/// Edges by identifier, each once, and not too many.
fn first_of_each<'a, C>(edges: &[&'a Edge<C>], max: usize) -> Vec<&'a Edge<C>> {
    let mut edges = edges.to_vec();
    edges.sort_by(|one, other| one.id.cmp(&other.id));
    edges.dedup_by(|one, other| one.id == other.id);
    edges.truncate(max.max(1));
    edges
}
