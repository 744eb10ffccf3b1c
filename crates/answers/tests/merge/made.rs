//! Graphs and callbacks small enough to read.

use serde_json::{Value, json};
use shepherd_answers::merge::{Callback, Merged, merge};
use trapi::QueryGraph;

pub(crate) fn graph(value: &Value) -> QueryGraph {
    QueryGraph::parse(&value.to_string()).unwrap()
}

pub(crate) fn treats() -> QueryGraph {
    graph(&json!({
        "nodes": {"drug": {}, "disease": {"ids": ["D:1"]}},
        "edges": {"t": {"subject": "drug", "object": "disease", "predicates": ["biolink:treats"], "knowledge_type": "inferred"}},
    }))
}

pub(crate) fn lookup() -> QueryGraph {
    graph(&json!({
        "nodes": {"drug": {}, "disease": {"ids": ["D:1"]}},
        "edges": {"t": {"subject": "drug", "object": "disease"}},
    }))
}

/// drug → gene → disease, with a third edge so that crowded genes are left out.
pub(crate) fn rule() -> QueryGraph {
    graph(&json!({
        "nodes": {"drug": {}, "gene": {}, "disease": {"ids": ["D:1"]}},
        "edges": {
            "a": {"subject": "gene", "object": "drug", "predicates": ["p"]},
            "b": {"subject": "gene", "object": "disease", "predicates": ["p"]},
            "c": {"subject": "drug", "object": "disease", "predicates": ["q"]},
        },
    }))
}

pub(crate) fn edge(subject: &str, object: &str) -> Value {
    json!({
        "subject": subject, "object": object, "predicate": "biolink:p",
        "attributes": [{"attribute_type_id": "biolink:knowledge_level", "value": "prediction"}],
        "sources": [{"resource_id": "infores:x", "resource_role": "primary_knowledge_source"}],
    })
}

pub(crate) fn bind(pairs: &[(&str, &str)]) -> Value {
    pairs
        .iter()
        .map(|(key, id)| ((*key).to_owned(), json!([{"id": id, "attributes": []}])))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

pub(crate) fn result(nodes: &[(&str, &str)], edges: &[(&str, &str)]) -> Value {
    json!({"node_bindings": bind(nodes), "analyses": [{"resource_id": "infores:r", "edge_bindings": bind(edges)}]})
}

pub(crate) fn body(edges: &[(&str, Value)], results: &[Value]) -> String {
    let edges: serde_json::Map<_, _> =
        edges.iter().map(|(id, edge)| ((*id).to_owned(), edge.clone())).collect();
    json!({"message": {"knowledge_graph": {"nodes": {}, "edges": edges}, "results": results}}).to_string()
}

/// The answer of one rule: a drug by way of a gene.
pub(crate) fn by_gene(drug: &str, gene: &str) -> (Vec<(String, Value)>, Value) {
    let [a, b] = [format!("{gene}-{drug}"), format!("{gene}-D:1")];
    let found = result(&[("drug", drug), ("gene", gene), ("disease", "D:1")], &[("a", &a), ("b", &b)]);
    (vec![(a, edge(gene, drug)), (b, edge(gene, "D:1"))], found)
}

pub(crate) fn rule_body(answers: &[(&str, &str)]) -> String {
    let (edges, results): (Vec<_>, Vec<_>) = answers.iter().map(|(drug, gene)| by_gene(drug, gene)).unzip();
    let edges: Vec<(String, Value)> = edges.into_iter().flatten().collect();
    let edges: Vec<(&str, Value)> = edges.iter().map(|(id, edge)| (id.as_str(), edge.clone())).collect();
    body(&edges, &results)
}

pub(crate) fn merged<'a>(
    graph: &QueryGraph,
    callbacks: &[(&'a str, &'a QueryGraph, &'a str)],
) -> (Merged<'a>, Value) {
    merged_for("aragorn", graph, callbacks)
}

pub(crate) fn merged_for<'a>(
    ara: &str,
    graph: &QueryGraph,
    callbacks: &[(&'a str, &'a QueryGraph, &'a str)],
) -> (Merged<'a>, Value) {
    let callbacks: Vec<Callback<'a>> = callbacks
        .iter()
        .zip(0..)
        .map(|(&(label, sent, body), index)| Callback { index, label, sent, body })
        .collect();
    let merged = merge(ara, graph, &graph.examine().unwrap(), &callbacks);
    let mut out = Vec::new();
    merged.message.write(&mut out).unwrap();
    let value = serde_json::from_slice(&out).unwrap();
    (merged, value)
}

/// The attribute of an edge that names its support graphs.
pub(crate) fn support(edge: &Value) -> Vec<&str> {
    let attributes = edge["attributes"].as_array().unwrap().iter();
    let graphs = attributes.filter(|attribute| attribute["attribute_type_id"] == "biolink:support_graphs");
    graphs.flat_map(|attribute| attribute["value"].as_array().unwrap()).filter_map(Value::as_str).collect()
}
