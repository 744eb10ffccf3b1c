//! A TRAPI message in memory: names are numbers, content stays in the bytes that came.

mod answer;
mod aux_graph;
mod edge;
mod list;
mod node;
pub(crate) mod object;
mod read;
mod sources;
mod table;
mod valid;
mod write;
mod write_v2;

use serde_json::value::RawValue;
use trapi::QueryGraph;

pub(crate) use answer::{Analysis, Answer, Binding, Bindings, Score, unite_bindings};
pub(crate) use aux_graph::AuxGraph;
pub(crate) use edge::{Edge, Support};
pub(crate) use list::List;
pub(crate) use node::Node;
pub(crate) use object::{Raw, Rest, Text};
pub(crate) use read::BodyText;
pub use read::{Unreadable, check, parse, parse_message};
pub(crate) use sources::keep_usable;
pub(crate) use table::{EdgeId, GraphId, Index, KeyId, Marks, NodeId, Table, once_each};

/// A message that borrows from the bodies it was read from.
#[derive(Debug, Default)]
pub struct Message<'a> {
    pub(crate) query_graph: QueryGraph,
    pub(crate) nodes: Table<'a, NodeId, Node<'a>>,
    pub(crate) edges: Table<'a, EdgeId, Edge<'a>>,
    pub(crate) graphs: Table<'a, GraphId, AuxGraph<'a>>,
    pub(crate) keys: Table<'a, KeyId, ()>,
    pub(crate) results: Vec<Answer<'a>>,
    /// The source that edges marked as aggregated end with.
    pub(crate) aggregator: Option<Box<RawValue>>,
    /// Other members of the knowledge graph.
    pub(crate) graph_rest: Rest<'a>,
    /// Other members of the message.
    pub(crate) rest: Rest<'a>,
}

impl Message<'_> {
    /// What was asked.
    pub fn query_graph(&self) -> &QueryGraph {
        &self.query_graph
    }

    /// How many results there are.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// How many nodes the knowledge graph has.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many edges the knowledge graph has.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// How many auxiliary graphs there are.
    pub fn auxiliary_graph_count(&self) -> usize {
        self.graphs.len()
    }
}
