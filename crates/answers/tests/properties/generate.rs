//! Callbacks made at random from few names, so that they overlap, contradict and miss one another.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trapi::QueryGraph;

/// A callback with what was sent for it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) label: String,
    pub(crate) graph: QueryGraph,
    pub(crate) body: String,
}

fn graph(value: &Value) -> QueryGraph {
    QueryGraph::parse(&value.to_string()).unwrap()
}

/// One inferred edge, its object pinned.
pub(crate) fn inferred_graph() -> QueryGraph {
    graph(&json!({
        "nodes": {"SN": {"categories": ["biolink:ChemicalEntity"]}, "ON": {"ids": ["N:0", "N:1"]}},
        "edges": {"t": {"subject": "SN", "object": "ON", "predicates": ["biolink:treats"], "knowledge_type": "inferred",
            "qualifier_constraints": [{"qualifier_set": [{"qualifier_type_id": "biolink:q", "qualifier_value": "v"}]}]}},
    }))
}

/// Two edges, with so many of the three nodes open.
pub(crate) fn lookup_graph(open: usize) -> QueryGraph {
    let node = |place: usize| if place < open { json!({}) } else { json!({"ids": ["N:0"]}) };
    graph(&json!({
        "nodes": {"SN": node(0), "ON": node(1), "h": node(2)},
        "edges": {"t": {"subject": "SN", "object": "h"}, "e1": {"subject": "h", "object": "ON"}},
    }))
}

/// A path with a constraint.
pub(crate) fn path_graph() -> QueryGraph {
    graph(&json!({
        "nodes": {"SN": {"ids": ["N:0"]}, "ON": {"ids": ["N:1"]}},
        "paths": {"p": {"subject": "SN", "object": "ON", "constraints": [{"intermediate_categories": ["biolink:Gene"]}]}},
    }))
}

/// A rule's graph, with a node at which two alike edges meet.
fn rule_graph() -> QueryGraph {
    graph(&json!({
        "nodes": {"SN": {}, "ON": {"ids": ["N:0"]}, "h": {}},
        "edges": {
            "e0": {"subject": "h", "object": "SN", "predicates": ["p"]},
            "e1": {"subject": "h", "object": "ON", "predicates": ["p"]},
            "t": {"subject": "SN", "object": "ON", "predicates": ["q"]},
        },
    }))
}

fn name(prefix: &'static str, count: u8) -> impl Strategy<Value = String> {
    (0..count).prop_map(move |number| format!("{prefix}:{number}"))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(1e-300)),
        Just(json!("t\u{e9}\"\\")),
        any::<u64>().prop_map(|number| json!(number)),
        Just(json!({"a": [1, {"b": null}]})),
    ]
}

fn list(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(json!(null)),
        9 => vec(item, 0..3).prop_map(Value::Array),
    ]
}

fn attribute() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => scalar().prop_map(|value| json!({"attribute_type_id": "biolink:x", "value": value})),
        1 => vec(name("G", 4), 0..3).prop_map(|graphs| json!({"attribute_type_id": "biolink:support_graphs", "value": graphs, "x": 1})),
    ]
}

fn source() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"resource_id": "infores:a", "resource_role": "primary_knowledge_source"})),
        Just(json!({"resource_id": "infores:b", "resource_role": "aggregator_knowledge_source"})),
        Just(
            json!({"resource_id": "infores:shepherd-aragorn", "resource_role": "aggregator_knowledge_source"})
        ),
    ]
}

/// An object with some of its members left out.
fn some_of(members: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    let count = names.len();
    (values, vec(prop::bool::weighted(0.9), count))
        .prop_map(move |(values, kept)| {
            let members = names.iter().zip(values).zip(kept).filter(|(_, kept)| *kept);
            Value::Object(members.map(|((name, value), _)| ((*name).to_owned(), value)).collect())
        })
        .boxed()
}

fn node() -> BoxedStrategy<Value> {
    some_of(vec![
        (
            "name",
            prop_oneof![Just(json!("")), Just(json!(null)), Just(json!("one")), Just(json!("two"))].boxed(),
        ),
        ("categories", list(prop_oneof![Just(json!("biolink:Gene")), Just(json!("biolink:Drug"))]).boxed()),
        ("attributes", list(attribute()).boxed()),
        ("x", scalar().boxed()),
    ])
}

fn edge() -> BoxedStrategy<Value> {
    some_of(vec![
        ("subject", name("N", 8).prop_map(Value::from).boxed()),
        ("object", name("N", 8).prop_map(Value::from).boxed()),
        ("predicate", prop_oneof![Just(json!("biolink:p")), Just(json!("biolink:q"))].boxed()),
        ("attributes", list(attribute()).boxed()),
        ("sources", list(source()).boxed()),
        ("qualifiers", list(scalar()).boxed()),
        ("y", scalar().boxed()),
    ])
}

fn aux_graph() -> BoxedStrategy<Value> {
    some_of(vec![
        ("edges", vec(name("E", 8), 0..4).prop_map(|edges| json!(edges)).boxed()),
        ("attributes", list(attribute()).boxed()),
        ("z", scalar().boxed()),
    ])
}

fn binding(prefix: &'static str, count: u8) -> impl Strategy<Value = Value> {
    (
        name(prefix, count),
        prop_oneof![4 => Just(json!([])), 1 => Just(json!([{"a": 1}])), 1 => Just(json!(null))],
    )
        .prop_map(|(id, attributes)| json!({"id": id, "attributes": attributes}))
}

fn bindings(keys: &'static [&'static str], prefix: &'static str, count: u8) -> BoxedStrategy<Value> {
    some_of(
        keys.iter()
            .map(|key| (*key, vec(binding(prefix, count), 0..3).prop_map(Value::Array).boxed()))
            .collect(),
    )
}

fn analysis() -> BoxedStrategy<Value> {
    some_of(vec![
        ("resource_id", Just(json!("infores:retriever")).boxed()),
        ("edge_bindings", bindings(&["t", "e0", "e1"], "E", 8)),
        ("support_graphs", vec(name("G", 4), 0..2).prop_map(|graphs| json!(graphs)).boxed()),
        ("score", prop_oneof![Just(json!(0.5)), Just(json!(null)), Just(json!(1))].boxed()),
    ])
}

fn result() -> BoxedStrategy<Value> {
    some_of(vec![
        ("node_bindings", bindings(&["SN", "ON", "h"], "N", 8)),
        ("analyses", list(analysis()).boxed()),
        ("score", Just(json!(0.7)).boxed()),
    ])
}

fn named(prefix: &'static str, count: u8, value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    vec((name(prefix, count), value), 0..usize::from(count) * 2)
        .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>()))
        .boxed()
}

fn message() -> BoxedStrategy<Value> {
    let graph = some_of(vec![("nodes", named("N", 8, node())), ("edges", named("E", 8, edge()))]);
    some_of(vec![
        ("knowledge_graph", prop_oneof![9 => graph, 1 => Just(json!(null)).boxed()].boxed()),
        (
            "results",
            prop_oneof![9 => vec(result(), 0..14).prop_map(Value::Array), 1 => Just(json!(null))].boxed(),
        ),
        (
            "auxiliary_graphs",
            prop_oneof![9 => named("G", 4, aux_graph()), 1 => Just(json!(null)).boxed()].boxed(),
        ),
    ])
}

fn body() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => message().prop_map(|message| json!({"message": message, "logs": []}).to_string()),
        1 => Just("{\"message\":".to_owned()),
        1 => Just("{\"message\":{\"results\":7}}".to_owned()),
        1 => Just("{\"message\":null,\"status\":\"QueryNotTraversable\"}".to_owned()),
    ]
}

/// Callbacks to a question, one or two of them direct.
pub(crate) fn callbacks(graph: QueryGraph) -> impl Strategy<Value = Vec<Sent>> {
    let labels = ["direct", "rule a", "rule b", "rule c"];
    vec((prop::sample::select(labels.to_vec()), body()), 0..6).prop_map(move |bodies| {
        bodies
            .into_iter()
            .map(|(label, body)| {
                let graph = if label == "direct" { graph.clone() } else { rule_graph() };
                Sent { label: label.to_owned(), graph, body }
            })
            .collect()
    })
}
