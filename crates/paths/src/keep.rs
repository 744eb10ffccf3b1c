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
    /// The hops to those that are kept, the cheapest first, and to ends of the question.
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

/// The edges of an answer by the nodes they join: one that was asked about and its neighbour.
type Joined<'a, C> = HashMap<&'a str, HashMap<&'a str, Vec<&'a Edge<C>>>>;

/// Keeps the best of what `answer` tells about the nodes `asked`.
pub(crate) async fn keep<C: Clone>(
    scene: &Scene<'_>,
    hints: &impl Hints,
    asked: &[String],
    answer: Answer<C>,
) -> Kept<C> {
    let Answer { nodes, edges } = &answer;
    let told: HashMap<&str, &Node<C>> = nodes.iter().rev().map(|node| (node.id.as_str(), node)).collect();
    let joined = join(scene, asked, &told, edges);
    let degrees = hints.degrees(&unique(scene, asked, &joined)).await;
    let mut kept = Kept { asked: Vec::with_capacity(asked.len()), nodes: HashMap::default() };
    for id in asked {
        let none = HashMap::default();
        let neighbours = joined.get(id.as_str()).unwrap_or(&none);
        let hops = hops(scene, id, neighbours, &told, &degrees);
        kept.remember(scene, id, &told, &degrees);
        for hop in &hops {
            kept.remember(scene, &hop.to, &told, &degrees);
        }
        kept.asked.push(Asked { id: id.clone(), neighbours: neighbours.len() as u64, hops });
    }
    kept
}

fn join<'a, C>(
    scene: &Scene<'_>,
    asked: &'a [String],
    told: &HashMap<&str, &Node<C>>,
    edges: &'a [Edge<C>],
) -> Joined<'a, C> {
    let about: HashSet<&str> = asked.iter().map(String::as_str).collect();
    let mut joined: Joined<'a, C> = HashMap::default();
    for edge in edges {
        let (subject, object) = (edge.subject.as_str(), edge.object.as_str());
        if subject == object {
            continue;
        }
        for (from, to) in [(subject, object), (object, subject)] {
            if about.contains(from) && (told.contains_key(to) || scene.question.is_pinned(to)) {
                joined.entry(from).or_default().entry(to).or_default().push(edge);
            }
        }
    }
    joined
}

/// Whose degrees are needed: all that may be passed, once each.
fn unique<C>(scene: &Scene<'_>, asked: &[String], joined: &Joined<'_, C>) -> Vec<String> {
    let neighbours = joined.values().flat_map(HashMap::keys).copied();
    let ids = neighbours.chain(asked.iter().map(String::as_str));
    let mut ids: Vec<&str> = ids.filter(|id| !scene.question.is_pinned(id)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(str::to_owned).collect()
}

/// The hops from one node that are kept.
fn hops<C: Clone>(
    scene: &Scene<'_>,
    from: &str,
    neighbours: &HashMap<&str, Vec<&Edge<C>>>,
    told: &HashMap<&str, &Node<C>>,
    degrees: &HashMap<String, u64>,
) -> Vec<Hop<C>> {
    let limits = scene.limits;
    let is_pinned = scene.question.is_pinned(from);
    if !is_pinned && degrees.get(from).copied().unwrap_or(neighbours.len() as u64) > limits.max_degree {
        return Vec::new();
    }
    let mut hops: Vec<(Cost, &str, Vec<&Edge<C>>)> = Vec::new();
    let mut ends = Vec::new();
    for (&to, edges) in neighbours {
        let edges = first_of_each(edges, limits.max_edges_per_hop);
        let hop = Cost::of_hop(edges.len());
        if scene.question.is_pinned(to) {
            ends.push((hop, to, edges));
        } else if !scene.blocked.blocks(to, told.get(to).and_then(|node| node.name.as_deref())) {
            let degree = degrees.get(to).copied();
            if degree.is_none_or(|degree| degree <= limits.max_degree) {
                let node = Cost::of_node(degree, limits.max_degree, scene.distances.to_both_sides(to));
                hops.push((hop + node, to, edges));
            }
        }
    }
    let order = |one: &(Cost, &str, Vec<&Edge<C>>), other: &(Cost, &str, Vec<&Edge<C>>)| {
        (one.0, one.1).cmp(&(other.0, other.1))
    };
    hops.sort_unstable_by(order);
    hops.truncate(limits.top_k);
    ends.sort_unstable_by(order);
    hops.extend(ends);
    hops.into_iter()
        .map(|(cost, to, edges)| Hop { to: to.to_owned(), cost, edges: edges.into_iter().cloned().collect() })
        .collect()
}

/// Edges by identifier, each once.
fn first_of_each<'a, C>(edges: &[&'a Edge<C>], max: usize) -> Vec<&'a Edge<C>> {
    let mut edges = edges.to_vec();
    edges.sort_by(|one, other| one.id.cmp(&other.id));
    edges.dedup_by(|one, other| one.id == other.id);
    edges.truncate(max.max(1));
    edges
}

impl<C: Clone> Kept<C> {
    fn remember(
        &mut self,
        scene: &Scene<'_>,
        id: &str,
        told: &HashMap<&str, &Node<C>>,
        degrees: &HashMap<String, u64>,
    ) {
        if self.nodes.contains_key(id) {
            return;
        }
        let node = told.get(id);
        let kept = KeptNode {
            met: node.map(|node| scene.question.wanted.met_by(&node.categories)).unwrap_or_default(),
            degree: degrees.get(id).copied(),
            distance: scene.distances.to_both_sides(id),
            content: node.map(|node| node.content.clone()),
        };
        self.nodes.insert(id.to_owned(), kept);
    }
}
