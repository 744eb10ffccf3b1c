//! `arax.rank`: results by how well they fill the query graph with edges that are believed.
//!
//! Three measures of each result's graph are turned into ranks and averaged, so that a score says how
//! many results are no better.

mod confidence;
mod graph;

use foldhash::HashMap;
use trapi::LogLevel;

use super::score::share_work;
use crate::message::{Analysis, Answer, EdgeId, Index, KeyId, Raw, Score};
use crate::{Message, Note};
use confidence::{combine, confidence, largest_jaccard};
use graph::Shape;

/// Belief in a bound edge that is not there.
const UNKNOWN_EDGE: f64 = 0.5;
/// The least score before ties are broken.
const LEAST: f64 = 0.001;
/// Scores differ by at least this, as far as they reach.
const STEP: f64 = 0.001;
/// Results beyond these have no score but 0.
const RANKED: usize = 1000;
/// Query graphs with more nodes or edges than this are not measured.
const MAX_SHAPE: usize = 64;
/// What marks keys that expansion added.
const ADDED: &str = "creative_";

/// Ranks all results, scores them by rank and puts the best first. The score is the first analysis's.
pub fn arax_rank(message: &mut Message<'_>) -> Vec<Note> {
    let Some(query) = Query::of(message) else {
        return vec![Note {
            level: LogLevel::Warning,
            code: "ResultsNotScored",
            message: format!(
                "the query graph has more than {MAX_SHAPE} nodes or edges: results were not ranked"
            ),
        }];
    };
    let measures = measure_all(message, &query);
    let mut scores = vec![0.0; message.results.len()];
    for which in 0..3 {
        let values: Vec<f64> = measures.iter().filter_map(|measures| measures.get(which).copied()).collect();
        for (score, rank) in scores.iter_mut().zip(quantiles(&values)) {
            *score += rank;
        }
    }
    let own = super::super::merge::own_resource("arax");
    for (answer, score) in message.results.iter_mut().zip(scores) {
        set_score(answer, (score / 3.0).max(LEAST), own.as_deref());
    }
    message.results.sort_by(|one, other| first_score(other).total_cmp(&first_score(one)));
    break_ties(&mut message.results);
    Vec::new()
}

/// The part of the query graph that is measured.
struct Query {
    shape: Shape,
    /// Position of each query edge.
    edges: HashMap<KeyId, usize>,
}

impl Query {
    fn of(message: &mut Message<'_>) -> Option<Self> {
        let sizes = [message.query_graph.nodes.len(), message.query_graph.edges.len()];
        if sizes.into_iter().any(|size| size > MAX_SHAPE) {
            return None;
        }
        let graph = std::mem::take(&mut message.query_graph);
        let mut nodes: Vec<&str> =
            graph.nodes.keys().map(String::as_str).filter(|key| !key.contains(ADDED)).collect();
        let mut query = Self { shape: Shape::default(), edges: HashMap::default() };
        for (key, edge) in graph.edges.iter().filter(|(key, _)| !key.contains(ADDED)) {
            let mut place = |node| {
                nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
                    nodes.push(node);
                    nodes.len() - 1
                })
            };
            let ends = (place(edge.subject.as_str()), place(edge.object.as_str()));
            query.edges.insert(message.keys.intern(key.clone().into()), query.shape.edges.len());
            query.shape.edges.push(ends);
        }
        query.shape.nodes = nodes.len();
        message.query_graph = graph;
        (query.shape.nodes <= MAX_SHAPE).then_some(query)
    }
}

fn measure_all(message: &Message<'_>, query: &Query) -> Vec<[f64; 3]> {
    let jaccard = largest_jaccard(message);
    let mut bound = crate::message::Marks::new(message.edges.mentioned());
    let analyses = message.results.iter().flat_map(|answer| &answer.analyses);
    for binding in analyses.flat_map(|analysis| &analysis.edge_bindings).flat_map(|(_, list)| list) {
        bound.set(binding.id);
    }
    let edges: Vec<(EdgeId, f64)> = message
        .edges
        .iter()
        .filter(|(id, _, _)| bound.has(*id))
        .map(|(id, name, edge)| (id, confidence(name, edge, jaccard)))
        .collect();
    let mut beliefs = vec![UNKNOWN_EDGE; message.edges.mentioned()];
    for (id, belief) in edges {
        if let Some(slot) = beliefs.get_mut(id.position()) {
            *slot = belief;
        }
    }
    let furthest = query.shape.furthest();
    share_work(&message.results, |answer| {
        query.shape.measure(&furthest, &weights(message, query, answer, &beliefs))
    })
}

/// The weight of each query edge: its bound edges together; a later analysis replaces an earlier one.
fn weights(message: &Message<'_>, query: &Query, answer: &Answer<'_>, beliefs: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0; query.shape.edges.len()];
    for (key, list) in answer.analyses.iter().flat_map(|analysis| &analysis.edge_bindings) {
        let Some(slot) = query.edges.get(key).and_then(|&place| weights.get_mut(place)) else { continue };
        // Edges that several sources state alike count once, with the average belief.
        let mut alike: Vec<(&str, f64, f64)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::default();
        for binding in list {
            let statement = statement(message.edges.name(binding.id));
            let belief = beliefs.get(binding.id.position()).copied().unwrap_or(UNKNOWN_EDGE);
            let place = *places.entry(statement).or_insert(alike.len());
            match alike.get_mut(place) {
                Some((_, sum, count)) => {
                    *sum += belief;
                    *count += 1.0;
                }
                None => alike.push((statement, belief, 1.0)),
            }
        }
        if !alike.is_empty() {
            *slot = combine(0.0, alike.into_iter().map(|(_, sum, count)| sum / count).collect());
        }
    }
    weights
}

/// What an edge's name says without the source in front: all behind the second colon, if there are two.
fn statement(name: &str) -> &str {
    name.splitn(3, ':').last().unwrap_or(name)
}

/// For each value the share of values that are not greater.
#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^53 results")]
fn quantiles(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |value: &f64| sorted.partition_point(|other| other <= value);
    values.iter().map(|value| rank(value) as f64 / values.len() as f64).collect()
}

fn set_score(answer: &mut Answer<'_>, score: f64, own: Option<&serde_json::value::RawValue>) {
    if answer.analyses.is_empty() {
        let resource_id = own.map(|own| Raw::Owned(own.to_owned()));
        answer.analyses.push(Analysis { resource_id, ..Analysis::default() });
    }
    if let Some(analysis) = answer.analyses.first_mut() {
        analysis.score = Score::new(score);
    }
}

fn first_score(answer: &Answer<'_>) -> f64 {
    answer.analyses.first().and_then(|analysis| analysis.score).map_or(0.0, |score| score.value)
}

/// Rounds scores to three digits and pulls equal ones apart, without changing their order.
fn break_ties(results: &mut [Answer<'_>]) {
    let mut before = f64::INFINITY;
    for (place, answer) in results.iter_mut().enumerate() {
        let mut score = if place < RANKED { three_digits(first_score(answer)) } else { 0.0 };
        if place > 0 && place < RANKED && score >= before {
            score = (before - STEP).max(0.0);
        }
        before = score;
        if let Some(analysis) = answer.analyses.first_mut() {
            analysis.score = Score::new(three_digits(score.clamp(0.0, 1.0)));
        }
    }
}

/// Rounds as decimal printing does: to the nearest, by the exact value.
fn three_digits(score: f64) -> f64 {
    format!("{score:.3}").parse().unwrap_or(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_what_the_second_colon_leaves() {
        assert_eq!(statement("infores:x:A--p--B"), "A--p--B");
        assert_eq!(statement("a:b"), "b");
        assert_eq!(statement("plain"), "plain");
        assert_eq!(statement("a:b:c:d"), "c:d");
    }

    #[test]
    fn ties_are_pulled_apart() {
        let text = format!(
            r#"{{"message":{{"query_graph":{{"nodes":{{"a":{{}}}}}},"results":[{}]}}}}"#,
            vec![r#"{"analyses":[]}"#; 1005].join(",")
        );
        let mut message = crate::message::parse(&text).unwrap();
        arax_rank(&mut message);
        let scores: Vec<String> =
            message.results.iter().map(|answer| first_score(answer).to_string()).collect();
        assert_eq!(scores[..3], ["1", "0.999", "0.998"]);
        assert_eq!(scores[999..], ["0.001", "0", "0", "0", "0", "0"]);
    }
}
