//! All callbacks in one knowledge graph, with their results still apart.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use trapi::{LogLevel, QueryGraph, Question};

use super::union::Renamed;
use super::{ids, infores, own_resource, prune, to_raw};
use crate::message::{
    Analysis, Answer, AuxGraph, Binding, Bindings, EdgeId, GraphId, Index, KeyId, List, Node, NodeId, Raw,
    Table, Text,
};
use crate::{Message, Note};

/// Who delivers to a persona.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Upstream {
    /// Retriever: statements to be put together here.
    Retriever,
    /// The ARAX service: answers that are ready, what they infer included.
    Arax,
}

impl Upstream {
    fn of(ara: &str, question: &Question) -> Self {
        match question {
            Question::Lookup | Question::Inferred(_) if ara == "arax" => Self::Arax,
            _ => Self::Retriever,
        }
    }

    fn infores(self) -> &'static str {
        match self {
            Self::Retriever => "infores:retriever",
            Self::Arax => "infores:arax",
        }
    }
}

/// The united knowledge graph and the results of each callback.
pub(super) struct Collected<'a> {
    pub(super) message: Message<'a>,
    pub(super) sources: Vec<Source<'a>>,
    /// The source that we are.
    pub(super) infores: String,
    upstream: Upstream,
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
    pub(super) fn new(ara: &str, graph: &QueryGraph, question: &Question) -> Self {
        let infores = infores(ara);
        let upstream = Upstream::of(ara, question);
        let aggregator = json!({
            "resource_id": infores,
            "resource_role": "aggregator_knowledge_source",
            "upstream_resource_ids": [upstream.infores()],
        });
        let message =
            Message { query_graph: graph.clone(), aggregator: to_raw(&aggregator), ..Message::default() };
        Self {
            message,
            sources: Vec::new(),
            resource_id: own_resource(ara),
            infores,
            upstream,
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
        self.message.graph_of(edges)
    }

    /// Sees to it that no edge, auxiliary graph or result names what nobody delivered, and that results bind
    /// what was asked for.
    pub(super) fn prune(&mut self) {
        self.mark_aggregated();
        self.drop_unasked();
        prune::graphs(&mut self.message);
        for position in 0..self.sources.len() {
            let Some(source) = self.sources.get_mut(position) else { return };
            let before = source.answers.len();
            source.answers.retain_mut(|answer| {
                prune::answer(answer, &self.message);
                !answer.analyses.is_empty()
            });
            let (dropped, label) = (before - source.answers.len(), source.label);
            self.note_dropped(dropped, label, "they bind no edges, or none that were delivered");
        }
    }

    /// Edges that pass through us say so, unless they do already or were inferred from what passed through us;
    /// those without sources always do, as every edge has a source.
    fn mark_aggregated(&mut self) {
        let finder = memmem::Finder::new(self.infores.as_bytes());
        let Message { edges, aggregator, .. } = &mut self.message;
        let only_us = shared_list(&[aggregator]);
        for (_, edge) in edges.iter_mut() {
            if edge.sources.is_empty() {
                edge.sources = only_us.clone();
            }
            let passes = edge.support.is_none() || self.upstream == Upstream::Arax;
            edge.aggregated = passes && !names_source(&edge.sources, &self.infores, &finder);
        }
    }

    /// Takes out bindings of keys that the client's graph does not have, and of paths: ours are made here.
    fn drop_unasked(&mut self) {
        let Message { query_graph, keys, .. } = &self.message;
        let asked: Vec<KeyId> = query_graph.edges.keys().filter_map(|key| keys.find(key)).collect();
        let asks_for_paths = !query_graph.paths.is_empty();
        for source in &mut self.sources {
            for analysis in source.answers.iter_mut().flat_map(|answer| &mut answer.analyses) {
                analysis.path_bindings.clear();
                if source.direct && !asks_for_paths {
                    analysis.edge_bindings.retain(|(key, _)| asked.contains(key));
                }
            }
        }
    }

    /// The message, with a node for every name that stands in it.
    pub(super) fn finish(mut self) -> (Message<'a>, Vec<Note>) {
        prune::complete_nodes(&mut self.message);
        (self.message, self.notes)
    }
}

impl Message<'_> {
    /// The auxiliary graph that holds these edges, made if need be.
    pub(crate) fn graph_of(&mut self, edges: &[EdgeId]) -> GraphId {
        let mut names: Vec<&str> = edges.iter().map(|&edge| self.edges.name(edge)).collect();
        let name = ids::edge_set(&mut names);
        let id = self.graphs.intern(Cow::Owned(name));
        if let Some(slot @ None) = self.graphs.slot(id) {
            *slot = Some(AuxGraph { edges: edges.to_vec(), ..AuxGraph::default() });
        }
        id
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
