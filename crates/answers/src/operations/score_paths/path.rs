//! One path: its edges by hop, its nodes, and what they tell.

use foldhash::HashSet;

use super::facts::{Facts, NodeFacts, pair};
use super::graph::{self, HopSource};
use super::{GRAPH_FEATURES, PathFeatures};
use crate::Message;
use crate::message::{Analysis, Edge, EdgeId, NodeId};

/// A path of more edges is none: a handful of hops with some parallel edges each.
const MAX_EDGES: usize = 200;

/// Why a path cannot be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flaw {
    #[error("it binds a graph or an edge that is not in the message")]
    Missing,
    #[error("it has no edges")]
    Empty,
    #[error("it has more than {MAX_EDGES} edges")]
    TooLong,
    #[error("its score is no number")]
    NoNumber,
}

/// A path, as far as its score is concerned.
pub(super) struct Path {
    edges: Vec<EdgeId>,
    nodes: Vec<NodeId>,
    /// What each independent source of each hop says.
    hops: Vec<Vec<HopSource>>,
    /// Those between the ends.
    between: Vec<NodeFacts>,
}

/// Reads the path that an analysis binds. Its edges are those of the graphs bound; what supports them is not looked at.
pub(super) fn read(
    message: &Message<'_>,
    facts: &Facts,
    analysis: &Analysis<'_>,
    ends: &HashSet<NodeId>,
) -> Result<Path, Flaw> {
    let mut edges: Vec<(EdgeId, &Edge<'_>)> = Vec::new();
    for binding in analysis.path_bindings.iter().flat_map(|(_, list)| list) {
        let graph = message.graphs.get(binding.id).ok_or(Flaw::Missing)?;
        if edges.len() + graph.edges.len() > MAX_EDGES {
            return Err(Flaw::TooLong);
        }
        for &id in &graph.edges {
            edges.push((id, message.edges.get(id).ok_or(Flaw::Missing)?));
        }
    }
    edges.sort_by_key(|&(id, edge)| (pair(edge), facts.edge(id).source, id));
    edges.dedup_by_key(|(id, _)| *id);
    if edges.is_empty() {
        return Err(Flaw::Empty);
    }
    let hops = edges.chunk_by(|(_, one), (_, other)| pair(one) == pair(other));
    let hops = hops.map(|hop| {
        let sources =
            hop.chunk_by(|(one, _), (other, _)| facts.edge(*one).source == facts.edge(*other).source);
        let source = |edges: &[(EdgeId, _)]| edges.iter().map(|(id, _)| facts.edge(*id).publications).sum();
        sources.map(|edges| HopSource { publications: source(edges) }).collect()
    });
    let hops = hops.collect();
    let mut nodes: Vec<NodeId> = edges.iter().flat_map(|(_, edge)| [edge.subject, edge.object]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let between = nodes.iter().filter(|node| !ends.contains(node)).map(|&node| facts.node(node)).collect();
    Ok(Path { edges: edges.into_iter().map(|(id, _)| id).collect(), nodes, hops, between })
}

impl Path {
    pub(super) fn graph_score(&self) -> f64 {
        graph::score(&self.hops, &self.between)
    }

    /// What a model gets to know, the same whatever the order of the message.
    pub(super) fn features<'m>(&self, message: &'m Message<'_>) -> PathFeatures<'m> {
        let mut nodes: Vec<&str> = self.nodes.iter().map(|&id| message.nodes.name(id)).collect();
        nodes.sort_unstable();
        let known = self.edges.iter().filter_map(|&id| message.edges.get(id));
        // what is no text names nothing
        let texts = known.filter_map(|edge| serde_json::from_str(edge.predicate.get()).ok());
        let mut predicates: Vec<String> = texts.collect();
        predicates.sort_unstable();
        predicates.dedup();
        PathFeatures { nodes, predicates, graph: self.graph_features() }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "models read single precision"
    )]
    fn graph_features(&self) -> [f32; GRAPH_FEATURES] {
        let sources = || self.hops.iter().map(|hop| hop.len() as f64);
        let publications: f64 = in_order(self.hops.iter().flatten().map(|source| source.publications)).sum();
        let percent = || self.between.iter().filter_map(|node| Some(100.0 * node.information?));
        let neighbours = || self.between.iter().map(|node| f64::from(node.neighbours.max(1)).ln());
        [
            self.hops.len() as f64,
            self.edges.len() as f64,
            self.between.len() as f64,
            least(sources()),
            mean(sources()),
            publications.ln_1p(),
            least(percent()),
            mean(percent()),
            -least(neighbours().map(|value| -value)),
            mean(neighbours()),
            self.graph_score(),
        ]
        .map(|feature| feature as f32)
    }
}

/// Sums depend on their order in the last digit.
pub(super) fn in_order(values: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.into_iter()
}

/// The least value; NaN where there is none.
fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NAN, f64::min)
}

/// The mean; NaN where there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = in_order(values).fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count)
}
