//! Answers to a lookup: one result per set of answer nodes, or per set of bindings where the client left
//! several nodes open, or none.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::collect::{Collected, bound_nodes, settle};
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
            let Some(nodes) = grouping.nodes(&answer) else {
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
}

impl Grouping {
    fn of(collected: &mut Collected<'_>) -> Self {
        let message = &mut collected.message;
        let mut open = message.query_graph.nodes.iter().filter(|(_, node)| !node.is_pinned());
        let one_answer = match (open.next(), open.next()) {
            (Some((key, _)), None) => Some(message.keys.intern(Cow::Owned(key.clone()))),
            _ => None,
        };
        Self { one_answer }
    }

    /// The nodes by which a result is known; none where it binds nothing.
    fn nodes(&self, answer: &Answer<'_>) -> Option<Vec<(KeyId, Vec<NodeId>)>> {
        let mut nodes: Vec<(KeyId, Vec<NodeId>)> = match self.one_answer {
            Some(key) => vec![(key, bound_nodes(answer, key))],
            None => answer.node_bindings.iter().map(|(key, _)| (*key, bound_nodes(answer, *key))).collect(),
        };
        nodes.retain(|(_, nodes)| !nodes.is_empty());
        nodes.sort_unstable();
        (!nodes.is_empty()).then_some(nodes)
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
