//! Answers to an inferred edge: what was looked up is bound as it is, what rules found becomes support of
//! one inferred edge per answer and pinned node.

use std::borrow::Cow;

use foldhash::HashMap;
use trapi::Inferred;

use super::collect::{Collected, asked_nodes, bound_edges, bound_nodes, settle, shared_list};
use crate::inference::Inference;
use crate::message::{
    Analysis, Answer, Binding, Bindings, EdgeId, GraphId, KeyId, List, NodeId, Rest, once_each,
    unite_bindings,
};

/// Puts the results of all callbacks together by the set of nodes that they answer with and, where several
/// ids are asked for as a batch, the one they answer for.
pub(super) fn combine(collected: &mut Collected<'_>, question: &Inferred) {
    let Some(maker) = Maker::new(collected, question) else { return };
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut positions: HashMap<[Vec<NodeId>; 2], usize> = HashMap::default();
    for source in std::mem::take(&mut collected.sources) {
        let mut unanswered = 0;
        for answer in source.answers {
            let nodes = bound_nodes(&answer, maker.answer);
            if nodes.is_empty() {
                unanswered += 1;
                continue;
            }
            let asked = if maker.batch {
                asked_nodes(&answer, maker.pinned, &mut collected.message.nodes)
            } else {
                Vec::new()
            };
            let position = *positions.entry([nodes, asked]).or_insert_with_key(|[nodes, _]| {
                groups.push(Group { nodes: nodes.clone(), ..Group::default() });
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(position) {
                if source.direct { group.direct.push(answer) } else { group.found.push(answer) }
            }
        }
        collected.note_dropped(unanswered, source.label, "they bind no answer");
    }
    collected.message.results.reserve(groups.len());
    for group in groups {
        let answer = maker.answer(collected, group);
        collected.message.results.extend(answer);
    }
}

/// All results with the same answer nodes, for the same id of a batch.
#[derive(Default)]
struct Group<'a> {
    nodes: Vec<NodeId>,
    direct: Vec<Answer<'a>>,
    found: Vec<Answer<'a>>,
}

/// What is the same for all inferred edges of a query.
struct Maker {
    answer: KeyId,
    pinned: KeyId,
    /// Whether each of the pinned node's ids is a question of its own.
    batch: bool,
    edge: KeyId,
    /// The pinned node where the client names only one.
    only_pinned: Option<NodeId>,
    pinned_is_subject: bool,
    inference: Inference,
}

impl Maker {
    fn new(collected: &mut Collected<'_>, question: &Inferred) -> Option<Self> {
        let graph = collected.message.query_graph.clone();
        let edge = graph.edges.get(&question.edge)?;
        let message = &mut collected.message;
        let pinned = graph.nodes.get(&question.pinned)?;
        let only_pinned = match pinned.ids.as_deref() {
            Some([id]) => Some(message.nodes.intern(Cow::Owned(id.clone()))),
            _ => None,
        };
        let mut key = |name: &String| message.keys.intern(Cow::Owned(name.clone()));
        let qualifiers = edge.qualifier_constraints.iter().flatten().next();
        let qualifiers = qualifiers.map_or(List::Absent, |list| shared_list(&list.qualifier_set));
        let inference = Inference::new(&collected.infores, edge.predicates.as_deref(), qualifiers)?;
        Some(Self {
            answer: key(&question.answer),
            pinned: key(&question.pinned),
            batch: pinned.is_batch(),
            edge: key(&question.edge),
            only_pinned,
            pinned_is_subject: edge.subject == question.pinned,
            inference,
        })
    }

    /// The one result for a group; none where nothing supports it.
    fn answer<'a>(&self, collected: &mut Collected<'a>, group: Group<'a>) -> Option<Answer<'a>> {
        let mut analysis = collected.own_analysis();
        let mut node_bindings: Bindings<'a, NodeId> =
            self.ends().into_iter().map(|key| (key, Vec::new())).collect();
        let mut looked_up: Vec<EdgeId> = group.direct.iter().flat_map(edges_of).collect();
        looked_up.sort_unstable();
        looked_up.dedup();

        let mut support: Vec<((NodeId, NodeId), Vec<GraphId>)> = Vec::new();
        for found in group.found {
            if self.add_support(collected, &group.nodes, &looked_up, &found, &mut support) {
                for other in self.add_nodes(&mut node_bindings, found) {
                    analysis.support_graphs.extend(other.support_graphs);
                }
            }
        }
        once_each(&mut analysis.support_graphs);
        let inferred: Vec<Binding<'a, EdgeId>> = support
            .into_iter()
            .map(|((answer, pinned), graphs)| Binding::plain(self.edge(collected, answer, pinned, graphs)))
            .collect();
        if inferred.is_empty() && looked_up.is_empty() {
            return None;
        }
        analysis.edge_bindings.push((self.edge, inferred));
        for direct in group.direct {
            for other in self.add_nodes(&mut node_bindings, direct) {
                self.add_edges(&mut analysis, other);
            }
        }
        settle(&mut node_bindings, &collected.message.nodes);
        settle(&mut analysis.edge_bindings, &collected.message.edges);
        Some(Answer { node_bindings, analyses: vec![analysis], rest: Rest::default() })
    }

    /// Notes what a rule found as support; false where it says no more than was looked up.
    fn add_support<'a>(
        &self,
        collected: &mut Collected<'a>,
        answers: &[NodeId],
        looked_up: &[EdgeId],
        found: &Answer<'a>,
        support: &mut Vec<((NodeId, NodeId), Vec<GraphId>)>,
    ) -> bool {
        let mut all = edges_of(found);
        all.sort_unstable();
        all.dedup();
        let mut pinned = bound_nodes(found, self.pinned);
        if pinned.is_empty() {
            pinned.extend(self.only_pinned);
        }
        if all.is_empty() || all == looked_up || pinned.is_empty() {
            return false;
        }
        for analysis in &found.analyses {
            let edges = bound_edges(analysis);
            if edges.is_empty() {
                continue;
            }
            let graph = collected.graph_of(&edges);
            for ends in answers.iter().flat_map(|&answer| pinned.iter().map(move |&pinned| (answer, pinned)))
            {
                match support.iter_mut().find(|(known, _)| *known == ends) {
                    Some((_, graphs)) => graphs.push(graph),
                    None => support.push((ends, vec![graph])),
                }
            }
        }
        true
    }

    /// The inferred edge between two nodes.
    fn edge(
        &self,
        collected: &mut Collected<'_>,
        answer: NodeId,
        pinned: NodeId,
        graphs: Vec<GraphId>,
    ) -> EdgeId {
        let (subject, object) = if self.pinned_is_subject { (pinned, answer) } else { (answer, pinned) };
        self.inference.edge(&mut collected.message, subject, object, graphs)
    }

    /// The keys that answers bind, subject first.
    fn ends(&self) -> [KeyId; 2] {
        if self.pinned_is_subject { [self.pinned, self.answer] } else { [self.answer, self.pinned] }
    }

    /// Takes over the bindings of the edge's ends; what is left is the analyses.
    fn add_nodes<'a>(&self, bindings: &mut Bindings<'a, NodeId>, answer: Answer<'a>) -> Vec<Analysis<'a>> {
        let own = answer.node_bindings.into_iter().filter(|(key, _)| self.ends().contains(key));
        unite_bindings(bindings, own.collect());
        answer.analyses
    }

    /// Takes over what was looked up.
    fn add_edges<'a>(&self, analysis: &mut Analysis<'a>, other: Analysis<'a>) {
        let edges = other.edge_bindings.into_iter().filter(|(key, _)| *key == self.edge).collect();
        analysis.unite(Analysis { edge_bindings: edges, resource_id: None, ..other });
    }
}

fn edges_of(answer: &Answer<'_>) -> Vec<EdgeId> {
    answer.analyses.iter().flat_map(bound_edges).collect()
}
