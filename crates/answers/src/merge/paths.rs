//! Answers to a path query: one result per pair of ends, one analysis per path, whose edges are an
//! auxiliary graph.

use std::borrow::Cow;

use foldhash::HashMap;
use trapi::{LogLevel, PathConstraint, Pathfinder};

use super::collect::{Collected, bound_edges, bound_nodes, settle};
use crate::Message;
use crate::message::{Answer, Binding, GraphId, KeyId, NodeId, Score, once_each, unite_bindings};

/// Puts the results of all callbacks together.
pub(super) fn combine(collected: &mut Collected<'_>, question: &Pathfinder) {
    let keys = &mut collected.message.keys;
    let mut key = |name: &String| keys.intern(Cow::Owned(name.clone()));
    let (path, ends) = (key(&question.path), [key(&question.subject), key(&question.object)]);
    let asked = collected.message.query_graph.paths.get(&question.path);
    let wanted = asked.and_then(|path| wanted_category(path.constraints.as_deref()?)).map(str::to_owned);
    let mut paths = Paths {
        path,
        ends,
        wanted,
        unfit: 0,
        results: Vec::new(),
        positions: HashMap::default(),
        known: HashMap::default(),
    };
    for source in std::mem::take(&mut collected.sources) {
        let mut unbound = 0;
        for answer in source.answers {
            if !paths.add(collected, answer) {
                unbound += 1;
            }
        }
        collected.note_dropped(unbound, source.label, "an end of the path is not bound");
    }
    if let (Some(wanted), true) = (&paths.wanted, paths.unfit > 0) {
        let message = format!("left out {} paths that pass nothing of category {wanted}", paths.unfit);
        collected.note(LogLevel::Info, "ResultsFiltered", message);
    }
    collected.message.results = paths.results;
    let Message { results, nodes, .. } = &mut collected.message;
    for answer in results {
        settle(&mut answer.node_bindings, nodes);
    }
}

struct Paths<'a> {
    path: KeyId,
    ends: [KeyId; 2],
    /// A category that some node between the ends must have.
    wanted: Option<String>,
    /// How many paths pass no such node.
    unfit: usize,
    results: Vec<Answer<'a>>,
    /// Position of the result for the nodes at both ends.
    positions: HashMap<[Vec<NodeId>; 2], usize>,
    /// Position of the analysis for a path, by result.
    known: HashMap<(usize, GraphId), usize>,
}

impl<'a> Paths<'a> {
    /// Adds a path; false where one of its ends is not bound.
    fn add(&mut self, collected: &mut Collected<'a>, mut answer: Answer<'a>) -> bool {
        let ends = self.ends.map(|key| bound_nodes(&answer, key));
        if ends.iter().any(Vec::is_empty) {
            return false;
        }
        let mut edges: Vec<_> = answer.analyses.iter().flat_map(bound_edges).collect();
        edges.sort_unstable();
        edges.dedup();
        if edges.is_empty() {
            return true;
        }
        if !self.fits(&answer, &collected.message) {
            self.unfit += 1;
            return true;
        }
        let graph = collected.graph_of(&edges);
        let support = answer.analyses.iter().flat_map(|analysis| &analysis.support_graphs).copied();
        let mut support: Vec<GraphId> = support.collect();
        let score = score(&mut answer);
        let results = &mut self.results;
        let position = *self.positions.entry(ends).or_insert_with(|| {
            results.push(Answer::default());
            results.len() - 1
        });
        let Some(result) = self.results.get_mut(position) else { return true };
        let own = answer.node_bindings.into_iter().filter(|(key, _)| self.ends.contains(key));
        unite_bindings(&mut result.node_bindings, own.collect());
        let known = *self.known.entry((position, graph)).or_insert(result.analyses.len());
        if let Some(analysis) = result.analyses.get_mut(known) {
            analysis.score = Score::better(analysis.score, score);
            analysis.support_graphs.append(&mut support);
            once_each(&mut analysis.support_graphs);
        } else {
            let mut analysis = collected.own_analysis();
            analysis.path_bindings.push((self.path, vec![Binding::plain(graph)]));
            analysis.score = score;
            once_each(&mut support);
            analysis.support_graphs = support;
            result.analyses.push(analysis);
        }
        true
    }

    /// Whether a path passes the category that is wanted.
    fn fits(&self, answer: &Answer<'_>, message: &Message<'_>) -> bool {
        let Some(category) = &self.wanted else { return true };
        let between = answer.node_bindings.iter().filter(|(key, _)| !self.ends.contains(key));
        let mut nodes =
            between.flat_map(|(_, list)| list).filter_map(|binding| message.nodes.get(binding.id));
        nodes.any(|node| node.is_a(category))
    }
}

/// The category that a path must pass, where there is one; anything is a `NamedThing`.
fn wanted_category(constraints: &[PathConstraint]) -> Option<&str> {
    constraints.first()?.wanted().next().map(String::as_str)
}

/// The best score that came with a path, on the result or on an analysis.
fn score<'a>(answer: &mut Answer<'a>) -> Option<Score<'a>> {
    let own = answer.rest.remove("score").and_then(Score::from_raw);
    answer.analyses.iter().map(|analysis| analysis.score).fold(own, Score::better)
}
