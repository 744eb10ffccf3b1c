//! Where the graph comes from, and what is known about its nodes beforehand.

use std::future::Future;

use foldhash::HashMap;

/// A node as an answer tells about it.
#[derive(Clone, Debug)]
pub struct Node<C> {
    /// Its identifier, a CURIE.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Its Biolink categories.
    pub categories: Vec<String>,
    /// Whatever else the caller wants back with the paths that pass it.
    pub content: C,
}

/// An edge as an answer tells about it.
#[derive(Clone, Debug)]
pub struct Edge<C> {
    /// Its identifier, by which copies of one edge are known.
    pub id: String,
    /// Identifier of the node where it begins.
    pub subject: String,
    /// Identifier of the node where it ends.
    pub object: String,
    /// Whatever else the caller wants back with the paths that use it.
    pub content: C,
}

/// The edges at some nodes, and the nodes at their other ends. An edge to a node of which nothing is told joins
/// nothing, unless that node is an end of the question.
#[derive(Clone, Debug)]
pub struct Answer<C> {
    /// Nodes, each once.
    pub nodes: Vec<Node<C>>,
    /// Edges in either direction.
    pub edges: Vec<Edge<C>>,
}

impl<C> Default for Answer<C> {
    fn default() -> Self {
        Self { nodes: Vec::new(), edges: Vec::new() }
    }
}

/// Whom the graph is asked of.
pub trait Neighbours {
    /// What nodes and edges carry; cloned where an edge joins two nodes that were asked about together.
    type Content: Clone + Send + Sync;
    /// Why there is no answer.
    type Error: Send;

    /// All edges at `nodes`, which are at most [`Limits::ids_per_batch`](crate::Limits::ids_per_batch).
    fn neighbours(
        &self,
        nodes: &[String],
    ) -> impl Future<Output = Result<Answer<Self::Content>, Self::Error>> + Send;
}

/// What is known about nodes without asking for their edges. Whatever is not known is left out.
pub trait Hints {
    /// The normalised Google distance between `node` and others: 0 where publications name both or none, 1 and
    /// more where they do not name them together.
    fn distances(&self, node: &str) -> impl Future<Output = HashMap<String, f64>> + Send;

    /// How many neighbours each of `nodes` has.
    fn degrees(&self, nodes: &[String]) -> impl Future<Output = HashMap<String, u64>> + Send;
}

/// Nothing is known beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHints;

impl Hints for NoHints {
    async fn distances(&self, _: &str) -> HashMap<String, f64> {
        HashMap::default()
    }

    async fn degrees(&self, _: &[String]) -> HashMap<String, u64> {
        HashMap::default()
    }
}
