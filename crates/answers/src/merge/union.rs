//! Putting the knowledge graphs of two messages together.

use std::borrow::Cow;

use super::ids;
use crate::Message;
use crate::canonical::canonical;
use crate::message::{Answer, Bindings, Edge, EdgeId, GraphId, Index, KeyId, NodeId, Table};

/// Edges that came under the id of an edge that states something else, and have ids of their own now.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    pub(crate) count: usize,
    /// The id under which the first of them came.
    pub(crate) first: String,
}

impl<'a> Message<'a> {
    /// Takes over the knowledge graph and auxiliary graphs of another message and gives back its results,
    /// in this message's numbers.
    pub(crate) fn absorb(&mut self, other: Message<'a>, renamed: &mut Renamed) -> Vec<Answer<'a>> {
        let (nodes, new_nodes) = self.nodes.renumber(other.nodes);
        let (edges, new_edges) = self.edges.renumber(other.edges);
        let (graphs, new_graphs) = self.graphs.renumber(other.graphs);
        let (keys, _) = self.keys.renumber(other.keys);
        let mut numbers = Numbers { nodes, edges, graphs, keys };

        for (place, node) in new_nodes {
            if let Some(&id) = numbers.nodes.0.get(place) {
                self.nodes.unite(id, node, crate::message::Node::unite);
            }
        }
        for (place, mut edge) in new_edges {
            numbers.nodes.change(&mut edge.subject);
            numbers.nodes.change(&mut edge.object);
            if let Some(support) = &mut edge.support {
                for graph in &mut support.graphs {
                    numbers.graphs.change(graph);
                }
            }
            if let Some(id) = numbers.edges.0.get_mut(place) {
                if self.edges.get(*id).is_some_and(|known| known.disagrees(&edge)) {
                    *id = self.rename(*id, &edge, renamed);
                }
                self.edges.unite(*id, edge, Edge::unite);
            }
        }
        for (place, mut graph) in new_graphs {
            for edge in &mut graph.edges {
                numbers.edges.change(edge);
            }
            if let Some(&id) = numbers.graphs.0.get(place) {
                self.graphs.unite(id, graph, crate::message::AuxGraph::unite);
            }
        }
        self.graph_rest.fill_from(other.graph_rest);
        self.rest.fill_from(other.rest);
        let mut answers = other.results;
        for answer in &mut answers {
            numbers.answer(answer);
        }
        answers
    }

    /// An id for an edge that came under an id which is taken.
    fn rename(&mut self, taken: EdgeId, edge: &Edge<'_>, renamed: &mut Renamed) -> EdgeId {
        let taken = self.edges.name(taken).to_owned();
        let (subject, object) = (self.nodes.name(edge.subject), self.nodes.name(edge.object));
        let mut qualifiers: Vec<String> = edge.qualifiers.items().into_iter().map(canonical).collect();
        let statement = [subject, &canonical(&edge.predicate), object];
        let id = self.edges.intern(Cow::Owned(ids::other_edge(&taken, statement, &mut qualifiers)));
        if self.edges.get(id).is_none() {
            if renamed.count == 0 {
                renamed.first = taken;
            }
            renamed.count += 1;
        }
        id
    }
}

/// A table's numbers for the numbers of another.
struct Map<I>(Vec<I>);

impl<I: Index> Map<I> {
    fn change(&self, id: &mut I) {
        if let Some(new) = self.0.get(id.position()) {
            *id = *new;
        }
    }
}

struct Numbers {
    nodes: Map<NodeId>,
    edges: Map<EdgeId>,
    graphs: Map<GraphId>,
    keys: Map<KeyId>,
}

impl Numbers {
    fn answer(&self, answer: &mut Answer<'_>) {
        self.bindings(&mut answer.node_bindings, &self.nodes);
        for analysis in &mut answer.analyses {
            self.bindings(&mut analysis.edge_bindings, &self.edges);
            self.bindings(&mut analysis.path_bindings, &self.graphs);
            for graph in &mut analysis.support_graphs {
                self.graphs.change(graph);
            }
        }
    }

    fn bindings<I: Index>(&self, bindings: &mut Bindings<'_, I>, map: &Map<I>) {
        for (key, list) in bindings {
            self.keys.change(key);
            for binding in list {
                map.change(&mut binding.id);
            }
        }
    }
}

impl<'a, I: Index, T> Table<'a, I, T> {
    /// Takes over all names of another table; its values come with their places in the map of numbers.
    fn renumber(&mut self, other: Self) -> (Map<I>, Vec<(usize, T)>) {
        self.reserve(other.mentioned());
        let mut map = Vec::with_capacity(other.mentioned());
        let mut values = Vec::with_capacity(other.mentioned());
        for (name, value) in other.into_entries() {
            let name: Cow<'a, str> = name;
            values.extend(value.map(|value| (map.len(), value)));
            map.push(self.intern(name));
        }
        (Map(map), values)
    }

    fn unite(&mut self, id: I, value: T, unite: impl FnOnce(&mut T, T)) {
        match self.slot(id) {
            Some(Some(known)) => unite(known, value),
            Some(slot) => *slot = Some(value),
            None => {}
        }
    }
}
