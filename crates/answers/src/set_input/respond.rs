//! The answer to a question about a set.

use std::borrow::Cow;
use std::io;

use foldhash::{HashMap, HashSet};
use serde_json::json;
use serde_json::value::RawValue;
use trapi::{LogEntry, QueryGraph, SetInput};

use super::neighbourhood::{Hop, Scores};
use crate::Message;
use crate::inference::Inference;
use crate::json::Json;
use crate::merge::{infores, own_resource, shared_list};
use crate::message::{
    Analysis, Answer, Binding, EdgeId, KeyId, List, Node, NodeId, Raw, Rest, Score, Unreadable,
};

/// Nodes with a lower score are no answers.
const MIN_SCORE: f64 = 0.001;
/// How many edges one answer rests on at most, by member or set.
const MAX_SUPPORT_EDGES: usize = 100;
const NAMED_THING: &str = "biolink:NamedThing";

/// Why no answer was made.
#[derive(Debug, thiserror::Error)]
pub enum RespondError {
    /// A response is no TRAPI.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The answer cannot be written.
    #[error("the answer cannot be written")]
    Write(#[from] io::Error),
}

/// The body of a TRAPI response of `ara` to a question about a set.
///
/// `hops` are the responses to each hop, with the ids that were asked for. The nodes of the neighbourhood are scored
/// by PageRank personalised to the members; those that score at least 0.001, are of a category asked for and are
/// no members themselves are the answers. Each is bound by an edge that this service infers and that rests on the
/// shortest ways from the members to it. `logs` go along, and an entry that `tell` makes of what was found.
///
/// # Errors
/// [`RespondError`] when a response is no TRAPI.
pub fn respond(
    ara: &str,
    graph: &QueryGraph,
    set: &SetInput,
    hops: &[(Vec<&str>, &[String])],
    mut logs: Vec<LogEntry>,
    tell: impl FnOnce(String) -> LogEntry,
) -> Result<Vec<u8>, RespondError> {
    let mut message = Message { query_graph: graph.clone(), ..Message::default() };
    for (responses, asked) in hops {
        message.take_graph(Hop::read(responses, asked)?.message);
    }
    let scores = Scores::of(&message, &set.members).ranked(&message);
    let near = scores.iter().filter(|(_, score)| *score >= MIN_SCORE).count();
    let all = scores.len();
    logs.push(tell(format!("{all} nodes at or around the set, {near} of which score at least {MIN_SCORE}")));
    if let Some(mut writer) = Writer::new(&mut message, ara, graph, set, &scores) {
        let results = scores.iter().filter_map(|&(node, score)| writer.answer(&mut message, node, score));
        let results: Vec<Answer<'_>> = results.collect();
        message.results = results;
    }
    let mut body = Vec::new();
    Json::new(&mut body).object(|json| {
        message.write_to(json.member("message")?)?;
        json.member("status")?.value(&"Success")?;
        json.member("logs")?.value(&logs)
    })?;
    Ok(body)
}

/// Makes results.
struct Writer {
    set: KeyId,
    answer: KeyId,
    edge: KeyId,
    set_is_subject: bool,
    /// What is bound for the set, and the members that each stands for.
    starts: Vec<(NodeId, HashSet<NodeId>)>,
    members: HashSet<NodeId>,
    /// Categories one of which an answer must have; empty for all.
    categories: Vec<String>,
    adjacency: HashMap<NodeId, Vec<(EdgeId, NodeId)>>,
    scores: HashMap<NodeId, f64>,
    inference: Inference,
    resource_id: Option<Box<RawValue>>,
}

impl Writer {
    fn new(
        message: &mut Message<'_>,
        ara: &str,
        graph: &QueryGraph,
        set: &SetInput,
        scores: &[(NodeId, f64)],
    ) -> Option<Self> {
        let edge = graph.edges.get(&set.edge)?;
        let members: Vec<NodeId> =
            set.members.iter().map(|id| message.nodes.intern(Cow::Owned(id.clone()))).collect();
        let starts = match &set.set_id {
            Some(id) => vec![(set_node(message, id), members.iter().copied().collect())],
            None => members.iter().map(|&member| (member, HashSet::from_iter([member]))).collect(),
        };
        let categories = graph.nodes.get(&set.answer)?.categories.clone().unwrap_or_default();
        let anything = categories.iter().any(|category| category == NAMED_THING);
        let mut key = |name: &String| message.keys.intern(Cow::Owned(name.clone()));
        let (set_key, answer, edge_key) = (key(&set.set), key(&set.answer), key(&set.edge));
        Some(Self {
            set: set_key,
            answer,
            edge: edge_key,
            set_is_subject: edge.subject == set.set,
            starts,
            members: members.into_iter().collect(),
            categories: if anything { Vec::new() } else { categories },
            adjacency: message.adjacency(),
            scores: scores.iter().copied().collect(),
            inference: Inference::new(&infores(ara), edge.predicates.as_deref(), List::Absent)?,
            resource_id: own_resource(ara),
        })
    }

    /// The result for a node; none where it is no answer.
    fn answer<'a>(&mut self, message: &mut Message<'a>, node: NodeId, score: f64) -> Option<Answer<'a>> {
        if score < MIN_SCORE || self.members.contains(&node) || !self.is_asked_for(message, node) {
            return None;
        }
        let (mut bound, mut edges) = (Vec::new(), Vec::new());
        for (start, members) in &self.starts {
            let support = self.support(message, node, members);
            if support.is_empty() {
                continue;
            }
            let graph = message.graph_of(&support);
            let (subject, object) = if self.set_is_subject { (*start, node) } else { (node, *start) };
            edges.push(Binding::plain(self.inference.edge(message, subject, object, vec![graph])));
            bound.push(Binding::plain(*start));
        }
        if edges.is_empty() {
            return None;
        }
        let analysis = Analysis {
            resource_id: self.resource_id.clone().map(Raw::Owned),
            edge_bindings: vec![(self.edge, edges)],
            score: Score::new(score),
            ..Analysis::default()
        };
        Some(Answer {
            node_bindings: vec![(self.set, bound), (self.answer, vec![Binding::plain(node)])],
            analyses: vec![analysis],
            rest: Rest::default(),
        })
    }

    fn is_asked_for(&self, message: &Message<'_>, node: NodeId) -> bool {
        let has = |category: &String| message.nodes.get(node).is_some_and(|node| node.is_a(category));
        self.categories.is_empty() || self.categories.iter().any(has)
    }

    /// The edges between a node and the members; where there are none, those of the ways over one node, the
    /// best of these nodes first.
    fn support(&self, message: &Message<'_>, node: NodeId, members: &HashSet<NodeId>) -> Vec<EdgeId> {
        let around = |node: NodeId| self.adjacency.get(&node).map_or(&[][..], Vec::as_slice);
        let to_members = |node: NodeId| {
            around(node).iter().filter(|(_, other)| members.contains(other)).map(|(edge, _)| *edge)
        };
        let mut support: Vec<EdgeId> = to_members(node).take(MAX_SUPPORT_EDGES).collect();
        if support.is_empty() {
            let mut ways: Vec<(EdgeId, NodeId)> = around(node)
                .iter()
                .copied()
                .filter(|&(_, between)| to_members(between).next().is_some())
                .collect();
            let score = |node: NodeId| self.scores.get(&node).copied().unwrap_or_default();
            ways.sort_by(|&(one_edge, one), &(other_edge, other)| {
                let by_name = || message.edges.name(one_edge).cmp(message.edges.name(other_edge));
                score(other).total_cmp(&score(one)).then_with(by_name)
            });
            for (edge, between) in ways {
                let way: Vec<EdgeId> = std::iter::once(edge).chain(to_members(between)).collect();
                if support.len() + way.len() > MAX_SUPPORT_EDGES && !support.is_empty() {
                    break;
                }
                support.extend(way.into_iter().take(MAX_SUPPORT_EDGES));
            }
        }
        support.sort_unstable();
        support.dedup();
        support
    }
}

/// The node that stands for the set.
fn set_node(message: &mut Message<'_>, id: &str) -> NodeId {
    let node = message.nodes.intern(Cow::Owned(id.to_owned()));
    if let Some(slot @ None) = message.nodes.slot(node) {
        let mut rest = Rest::default();
        rest.insert(Cow::Borrowed("is_set"), RawValue::TRUE);
        let categories = shared_list(&json!([NAMED_THING]));
        *slot = Some(Node { name: None, categories, attributes: List::Absent, rest });
    }
    node
}
