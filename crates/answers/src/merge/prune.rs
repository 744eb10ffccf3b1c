//! No name in a message may lead nowhere: readers reject what dangles.

use trapi::LogLevel;

use crate::message::{Analysis, Answer, Bindings, Index, Node, Table};
use crate::{Message, Note};

/// Takes names of what is not there out of a message that did not come from a merge; results that lose all
/// they rest on are left out, and told.
pub fn prune(message: &mut Message<'_>) -> Option<Note> {
    graphs(message);
    let mut results = std::mem::take(&mut message.results);
    let before = results.len();
    results.retain_mut(|result| {
        let came_without = result.analyses.is_empty();
        answer(result, message);
        came_without || !result.analyses.is_empty()
    });
    let dropped = before - results.len();
    message.results = results;
    complete_nodes(message);
    (dropped > 0).then(|| Note {
        level: LogLevel::Warning,
        code: "ResultsLeftOut",
        message: format!("left out {dropped} results: they bind no edges, or none that are in the message"),
    })
}

/// Takes missing edges out of auxiliary graphs, empty graphs out of the message, and missing graphs out of the
/// support of edges.
pub(super) fn graphs(message: &mut Message<'_>) {
    let Message { edges, graphs, .. } = message;
    let mut empty = Vec::new();
    for (id, graph) in graphs.iter_mut() {
        graph.edges.retain(|&edge| edges.get(edge).is_some());
        if graph.edges.is_empty() {
            empty.push(id);
        }
    }
    for id in empty {
        if let Some(slot) = graphs.slot(id) {
            *slot = None;
        }
    }
    for (_, edge) in edges.iter_mut() {
        if let Some(support) = &mut edge.support {
            support.graphs.retain(|&graph| graphs.get(graph).is_some());
            if support.graphs.is_empty() {
                edge.support = None;
            }
        }
    }
}

/// Takes missing edges and graphs out of a result, and analyses that lose all bindings of some key or bind
/// nothing at all.
pub(super) fn answer(answer: &mut Answer<'_>, message: &Message<'_>) {
    answer.analyses.retain_mut(|analysis| binds_something(analysis, message));
}

fn binds_something(analysis: &mut Analysis<'_>, message: &Message<'_>) -> bool {
    analysis.support_graphs.retain(|&graph| message.graphs.get(graph).is_some());
    let edges = bindings(&mut analysis.edge_bindings, &message.edges);
    let paths = bindings(&mut analysis.path_bindings, &message.graphs);
    matches!((edges, paths), (Some(edges), Some(paths)) if edges + paths > 0)
}

/// Takes out what is missing and returns how much is left; none where some key loses all it had.
fn bindings<I: Index, T>(bindings: &mut Bindings<'_, I>, things: &Table<'_, I, T>) -> Option<usize> {
    let mut left = 0;
    for (_, list) in bindings {
        let had = !list.is_empty();
        list.retain(|binding| things.get(binding.id).is_some());
        if had && list.is_empty() {
            return None;
        }
        left += list.len();
    }
    Some(left)
}

/// Adds a node for every name that stands in the message.
pub(super) fn complete_nodes(message: &mut Message<'_>) {
    let Message { nodes, edges, results, .. } = message;
    let bound = results.iter().flat_map(|answer| &answer.node_bindings).flat_map(|(_, list)| list);
    let named = bound
        .map(|binding| binding.id)
        .chain(edges.iter().flat_map(|(_, _, edge)| [edge.subject, edge.object]));
    for id in named {
        if let Some(slot @ None) = nodes.slot(id) {
            *slot = Some(Node::default());
        }
    }
}
