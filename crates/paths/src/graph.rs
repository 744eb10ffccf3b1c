//! All that is known, with nodes as numbers in the order of their identifiers.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::cost::Cost;
use crate::keep::{Kept, KeptNode};
use crate::ports::Edge;
use crate::question::{Limits, Question};
use crate::wanted::Met;

/// A node's place in the order of identifiers.
pub(crate) type NodeId = u32;

/// A path and what it costs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    pub(crate) cost: Cost,
    pub(crate) nodes: Vec<NodeId>,
}

/// The kept part of the graph.
pub(crate) struct Graph<'a, C> {
    limits: &'a Limits,
    nodes: Vec<Known<'a, C>>,
    numbers: HashMap<&'a str, NodeId>,
    hops: HashMap<[NodeId; 2], BTreeMap<&'a str, &'a Edge<C>>>,
}

struct Known<'a, C> {
    id: &'a str,
    node: &'a KeptNode<C>,
    is_pinned: bool,
    /// How many neighbours its own answer shows, where there is one.
    neighbours: Option<u64>,
    /// The neighbours that its own answer keeps.
    kept: Vec<NodeId>,
}

impl<'a, C> Graph<'a, C> {
    /// Puts answers together. The first to say something about a node or an edge counts.
    pub(crate) fn of<'k>(
        question: &Question,
        limits: &'a Limits,
        answers: impl Iterator<Item = &'k Kept<C>> + Clone,
    ) -> Self
    where
        'k: 'a,
        C: 'k,
    {
        let mut known: BTreeMap<&'a str, &'a KeptNode<C>> = BTreeMap::new();
        for (id, node) in answers.clone().flat_map(|kept| &kept.nodes) {
            let first = known.entry(id).or_insert(node);
            if first.content.is_none() {
                *first = node;
            }
        }
        let nodes: Vec<_> = known
            .into_iter()
            .map(|(id, node)| {
                let is_pinned = question.is_pinned(id);
                Known { id, node, is_pinned, neighbours: None, kept: Vec::new() }
            })
            .collect();
        let numbers = nodes.iter().zip(0..).map(|(node, number)| (node.id, number)).collect();
        let mut graph = Self { limits, nodes, numbers, hops: HashMap::default() };
        for asked in answers.flat_map(|kept| &kept.asked) {
            let Some(from) = graph.number(&asked.id) else { continue };
            for hop in &asked.hops {
                let Some(to) = graph.number(&hop.to) else { continue };
                let edges = graph.hops.entry(between(from, to)).or_default();
                for edge in &hop.edges {
                    edges.entry(&edge.id).or_insert(edge);
                }
                graph.nodes[from as usize].kept.push(to);
            }
            graph.nodes[from as usize].neighbours = Some(asked.neighbours);
        }
        graph
    }

    pub(crate) fn number(&self, id: &str) -> Option<NodeId> {
        self.numbers.get(id).copied()
    }

    fn node(&self, number: NodeId) -> &Known<'a, C> {
        &self.nodes[number as usize]
    }

    pub(crate) fn is_pinned(&self, number: NodeId) -> bool {
        self.node(number).is_pinned
    }

    /// The neighbours that a node's own answer keeps.
    pub(crate) fn kept(&self, number: NodeId) -> &[NodeId] {
        &self.node(number).kept
    }

    /// What a node between the ends meets; an end meets nothing.
    pub(crate) fn met(&self, number: NodeId) -> Met {
        let known = self.node(number);
        if known.is_pinned { Met::default() } else { known.node.met }
    }

    /// A node's identifier, and what came with it.
    pub(crate) fn told(&self, number: NodeId) -> (&'a str, Option<&'a C>) {
        let known = self.node(number);
        (known.id, known.node.content.as_ref())
    }

    /// The edges that join two nodes, by identifier.
    pub(crate) fn edges(&self, one: NodeId, other: NodeId) -> impl Iterator<Item = &'a Edge<C>> {
        let edges = self.hops.get(&between(one, other)).into_iter().flat_map(BTreeMap::values);
        edges.copied().take(self.limits.max_edges_per_hop)
    }

    /// What it costs to go from one node to the other.
    pub(crate) fn cost_of_hop(&self, one: NodeId, other: NodeId) -> Cost {
        Cost::of_hop(self.edges(one, other).count())
    }

    /// What it costs to pass a node next to an end of the path; none where it has too many neighbours.
    pub(crate) fn cost_beside_end(&self, number: NodeId) -> Option<Cost> {
        let known = self.node(number);
        let degree = known.node.degree.or(known.neighbours);
        let passable = degree.is_none_or(|degree| degree <= self.limits.max_degree);
        passable.then(|| Cost::of_node(degree, self.limits.max_degree, known.node.distance))
    }

    /// What it costs to pass a node in the middle of four hops. A search for those does not ask about it.
    pub(crate) fn cost_in_middle(&self, number: NodeId) -> Cost {
        let node = self.node(number).node;
        Cost::of_node(node.degree, self.limits.max_degree, node.distance)
    }
}

fn between(one: NodeId, other: NodeId) -> [NodeId; 2] {
    [one.min(other), one.max(other)]
}
