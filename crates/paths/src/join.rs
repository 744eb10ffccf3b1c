//! Joining halves to paths, the cheapest first.
//!
//! Halves that meet at one node make as many pairs as there are halves on one side times those on the other. Of those
//! only the cheapest are looked at: in a table with the halves of each side in order, the next cheapest pair
//! is beside one that was taken before. A pair that passes a node twice is passed over; each half has at most one
//! partner of that kind from each end, so there are not many more of these than halves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cost::Cost;
use crate::graph::{Graph, NodeId, Path};
use crate::halves::{Half, MAX_HOPS, Meeting, Side, halves};
use crate::question::Question;

/// Halves that meet at one node and together pass what the question wants.
struct Table<'h> {
    firsts: &'h [Half],
    seconds: &'h [Half],
    /// The cost of the node where they meet.
    meeting: Cost,
}

/// A pair of a table, in the order in which pairs are taken.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    path: Path,
    table: usize,
    first: usize,
    second: usize,
}

/// The cheapest paths between the ends of the question, at most `max` of them, in order.
pub(crate) fn cheapest<C>(graph: &Graph<'_, C>, question: &Question, max: usize) -> Vec<Path> {
    let firsts = halves(graph, &question.starts, Side::Starts);
    let seconds = halves(graph, &question.ends, Side::Ends);
    let mut tables = Vec::new();
    for (hops, firsts) in firsts.iter().enumerate() {
        for (more_hops, seconds) in seconds.iter().enumerate() {
            lay_out(graph, question, [hops, more_hops], firsts, seconds, &mut tables);
        }
    }
    let mut heap: BinaryHeap<Reverse<Pair>> =
        (0..tables.len()).filter_map(|table| tables[table].pair(table, 0, 0)).map(Reverse).collect();
    let mut paths: Vec<Path> = Vec::new();
    while paths.len() < max {
        let Some(Reverse(pair)) = heap.pop() else { break };
        let Pair { path, table, first, second } = pair;
        if second == 0 {
            heap.extend(tables[table].pair(table, first + 1, 0).map(Reverse));
        }
        heap.extend(tables[table].pair(table, first, second + 1).map(Reverse));
        // one path that can be cut in several ways comes several times in a row
        if is_simple(&path) && paths.last() != Some(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Adds the tables of halves of so many hops.
fn lay_out<'h, C>(
    graph: &Graph<'_, C>,
    question: &Question,
    hops: [usize; 2],
    firsts: &'h Meeting,
    seconds: &'h Meeting,
    tables: &mut Vec<Table<'h>>,
) {
    for (&node, firsts) in firsts {
        let (Some(seconds), Some(meeting)) = (seconds.get(&node), cost_of_meeting(graph, node, hops)) else {
            continue;
        };
        for (first_met, firsts) in firsts {
            for (second_met, seconds) in seconds {
                if question.wanted.is_met(first_met.and(*second_met).and(graph.met(node))) {
                    tables.push(Table { firsts, seconds, meeting });
                }
            }
        }
    }
}

/// What it costs to pass the node where halves of so many hops meet; none where they cannot meet there.
fn cost_of_meeting<C>(graph: &Graph<'_, C>, node: NodeId, hops: [usize; 2]) -> Option<Cost> {
    match (graph.is_pinned(node), hops) {
        (_, [0, 0]) => None,
        (true, [0, _] | [_, 0]) => Some(Cost::default()),
        (true, _) | (false, [0, _] | [_, 0]) => None,
        (false, [MAX_HOPS, MAX_HOPS]) => Some(graph.cost_in_middle(node)),
        (false, _) => graph.cost_beside_end(node),
    }
}

impl Table<'_> {
    fn pair(&self, table: usize, first: usize, second: usize) -> Option<Pair> {
        let (one, other) = (self.firsts.get(first)?, self.seconds.get(second)?);
        let mut nodes = Vec::with_capacity(one.nodes.len() + other.nodes.len() - 1);
        nodes.extend_from_slice(&one.nodes);
        nodes.extend(other.nodes.iter().skip(1));
        let path = Path { cost: one.cost + self.meeting + other.cost, nodes };
        Some(Pair { path, table, first, second })
    }
}

fn is_simple(path: &Path) -> bool {
    let mut nodes = path.nodes.clone();
    nodes.sort_unstable();
    nodes.windows(2).all(|pair| pair[0] != pair[1])
}
