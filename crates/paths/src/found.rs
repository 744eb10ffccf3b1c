//! What a search returns.

use foldhash::HashMap;

use crate::explore::{Ended, Explored};
use crate::graph::{Graph, NodeId, Path};
use crate::ports::Edge;

/// The best paths, and how much of the graph was seen.
#[derive(Clone, Debug)]
pub struct Found<C, E> {
    /// The nodes of all paths, each once.
    pub nodes: Vec<FoundNode<C>>,
    /// The edges of all paths, each once for the two nodes it joins.
    pub edges: Vec<Edge<C>>,
    /// The paths, the best first.
    pub paths: Vec<FoundPath>,
    /// Why the search ended.
    pub ended: Ended,
    /// How many questions there were to ask.
    pub batches: usize,
    /// How many of them were answered.
    pub answered: usize,
    /// Why others were not, in the order of asking.
    pub failed: Vec<E>,
    /// How many nodes were not asked about for [`Limits::max_asked`](crate::Limits::max_asked).
    pub not_asked: usize,
}

/// A node of a path.
#[derive(Clone, Debug)]
pub struct FoundNode<C> {
    /// Its identifier.
    pub id: String,
    /// What came with it; none where no answer told about it, which may be so for the ends of the question.
    pub content: Option<C>,
}

/// A path from a start to an end.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPath {
    /// Places of its nodes in [`Found::nodes`], from its start to its end.
    pub nodes: Vec<usize>,
    /// For each hop the places of its edges in [`Found::edges`], at least one.
    pub hops: Vec<Vec<usize>>,
    /// Within 0 and 1, the more the better.
    pub score: f64,
}

impl<C, E> Found<C, E> {
    pub(crate) fn new(gathered: Gathered<C>, ended: Ended, explored: Explored<C, E>) -> Self {
        let Gathered { nodes, edges, paths } = gathered;
        let Explored { answers, batches, not_asked } = explored;
        let answered = answers.values().flatten().count();
        let failed = answers.into_values().filter_map(Result::err).collect();
        Self { nodes, edges, paths, ended, batches, answered, failed, not_asked }
    }
}

/// Paths with the nodes and edges they name.
pub(crate) struct Gathered<C> {
    nodes: Vec<FoundNode<C>>,
    edges: Vec<Edge<C>>,
    paths: Vec<FoundPath>,
}

impl<C: Clone> Gathered<C> {
    /// Fetches what `paths` need from the graph.
    pub(crate) fn of(graph: &Graph<'_, C>, paths: &[Path]) -> Self {
        let mut gathered = Self { nodes: Vec::new(), edges: Vec::new(), paths: Vec::new() };
        let mut nodes = HashMap::default();
        let mut hops = HashMap::default();
        for path in paths {
            let mut found = FoundPath { nodes: Vec::new(), hops: Vec::new(), score: path.cost.score() };
            for &node in &path.nodes {
                let place = nodes.entry(node).or_insert_with(|| gathered.add_node(graph, node));
                found.nodes.push(*place);
            }
            for (&one, &other) in path.nodes.iter().zip(path.nodes.iter().skip(1)) {
                let ends = (one.min(other), one.max(other));
                let places = hops.entry(ends).or_insert_with(|| gathered.add_edges(graph, one, other));
                found.hops.push(places.clone());
            }
            gathered.paths.push(found);
        }
        gathered
    }

    fn add_node(&mut self, graph: &Graph<'_, C>, node: NodeId) -> usize {
        let (id, content) = graph.told(node);
        self.nodes.push(FoundNode { id: id.to_owned(), content: content.cloned() });
        self.nodes.len() - 1
    }

    fn add_edges(&mut self, graph: &Graph<'_, C>, one: NodeId, other: NodeId) -> Vec<usize> {
        let first = self.edges.len();
        self.edges.extend(graph.edges(one, other).cloned());
        (first..self.edges.len()).collect()
    }
}
