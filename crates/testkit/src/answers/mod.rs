//! Made-up but plausible TRAPI 1.6 answers to any edge-based query graph.
//!
//! Nothing here is random: the same query graph always gets the same message, and the same edge or node found by two
//! sub-queries is the same to the last byte, as it is with a real knowledge graph. Names of well-known drugs, genes and
//! diseases serve to make a demonstration readable; the statements about them are inventions.

mod edges;
mod entities;
mod question;

use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

use crate::knowledge::Knowledge;
use entities::{Entity, Family};
pub use question::QuestionError;
pub(crate) use question::{QNode, Question, stable_hash};

/// The TRAPI version the answers follow.
pub const SCHEMA_VERSION: &str = "1.6.0";
/// The Biolink version the categories and predicates are from.
pub const BIOLINK_VERSION: &str = "4.2.6";

/// How much an answer holds.
#[derive(Clone, Debug)]
pub struct AnswerSpec {
    /// Number of results; a graph with every node pinned has one at most. Default 10.
    pub results: usize,
    /// How much sub-queries with the same answer category agree: from 0, by chance only, to 1, on everything. Default 0.5.
    pub overlap: f64,
    /// Key of the query node that holds the answer; otherwise an unpinned node at the end of a path.
    pub answer_node: Option<String>,
    /// One more result, whose answer is this id and no family's member: what makes an answer out of this one can be
    /// searched for it. Default none; a graph with every node pinned has none either.
    pub trace: Option<String>,
    /// Where answers come from, in place of inventions: all that this graph knows is then told. Default none.
    pub knowledge: Option<Arc<Knowledge>>,
}

impl Default for AnswerSpec {
    fn default() -> Self {
        Self { results: 10, overlap: 0.5, answer_node: None, trace: None, knowledge: None }
    }
}

/// A `message` that answers `query_graph` with inventions.
///
/// # Errors
/// [`QuestionError`] when the graph has no nodes, no edges, or edges between nodes that are not there.
pub fn message(query_graph: &Value, spec: &AnswerSpec) -> Result<Value, QuestionError> {
    let question = Question::parse(query_graph)?;
    let mut nodes = Map::new();
    let mut edges = Map::new();
    let results: Vec<Value> = bindings_of(&question, spec)
        .iter()
        .map(|bound| result(&question, bound, &mut nodes, &mut edges))
        .collect();
    Ok(json!({
        "query_graph": query_graph,
        "knowledge_graph": { "nodes": nodes, "edges": edges },
        "results": results,
        "auxiliary_graphs": {},
    }))
}

/// A `message` that answers `query_graph` with nothing.
pub fn empty_message(query_graph: &Value) -> Value {
    json!({
        "query_graph": query_graph,
        "knowledge_graph": { "nodes": {}, "edges": {} },
        "results": [],
        "auxiliary_graphs": {},
    })
}

/// Takes out of `knowledge_graph` what a query for paths would be too large with: all attributes.
pub fn dehydrate(knowledge_graph: &mut Value) {
    for part in ["nodes", "edges"] {
        let things = knowledge_graph.get_mut(part).and_then(Value::as_object_mut);
        for thing in things.into_iter().flat_map(|things| things.values_mut()) {
            if let Some(members) = thing.as_object_mut() {
                members.shift_remove("attributes");
            }
        }
    }
}

/// Adds what a node or an edge of `knowledge_graph` lacks: names, categories, sources, and its attributes, which
/// replace those that came.
pub fn rehydrate(knowledge_graph: &mut Value, spec: &AnswerSpec) {
    if let Some(knowledge) = &spec.knowledge {
        return knowledge.rehydrate(knowledge_graph);
    }
    let text =
        |thing: &Value, key: &str| thing.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for (id, node) in members_mut(knowledge_graph, "nodes") {
        fill(node, entities::of_id(id, None).to_node());
    }
    for (id, edge) in members_mut(knowledge_graph, "edges") {
        let ends = [text(edge, "subject"), text(edge, "predicate"), text(edge, "object")];
        let qualifiers = edge.get("qualifiers").and_then(Value::as_array).cloned().unwrap_or_default();
        fill(edge, edges::of_id(id, ends, &qualifiers));
    }
}

pub(crate) fn members_mut<'a>(
    graph: &'a mut Value,
    part: &str,
) -> impl Iterator<Item = (&'a String, &'a mut Value)> {
    graph.get_mut(part).and_then(Value::as_object_mut).into_iter().flatten()
}

/// Adds the members of `full` that `object` does not have, and its attributes in any case.
pub(crate) fn fill(object: &mut Value, full: Value) {
    if let (Value::Object(object), Value::Object(full)) = (object, full) {
        for (key, value) in full {
            if key == "attributes" {
                object.insert(key, value);
            } else {
                object.entry(key).or_insert(value);
            }
        }
    }
}

/// For each result, the entity bound to each query node.
fn bindings_of(question: &Question, spec: &AnswerSpec) -> Vec<Vec<Entity>> {
    let Some(answer) = question.answer_node(spec.answer_node.as_deref()) else {
        let pinned = question.nodes.iter().map(|node| pinned_entity(node, 0)).collect();
        return if spec.results == 0 { Vec::new() } else { vec![pinned] };
    };
    let picks = answer_indexes(spec, question.signature);
    let found = picks.iter().enumerate().map(|(i, &pick)| bind(question, answer, i, pick));
    let traced = spec.trace.iter().map(|id| {
        let mut bound = bind(question, answer, picks.len(), 0);
        bound[answer] = entities::of_id(id, question.nodes[answer].category());
        bound
    });
    found.chain(traced).collect()
}

/// Which members of the answer's family a sub-query finds: those low in the list are found by most sub-queries, those
/// further up by few, so that merged answers differ in their support.
#[expect(clippy::cast_precision_loss, reason = "counts of results, far below 2^52")]
fn answer_indexes(spec: &AnswerSpec, signature: u64) -> Vec<usize> {
    let overlap = spec.overlap.clamp(0.0, 1.0);
    let window = (4 * spec.results).max(40);
    let rank = |index: usize| {
        let chance = stable_hash(&[&signature.to_string(), &index.to_string()]) % 1_000;
        overlap * index as f64 + (1.0 - overlap) * window as f64 * (chance as f64 / 1_000.0)
    };
    let mut indexes: Vec<usize> = (0..window).collect();
    indexes.sort_by(|&one, &other| rank(one).total_cmp(&rank(other)).then(one.cmp(&other)));
    indexes.truncate(spec.results);
    indexes.sort_unstable();
    indexes
}

fn bind(question: &Question, answer: usize, result: usize, pick: usize) -> Vec<Entity> {
    let mut taken: HashSet<String> =
        question.nodes.iter().flat_map(|node| node.ids.iter().cloned()).collect();
    let family = Family::of(question.nodes[answer].category(), question.is_about_diabetes());
    let chosen = free(&family, pick, &mut taken);
    let entities = question.nodes.iter().enumerate().map(|(position, node)| {
        let entity = if !node.ids.is_empty() {
            pinned_entity(node, result)
        } else if position == answer {
            chosen.clone()
        } else {
            // Neighbouring results share what lies between question and answer.
            let family = Family::of(node.category(), question.is_about_diabetes());
            free(&family, 5 * position + result / 3, &mut taken)
        };
        entity.with_category(node.category())
    });
    entities.collect()
}

/// The entity at `index`, or the next one that is not bound in this result yet.
fn free(family: &Family, index: usize, taken: &mut HashSet<String>) -> Entity {
    let mut index = index;
    loop {
        let entity = family.member(index);
        if taken.insert(entity.id.clone()) {
            return entity;
        }
        index += 1;
    }
}

fn pinned_entity(node: &QNode, result: usize) -> Entity {
    entities::of_id(&node.ids[result % node.ids.len()], node.category())
}

fn result(
    question: &Question,
    bound: &[Entity],
    nodes: &mut Map<String, Value>,
    edges: &mut Map<String, Value>,
) -> Value {
    let mut node_bindings = Map::new();
    for (node, entity) in question.nodes.iter().zip(bound) {
        nodes.entry(entity.id.clone()).or_insert_with(|| entity.to_node());
        node_bindings.insert(node.key.clone(), json!([{ "id": entity.id, "attributes": [] }]));
    }
    let mut edge_bindings = Map::new();
    for qedge in &question.edges {
        let (subject, object) = (&bound[qedge.subject].id, &bound[qedge.object].id);
        let predicate = qedge.predicate_for(subject, object);
        let found = edges::parallel(subject, predicate, object, &qedge.qualifiers);
        let bindings: Vec<Value> =
            found.iter().map(|(id, _)| json!({ "id": id, "attributes": [] })).collect();
        edge_bindings.insert(qedge.key.clone(), Value::Array(bindings));
        edges.extend(found);
    }
    json!({
        "node_bindings": node_bindings,
        "analyses": [{ "resource_id": "infores:retriever", "edge_bindings": edge_bindings }],
    })
}

#[cfg(test)]
mod tests;
