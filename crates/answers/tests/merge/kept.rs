//! What the merge keeps apart, and what it keeps.

use serde_json::{Value, json};
use shepherd_answers::expand::DIRECT;
use shepherd_answers::merge::prune;
use shepherd_answers::message::parse;
use trapi::QueryGraph;

use crate::made::{body, edge, graph, lookup, merged, result, rule, rule_body, treats};

fn ids(result: &Value, key: &str) -> Vec<String> {
    let bindings = result["node_bindings"][key].as_array().into_iter().flatten();
    bindings.map(|binding| binding["id"].as_str().unwrap().to_owned()).collect()
}

/// Drugs for two diseases, asked for in one go.
fn batch(knowledge_type: &str, set: &str) -> QueryGraph {
    graph(&json!({
        "nodes": {"drug": {}, "disease": {"ids": ["D:1", "D:2"], "set_interpretation": set}},
        "edges": {"t": {"subject": "drug", "object": "disease", "predicates": ["biolink:treats"], "knowledge_type": knowledge_type}},
    }))
}

fn one_drug_for_two_diseases() -> String {
    let found = |disease: &str, id: &str| result(&[("drug", "C:1"), ("disease", disease)], &[("t", id)]);
    let mut subclass = found("D:2b", "e3");
    subclass["node_bindings"]["disease"][0]["query_id"] = json!("D:2");
    body(
        &[("e1", edge("C:1", "D:1")), ("e2", edge("C:1", "D:2")), ("e3", edge("C:1", "D:2b"))],
        &[found("D:1", "e1"), found("D:2", "e2"), subclass],
    )
}

#[test]
fn each_id_of_a_batch_has_answers_of_its_own() {
    let text = one_drug_for_two_diseases();
    for knowledge_type in ["lookup", "inferred"] {
        let graph = batch(knowledge_type, "BATCH");
        let (_, message) = merged(&graph, &[(DIRECT, &graph, &text)]);
        let results = message["results"].as_array().unwrap();
        let diseases: Vec<_> = results.iter().map(|result| ids(result, "disease")).collect();
        assert_eq!(diseases, [vec!["D:1"], vec!["D:2", "D:2b"]]);
        let bound = results[1]["analyses"][0]["edge_bindings"]["t"].as_array().unwrap();
        assert_eq!(bound.len(), 2);
    }
    let all = batch("lookup", "MANY");
    assert_eq!(merged(&all, &[(DIRECT, &all, &text)]).1["results"].as_array().unwrap().len(), 1);
}

#[test]
fn each_id_of_a_batch_has_inferred_edges_of_its_own() {
    let text = one_drug_for_two_diseases();
    let (_, message) = merged(&batch("inferred", "BATCH"), &[("rule", &batch("lookup", "BATCH"), &text)]);
    let results = message["results"].as_array().unwrap();
    let objects: Vec<Vec<&Value>> = results
        .iter()
        .map(|result| {
            let bound = result["analyses"][0]["edge_bindings"]["t"].as_array().unwrap().iter();
            let edges = bound.map(|edge| &message["knowledge_graph"]["edges"][edge["id"].as_str().unwrap()]);
            let mut objects: Vec<&Value> = edges.map(|edge| &edge["object"]).collect();
            objects.sort_by_key(|object| object.as_str());
            objects
        })
        .collect();
    assert_eq!(objects, [vec!["D:1"], vec!["D:2", "D:2b"]]);
}

#[test]
fn support_graphs_of_what_rules_and_paths_found_stay() {
    let with_support = |text: &str| {
        let mut body: Value = serde_json::from_str(text).unwrap();
        body["message"]["knowledge_graph"]["edges"]["s"] = edge("C:1", "P:1");
        body["message"]["auxiliary_graphs"] = json!({"aux": {"edges": ["s"], "attributes": []}});
        body["message"]["results"][0]["analyses"][0]["support_graphs"] = json!(["aux", "gone"]);
        body.to_string()
    };
    let (rule, text) = (rule(), with_support(&rule_body(&[("C:1", "G:1")])));
    let (_, message) = merged(&treats(), &[("rule 1", &rule, &text), ("rule 2", &rule, &text)]);
    assert_eq!(message["results"][0]["analyses"][0]["support_graphs"], json!(["aux"]));
    assert_eq!(message["auxiliary_graphs"]["aux"]["edges"], json!(["s"]));

    let question = graph(&json!({
        "nodes": {"n0": {"ids": ["A"]}, "n1": {"ids": ["B"]}},
        "paths": {"p": {"subject": "n0", "object": "n1"}},
    }));
    let text = with_support(&body(
        &[("AB", edge("A", "B"))],
        &[result(&[("n0", "A"), ("n1", "B")], &[("e", "AB")])],
    ));
    let (_, message) = merged(&question, &[(DIRECT, &question, &text)]);
    assert_eq!(message["results"][0]["analyses"][0]["support_graphs"], json!(["aux"]));
}

#[test]
fn an_edge_that_states_something_else_under_a_known_id_gets_an_id_of_its_own() {
    let lookup = lookup();
    let found = |drug: &str| {
        body(&[("e", edge(drug, "D:1"))], &[result(&[("drug", drug), ("disease", "D:1")], &[("t", "e")])])
    };
    let (one, two) = (found("C:1"), found("C:2"));
    let callbacks = [(DIRECT, &lookup, two.as_str()), (DIRECT, &lookup, &one), (DIRECT, &lookup, &two)];
    let (merged, message) = merged(&lookup, &callbacks);
    for result in message["results"].as_array().unwrap() {
        let bound = result["analyses"][0]["edge_bindings"]["t"].as_array().unwrap();
        let [bound] = bound.as_slice() else { panic!("{message}") };
        let edge = &message["knowledge_graph"]["edges"][bound["id"].as_str().unwrap()];
        assert_eq!(edge["subject"], result["node_bindings"]["drug"][0]["id"]);
    }
    assert_eq!(message["knowledge_graph"]["edges"].as_object().unwrap().len(), 2);
    assert_eq!(merged.notes.len(), 1);
    assert_eq!(merged.notes[0].code, "EdgesDisagree");
    assert!(merged.notes[0].message.starts_with("1 edges came") && merged.notes[0].message.ends_with("`e`"));
}

#[test]
fn a_node_that_the_client_pinned_twice_is_no_repetition_and_others_are_told() {
    let graph = graph(&json!({
        "nodes": {"a": {"ids": ["A"]}, "b": {"ids": ["A", "B"]}, "c": {}},
        "edges": {"e": {"subject": "a", "object": "b"}, "f": {"subject": "b", "object": "c"}},
    }));
    let found = |b: &str, c: &str| result(&[("a", "A"), ("b", b), ("c", c)], &[("e", "1"), ("f", "2")]);
    let text = body(
        &[("1", edge("A", "A")), ("2", edge("A", "C"))],
        &[found("A", "C"), found("A", "A"), found("B", "B")],
    );
    let (merged, message) = merged(&graph, &[(DIRECT, &graph, &text)]);
    assert_eq!(message["results"].as_array().unwrap().len(), 1);
    assert_eq!(ids(&message["results"][0], "b"), ["A"]);
    assert_eq!(merged.notes.len(), 1);
    assert_eq!(merged.notes[0].code, "ResultsFiltered");
    assert!(merged.notes[0].message.starts_with("left out 2 results"), "{}", merged.notes[0].message);
}

#[test]
fn what_would_make_the_whole_response_invalid_is_taken_out() {
    let lookup = lookup();
    let mut odd = edge("C:1", "D:1");
    odd["sources"] = json!([{"resource_id": "infores:x"}]);
    let mut paths = result(&[("drug", "C:1"), ("disease", "D:1")], &[("t", "odd"), ("u", "odd")]);
    paths["analyses"][0]["path_bindings"] = json!({"p": [{"id": "aux"}]});
    let text = body(
        &[("odd", odd)],
        &[
            paths,
            result(&[("drug", "C:2"), ("disease", "D:1")], &[("u", "odd")]),
            result(&[("drug", "C:3"), ("disease", "D:1")], &[]),
        ],
    );
    let (merged, message) = merged(&lookup, &[(DIRECT, &lookup, &text)]);
    let [result] = message["results"].as_array().unwrap().as_slice() else { panic!("{message}") };
    assert_eq!(result["analyses"][0]["edge_bindings"], json!({"t": [{"id": "odd", "attributes": []}]}));
    let sources = message["knowledge_graph"]["edges"]["odd"]["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 1);
    assert_eq!(sources[0]["resource_role"], "aggregator_knowledge_source");
    assert!(merged.notes[0].message.starts_with("left out 2 results"), "{}", merged.notes[0].message);
}

#[test]
fn what_a_client_brings_is_pruned() {
    let mut text: Value = serde_json::from_str(&body(
        &[("e", edge("A", "B")), ("gone", json!({"object": "B"}))],
        &[
            result(&[("a", "A")], &[("e", "e")]),
            result(&[("a", "A")], &[("e", "gone")]),
            json!({"node_bindings": {}}),
        ],
    ))
    .unwrap();
    text["message"]["auxiliary_graphs"] =
        json!({"aux": {"edges": ["gone", "e"]}, "none": {"edges": ["gone"]}});
    let text = text.to_string();
    let mut message = parse(&text).unwrap();
    let note = prune(&mut message).unwrap();
    assert!(note.message.starts_with("left out 1 results"), "{}", note.message);
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    let message: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(message["results"].as_array().unwrap().len(), 2);
    assert_eq!(message["auxiliary_graphs"], json!({"aux": {"edges": ["e"], "attributes": []}}));
    assert_eq!(message["knowledge_graph"]["nodes"].as_object().unwrap().len(), 2);
    assert_eq!(prune(&mut parse(r#"{"message":{}}"#).unwrap()), None);
}
