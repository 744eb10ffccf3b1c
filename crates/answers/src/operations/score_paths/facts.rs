//! What the whole message tells of its nodes and edges, read once for all paths.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::super::attributes::{attributes, count_publications, number, primary_source};
use crate::Message;
use crate::message::{Edge, EdgeId, Index, Node, NodeId};

/// No edge is worth more for more publications.
const MAX_PUBLICATIONS: f64 = 1000.0;

/// Facts by number of node and edge.
pub(super) struct Facts {
    nodes: Vec<NodeFacts>,
    edges: Vec<EdgeFacts>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeFacts {
    /// Other nodes that edges of the message join it to.
    pub(super) neighbours: u32,
    /// From 0 to 1; none where it does not say.
    pub(super) information: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EdgeFacts {
    /// A number that edges of one source share.
    pub(super) source: usize,
    pub(super) publications: f64,
}

impl Facts {
    pub(super) fn of(message: &Message<'_>) -> Self {
        let mut nodes = vec![NodeFacts::default(); message.nodes.mentioned()];
        for (id, _, node) in message.nodes.iter() {
            if let Some(facts) = nodes.get_mut(id.position()) {
                facts.information = information(node);
            }
        }
        let mut edges = vec![EdgeFacts::default(); message.edges.mentioned()];
        let mut sources: HashMap<Option<Cow<'_, str>>, usize> = HashMap::default();
        let mut pairs = HashSet::default();
        for (id, _, edge) in message.edges.iter() {
            let new = sources.len();
            let source = *sources.entry(primary_source(&edge.sources, true)).or_insert(new);
            if let Some(facts) = edges.get_mut(id.position()) {
                *facts = EdgeFacts { source, publications: publications(edge) };
            }
            if edge.subject != edge.object && pairs.insert(pair(edge)) {
                for end in [edge.subject, edge.object] {
                    if let Some(facts) = nodes.get_mut(end.position()) {
                        facts.neighbours += 1;
                    }
                }
            }
        }
        Self { nodes, edges }
    }

    pub(super) fn node(&self, id: NodeId) -> NodeFacts {
        self.nodes.get(id.position()).copied().unwrap_or_default()
    }

    pub(super) fn edge(&self, id: EdgeId) -> EdgeFacts {
        self.edges.get(id.position()).copied().unwrap_or_default()
    }
}

/// The nodes that an edge joins, whichever way it runs.
pub(super) fn pair(edge: &Edge<'_>) -> (NodeId, NodeId) {
    (edge.subject.min(edge.object), edge.subject.max(edge.object))
}

/// Information content comes in percent.
fn information(node: &Node<'_>) -> Option<f64> {
    let mut found = attributes(&node.attributes).filter(|attribute| {
        attribute.kind == "biolink:information_content" || attribute.any_name() == "information_content"
    });
    found.find_map(|attribute| number(attribute.value?)).map(|percent| percent.clamp(0.0, 100.0) / 100.0)
}

fn publications(edge: &Edge<'_>) -> f64 {
    let counts = attributes(&edge.attributes)
        .filter(|attribute| attribute.kind == "biolink:publications" || attribute.name == "publications");
    counts.filter_map(|attribute| attribute.value.map(count_publications)).sum::<f64>().min(MAX_PUBLICATIONS)
}
