//! Answers to a lookup: one result per set of answer nodes and pinned id of a batch, or per set of bindings
//! where the client left several nodes open, or none.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::collect::{Collected, asked_nodes, bound_nodes, settle};
use crate::Message;
use crate::message::{Analysis, Answer, KeyId, NodeId, unite_bindings};

/// Puts the results of all callbacks together.
pub(super) fn combine(collected: &mut Collected<'_>) {
    let grouping = Grouping::of(collected);
    let mut positions: HashMap<Vec<(KeyId, Vec<NodeId>)>, usize> = HashMap::default();
    let mut results: Vec<Answer<'_>> = Vec::new();
    for source in std::mem::take(&mut collected.sources) {
        let mut unanswered = 0;
        for mut answer in source.answers {
            let Some(nodes) = grouping.nodes(&answer, &mut collected.message) else {
                unanswered += 1;
                continue;
            };
            if grouping.one_answer.is_some() {
                answer.analyses = vec![as_one(answer.analyses, collected.own_analysis())];
            }
            for analysis in &mut answer.analyses {
                settle(&mut analysis.edge_bindings, &collected.message.edges);
            }
            let position = *positions.entry(nodes).or_insert(results.len());
            if let Some(known) = results.get_mut(position) {
                unite(known, answer, grouping.one_answer.is_some(), &collected.message);
            } else {
                results.push(answer);
            }
        }
        collected.note_dropped(unanswered, source.label, "they bind no answer");
    }
    for answer in &mut results {
        settle(&mut answer.node_bindings, &collected.message.nodes);
        for analysis in &mut answer.analyses {
            settle(&mut analysis.edge_bindings, &collected.message.edges);
        }
    }
    collected.message.results = results;
}

/// What makes two results one.
struct Grouping {
    /// The only node that is open, if there is just one.
    one_answer: Option<KeyId>,
    /// Nodes each of whose ids is a question of its own.
    batches: Vec<KeyId>,
}

impl Grouping {
    fn of(collected: &mut Collected<'_>) -> Self {
        let Message { query_graph, keys, .. } = &mut collected.message;
        let mut key = |name: &String| keys.intern(Cow::Owned(name.clone()));
        let mut open = query_graph.nodes.iter().filter(|(_, node)| !node.is_pinned());
        let one_answer = match (open.next(), open.next()) {
            (Some((name, _)), None) => Some(key(name)),
            _ => None,
        };
        let batches = query_graph.nodes.iter().filter(|(_, node)| node.is_batch());
        Self { one_answer, batches: batches.map(|(name, _)| key(name)).collect() }
    }

    /// The nodes by which a result is known; none where it binds nothing.
    fn nodes<'a>(&self, answer: &Answer<'a>, message: &mut Message<'a>) -> Option<Vec<(KeyId, Vec<NodeId>)>> {
        let Some(key) = self.one_answer else {
            let keys = answer.node_bindings.iter().map(|(key, _)| *key);
            let mut nodes: Vec<_> = keys.map(|key| (key, bound_nodes(answer, key))).collect();
            nodes.retain(|(_, nodes)| !nodes.is_empty());
            nodes.sort_unstable();
            return (!nodes.is_empty()).then_some(nodes);
        };
        let bound = bound_nodes(answer, key);
        if bound.is_empty() {
            return None;
        }
        let asked = self.batches.iter().map(|&key| (key, asked_nodes(answer, key, &mut message.nodes)));
        Some(std::iter::once((key, bound)).chain(asked).collect())
    }
}

/// All analyses of a result as one of ours.
fn as_one<'a>(analyses: Vec<Analysis<'a>>, mut own: Analysis<'a>) -> Analysis<'a> {
    for analysis in analyses {
        own.unite(analysis);
    }
    own
}

/// Takes over what another result for the same nodes knows: the analyses of an answer are one, those of
/// other results stay apart unless they say the same.
fn unite<'a>(known: &mut Answer<'a>, other: Answer<'a>, as_one: bool, message: &Message<'_>) {
    unite_bindings(&mut known.node_bindings, other.node_bindings);
    known.rest.fill_from(other.rest);
    match known.analyses.as_mut_slice() {
        [own] if as_one => other.analyses.into_iter().for_each(|analysis| own.unite(analysis)),
        _ => {
            let mut texts: HashSet<Vec<u8>> =
                known.analyses.iter().map(|analysis| message.analysis_text(analysis)).collect();
            let new = other.analyses.into_iter().filter(|new| texts.insert(message.analysis_text(new)));
            known.analyses.extend(new);
        }
    }
}
