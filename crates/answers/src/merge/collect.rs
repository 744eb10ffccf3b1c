//! All callbacks in one knowledge graph, with their results still apart.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use trapi::{LogLevel, QueryGraph};

use super::union::Renamed;
use super::{ids, infores, own_resource, to_raw};
use crate::message::{
    Analysis, Answer, AuxGraph, Binding, Bindings, EdgeId, GraphId, Index, KeyId, List, Node, NodeId, Raw,
    Table, Text,
};
use crate::{Message, Note};

/// Who delivers to us.
const UPSTREAM: &str = "infores:retriever";

/// The united knowledge graph and the results of each callback.
pub(super) struct Collected<'a> {
    pub(super) message: Message<'a>,
    pub(super) sources: Vec<Source<'a>>,
    /// The source that we are.
    pub(super) infores: String,
    resource_id: Option<Box<RawValue>>,
    notes: Vec<Note>,
    renamed: Renamed,
}

/// The results of one callback, in the numbers of the united message.
pub(super) struct Source<'a> {
    pub(super) label: &'a str,
    /// Whether they answer the client's own graph.
    pub(super) direct: bool,
    pub(super) answers: Vec<Answer<'a>>,
}

#[derive(Deserialize)]
struct SourceText {
    #[serde(default)]
    resource_id: Option<String>,
}

impl<'a> Collected<'a> {
    pub(super) fn new(ara: &str, graph: &QueryGraph) -> Self {
        let infores = infores(ara);
        let aggregator = json!({
            "resource_id": infores,
            "resource_role": "aggregator_knowledge_source",
            "upstream_resource_ids": [UPSTREAM],
        });
        let message =
            Message { query_graph: graph.clone(), aggregator: to_raw(&aggregator), ..Message::default() };
        Self {
            message,
            sources: Vec::new(),
            resource_id: own_resource(ara),
            infores,
            notes: Vec::new(),
            renamed: Renamed::default(),
        }
    }

    pub(super) fn add(&mut self, label: &'a str, direct: bool, part: Message<'a>) {
        let answers = self.message.absorb(part, &mut self.renamed);
        self.sources.push(Source { label, direct, answers });
    }

    pub(super) fn note(&mut self, level: LogLevel, code: &'static str, message: String) {
        self.notes.push(Note { level, code, message });
    }

    /// Notes edges that came under the id of another.
    pub(super) fn note_renamed(&mut self) {
        let Renamed { count, first } = std::mem::take(&mut self.renamed);
        if count > 0 {
            let message = format!(
                "{count} edges came under the id of an edge that states something else and have other ids now; \
                 the first is `{first}`"
            );
            self.note(LogLevel::Warning, "EdgesDisagree", message);
        }
    }

    /// Notes results that had to be left out.
    pub(super) fn note_dropped(&mut self, count: usize, label: &str, why: &str) {
        if count > 0 {
            let message = format!("left out {count} results of sub-query `{label}`: {why}");
            self.note(LogLevel::Warning, "ResultsLeftOut", message);
        }
    }

    /// An analysis of ours, with nothing in it yet.
    pub(super) fn own_analysis(&self) -> Analysis<'a> {
        Analysis { resource_id: self.resource_id.clone().map(Raw::Owned), ..Analysis::default() }
    }

    /// The auxiliary graph that holds these edges, made if need be.
    pub(super) fn graph_of(&mut self, edges: &[EdgeId]) -> GraphId {
        let mut names: Vec<&str> = edges.iter().map(|&edge| self.message.edges.name(edge)).collect();
        let name = ids::edge_set(&mut names);
        let id = self.message.graphs.intern(Cow::Owned(name));
        if let Some(slot @ None) = self.message.graphs.slot(id) {
            *slot = Some(AuxGraph { edges: edges.to_vec(), ..AuxGraph::default() });
        }
        id
    }

    /// Sees to it that no edge, auxiliary graph or result names what nobody delivered.
    pub(super) fn prune(&mut self) {
        self.mark_aggregated();
        self.prune_graphs();
        for position in 0..self.sources.len() {
            let Some(source) = self.sources.get_mut(position) else { return };
            let before = source.answers.len();
            source.answers.retain_mut(|answer| prune_answer(answer, &self.message));
            let (dropped, label) = (before - source.answers.len(), source.label);
            self.note_dropped(dropped, label, "they bind edges that were not delivered");
        }
    }

    /// Edges that pass through us say so, unless they do already or rest on other edges.
    fn mark_aggregated(&mut self) {
        let finder = memmem::Finder::new(self.infores.as_bytes());
        for (_, edge) in self.message.edges.iter_mut() {
            edge.aggregated = edge.support.is_none()
                && !edge.sources.is_empty()
                && !names_source(&edge.sources, &self.infores, &finder);
        }
    }

    fn prune_graphs(&mut self) {
        let Message { edges, graphs, .. } = &mut self.message;
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

    /// The message, with a node for every name that stands in it.
    pub(super) fn finish(mut self) -> (Message<'a>, Vec<Note>) {
        let Message { nodes, edges, results, .. } = &mut self.message;
        let bound = results.iter().flat_map(|answer| &answer.node_bindings).flat_map(|(_, list)| list);
        let named = bound
            .map(|binding| binding.id)
            .chain(edges.iter().flat_map(|(_, _, edge)| [edge.subject, edge.object]));
        for id in named {
            if let Some(slot @ None) = nodes.slot(id) {
                *slot = Some(crate::message::Node::default());
            }
        }
        (self.message, self.notes)
    }
}

fn names_source(sources: &List<'_>, infores: &str, finder: &memmem::Finder<'_>) -> bool {
    if sources.text().is_some_and(|text| finder.find(text.as_bytes()).is_none()) {
        return false;
    }
    sources.items().into_iter().any(|item| {
        serde_json::from_str::<SourceText>(item.get())
            .is_ok_and(|source| source.resource_id.as_deref() == Some(infores))
    })
}

/// Takes missing edges and graphs out of a result, and analyses that lose all edges of some key; false if
/// no analysis is left of those that came.
fn prune_answer(answer: &mut Answer<'_>, message: &Message<'_>) -> bool {
    let before = answer.analyses.len();
    answer.analyses.retain_mut(|analysis| prune_analysis(analysis, message));
    before == 0 || !answer.analyses.is_empty()
}

fn prune_analysis(analysis: &mut Analysis<'_>, message: &Message<'_>) -> bool {
    analysis.support_graphs.retain(|&graph| message.graphs.get(graph).is_some());
    analysis.edge_bindings.iter_mut().all(|(_, list)| {
        let had = !list.is_empty();
        list.retain(|binding| message.edges.get(binding.id).is_some());
        !(had && list.is_empty())
    })
}

/// The nodes bound to a key, each once, in order of their numbers.
pub(super) fn bound_nodes(answer: &Answer<'_>, key: KeyId) -> Vec<NodeId> {
    let lists = answer.node_bindings.iter().filter(|(known, _)| *known == key);
    let mut nodes: Vec<NodeId> = lists.flat_map(|(_, list)| list).map(|binding| binding.id).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The ids of the client that the nodes bound to a pinned key stand for: a binding's `query_id`, else the node
/// itself; each once, in order of their numbers.
pub(super) fn asked_nodes<'a>(
    answer: &Answer<'a>,
    key: KeyId,
    nodes: &mut Table<'a, NodeId, Node<'a>>,
) -> Vec<NodeId> {
    let lists = answer.node_bindings.iter().filter(|(known, _)| *known == key);
    let mut asked: Vec<NodeId> = lists
        .flat_map(|(_, list)| list)
        .map(|binding| {
            let query_id = binding.rest.get("query_id");
            let query_id = query_id.and_then(|raw| serde_json::from_str::<Text<'a>>(raw.get()).ok());
            query_id.map_or(binding.id, |text| nodes.intern(text.0))
        })
        .collect();
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// All edges that an analysis binds, each once, in order of their numbers.
pub(super) fn bound_edges(analysis: &Analysis<'_>) -> Vec<EdgeId> {
    let lists = analysis.edge_bindings.iter().flat_map(|(_, list)| list);
    let mut edges: Vec<EdgeId> = lists.map(|binding| binding.id).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Puts each list in order and leaves the first of equal bindings.
pub(super) fn settle<I: Index + Eq, T>(bindings: &mut Bindings<'_, I>, table: &Table<'_, I, T>) {
    for (_, list) in bindings {
        if list.len() > 1 {
            list.sort_by(|one, other| compare(one, other, table));
            list.dedup_by(|one, other| compare(one, other, table).is_eq());
        }
    }
}

fn compare<I: Index + Eq, T>(
    one: &Binding<'_, I>,
    other: &Binding<'_, I>,
    table: &Table<'_, I, T>,
) -> Ordering {
    let names = || table.name(one.id).cmp(table.name(other.id));
    let ids = if one.id == other.id { Ordering::Equal } else { names() };
    let attributes =
        |binding: &Binding<'_, I>| binding.attributes.map(RawValue::get).unwrap_or_default().to_owned();
    ids.then_with(|| match (one.attributes, other.attributes) {
        (None, None) => Ordering::Equal,
        _ => attributes(one).cmp(&attributes(other)),
    })
    .then_with(|| {
        if one.rest.is_empty() && other.rest.is_empty() {
            return Ordering::Equal;
        }
        let rest = |binding: &Binding<'_, I>| {
            let mut members: Vec<(String, &str)> =
                binding.rest.iter().map(|(name, value)| (name.to_owned(), value.get())).collect();
            members.sort_unstable();
            format!("{members:?}")
        };
        rest(one).cmp(&rest(other))
    })
}

/// A list that many edges share.
pub(crate) fn shared_list(value: &impl serde::Serialize) -> List<'static> {
    to_raw(value).map_or(List::Absent, |raw| List::Shared(Arc::from(raw)))
}
