//! Halves of paths: the ways from one side's ends to where they may meet the other side's.

use std::collections::BTreeMap;

use crate::cost::Cost;
use crate::graph::{Graph, NodeId};
use crate::wanted::Met;

/// How many hops a half may have.
pub(crate) const MAX_HOPS: usize = 2;

/// Which side's ends a half starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Starts,
    Ends,
}

/// A way from an end of the question to a node where halves may meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Half {
    /// The cost of its hops and of the nodes between, without that of the node where it ends.
    pub(crate) cost: Cost,
    /// Its nodes as the path passes them.
    pub(crate) nodes: Vec<NodeId>,
}

/// Halves of as many hops, the cheapest first, by the node where they end and by what the nodes between meet.
pub(crate) type Meeting = BTreeMap<NodeId, BTreeMap<Met, Vec<Half>>>;

/// The halves from `pins`, by their number of hops.
pub(crate) fn halves<C>(graph: &Graph<'_, C>, pins: &[String], side: Side) -> [Meeting; MAX_HOPS + 1] {
    let mut all = [Meeting::new(), Meeting::new(), Meeting::new()];
    let [none, one, two] = &mut all;
    for pin in pins.iter().filter_map(|pin| graph.number(pin)) {
        let add = |meeting: &mut Meeting, met, cost, mut nodes: Vec<NodeId>| {
            let Some(&last) = nodes.last() else { return };
            if side == Side::Ends {
                nodes.reverse();
            }
            meeting.entry(last).or_default().entry(met).or_default().push(Half { cost, nodes });
        };
        add(none, Met::default(), Cost::default(), vec![pin]);
        for &first in graph.kept(pin) {
            let to_first = graph.cost_of_hop(pin, first);
            add(one, Met::default(), to_first, vec![pin, first]);
            let Some(passing) = graph.cost_beside_end(first).filter(|_| !graph.is_pinned(first)) else {
                continue;
            };
            for &second in graph.kept(first).iter().filter(|&&second| second != pin) {
                let cost = to_first + passing + graph.cost_of_hop(first, second);
                add(two, graph.met(first), cost, vec![pin, first, second]);
            }
        }
    }
    for halves in all.iter_mut().flat_map(BTreeMap::values_mut).flat_map(BTreeMap::values_mut) {
        halves.sort_unstable();
    }
    all
}
