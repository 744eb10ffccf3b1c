//! Putting the knowledge graphs of two messages together.

use std::borrow::Cow;

use crate::Message;
use crate::message::{Answer, Bindings, EdgeId, GraphId, Index, KeyId, NodeId, Table};

impl<'a> Message<'a> {
    /// Takes over the knowledge graph and auxiliary graphs of another message and gives back its results,
    /// in this message's numbers.
    pub(super) fn absorb(&mut self, other: Message<'a>) -> Vec<Answer<'a>> {
        let (nodes, new_nodes) = self.nodes.renumber(other.nodes);
        let (edges, new_edges) = self.edges.renumber(other.edges);
        let (graphs, new_graphs) = self.graphs.renumber(other.graphs);
        let (keys, _) = self.keys.renumber(other.keys);
        let numbers = Numbers { nodes, edges, graphs, keys };

        for (id, node) in new_nodes {
            self.nodes.unite(id, node, crate::message::Node::unite);
        }
        for (id, mut edge) in new_edges {
            numbers.nodes.change(&mut edge.subject);
            numbers.nodes.change(&mut edge.object);
            if let Some(support) = &mut edge.support {
                for graph in &mut support.graphs {
                    numbers.graphs.change(graph);
                }
            }
            self.edges.unite(id, edge, crate::message::Edge::unite);
        }
        for (id, mut graph) in new_graphs {
            for edge in &mut graph.edges {
                numbers.edges.change(edge);
            }
            self.graphs.unite(id, graph, crate::message::AuxGraph::unite);
        }
        self.graph_rest.fill_from(other.graph_rest);
        self.rest.fill_from(other.rest);
        let mut answers = other.results;
        for answer in &mut answers {
            numbers.answer(answer);
        }
        answers
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
    /// Takes over all names of another table; its values come with their new numbers.
    fn renumber(&mut self, other: Self) -> (Map<I>, Vec<(I, T)>) {
        self.reserve(other.mentioned());
        let mut map = Vec::with_capacity(other.mentioned());
        let mut values = Vec::with_capacity(other.mentioned());
        for (name, value) in other.into_entries() {
            let name: Cow<'a, str> = name;
            let id = self.intern(name);
            map.push(id);
            values.extend(value.map(|value| (id, value)));
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
