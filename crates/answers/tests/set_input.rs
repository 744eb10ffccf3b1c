//! Answers to questions about a set: what they bind, what they rest on, and what is left out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use shepherd_answers::merge::{Callback, merge};
use shepherd_answers::set_input::{HOPS, MAX_IDS, best_neighbours, hop, respond};
use trapi::{LogEntry, LogLevel, QueryGraph, Question};

/// A response with edges between nodes, all of which are genes unless their name says otherwise.
fn response(edges: &[(&str, &str, &str)]) -> String {
    let mut graph = json!({ "nodes": {}, "edges": {} });
    for (nth, (subject, predicate, object)) in edges.iter().enumerate() {
        for id in [subject, object] {
            let category = if id.starts_with("MONDO:") { "biolink:Disease" } else { "biolink:Gene" };
            graph["nodes"][*id] = json!({ "name": id, "categories": [category], "attributes": [] });
        }
        graph["edges"][format!("{subject}-{object}-{nth}")] = json!({
            "subject": subject,
            "predicate": format!("biolink:{predicate}"),
            "object": object,
            "sources": [{ "resource_id": "infores:x", "resource_role": "primary_knowledge_source" }],
        });
    }
    json!({ "message": { "knowledge_graph": graph, "results": [] } }).to_string()
}

fn question(set: &Value, answer: &Value) -> QueryGraph {
    let graph = json!({
        "nodes": { "SN": set, "ON": answer },
        "edges": { "e": { "subject": "SN", "object": "ON", "predicates": ["biolink:related_to"] } },
    });
    QueryGraph::parse(&graph.to_string()).unwrap()
}

fn many(members: &[&str]) -> Value {
    json!({ "ids": ["uuid:1"], "set_interpretation": "MANY", "member_ids": members })
}

fn told(message: String) -> LogEntry {
    LogEntry { timestamp: "2026-01-01T00:00:00.000Z".to_owned(), level: LogLevel::Info, code: None, message }
}

/// A and B affect C; C affects D and a disease; E affects A, so that no walk from the members reaches it.
fn first_hop() -> String {
    response(&[("A", "affects", "C"), ("B", "affects", "C"), ("E", "affects", "A")])
}

fn second_hop() -> String {
    response(&[("C", "affects", "D"), ("C", "affects", "MONDO:1"), ("C", "subclass_of", "F")])
}

fn answered(graph: &QueryGraph) -> Value {
    let set = graph.set_input().unwrap();
    let (first, second) = (first_hop(), second_hop());
    let next = best_neighbours(&[&first], &set.members).unwrap();
    assert_eq!(next.first().map(String::as_str), Some("C"));
    let hops = [(vec![first.as_str()], &set.members[..]), (vec![second.as_str()], &next[..])];
    let body = respond("sipr", graph, &set, &hops, Vec::new(), told).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// The answers with their scores, in order.
fn scores(body: &Value) -> Vec<(String, f64)> {
    let results = body["message"]["results"].as_array().unwrap();
    let score = |result: &Value| {
        let id = result["node_bindings"]["ON"][0]["id"].as_str().unwrap().to_owned();
        (id, result["analyses"][0]["score"].as_f64().unwrap())
    };
    results.iter().map(score).collect()
}

fn ids(body: &Value) -> Vec<String> {
    scores(body).into_iter().map(|(id, _)| id).collect()
}

/// The edges that the first edge bound in a result rests on.
fn support(body: &Value, result: usize) -> Vec<String> {
    let message = &body["message"];
    let edge = message["results"][result]["analyses"][0]["edge_bindings"]["e"][0]["id"].as_str().unwrap();
    let attributes = message["knowledge_graph"]["edges"][edge]["attributes"].as_array().unwrap();
    let support = attributes.iter().find(|one| one["attribute_type_id"] == "biolink:support_graphs").unwrap();
    let graph = support["value"][0].as_str().unwrap();
    let edges = message["auxiliary_graphs"][graph]["edges"].as_array().unwrap();
    let mut edges: Vec<String> = edges.iter().map(|edge| edge.as_str().unwrap().to_owned()).collect();
    edges.sort();
    edges
}

#[test]
fn the_best_neighbours_are_the_answers_and_rest_on_the_ways_to_them() {
    let body = answered(&question(&many(&["A", "B"]), &json!({ "categories": ["biolink:NamedThing"] })));
    let scores = scores(&body);
    assert_eq!(ids(&body), ["C", "D", "MONDO:1"], "{scores:?}");
    assert!(scores[0].1 > scores[1].1 && (scores[1].1 - scores[2].1).abs() < 1e-15);
    assert_eq!(support(&body, 0), ["A-C-0", "B-C-1"]);
    assert_eq!(support(&body, 1), ["A-C-0", "B-C-1", "C-D-0"]);
    assert_eq!(body["logs"][0]["message"], "6 nodes at or around the set, 5 of which score at least 0.001");
    let set = &body["message"]["results"][0]["node_bindings"]["SN"];
    assert_eq!(set[0]["id"], "uuid:1");
    assert_eq!(body["message"]["knowledge_graph"]["nodes"]["uuid:1"]["is_set"], true);
}

#[test]
fn only_what_is_asked_for_is_an_answer() {
    let body = answered(&question(&many(&["A", "B"]), &json!({ "categories": ["biolink:Disease"] })));
    assert_eq!(ids(&body), ["MONDO:1"]);
    let unknown = answered_of_unknown();
    assert!(ids(&unknown).is_empty());
}

/// Members that nothing was found for.
fn answered_of_unknown() -> Value {
    let graph = question(&many(&["X"]), &json!({}));
    let set = graph.set_input().unwrap();
    let first = first_hop();
    let body = respond("sipr", &graph, &set, &[(vec![&first], &set.members)], Vec::new(), told).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn without_an_id_of_the_set_each_member_is_bound_that_leads_to_the_answer() {
    let set = json!({ "ids": ["A", "B", "X"], "set_interpretation": "MANY" });
    let body = answered(&question(&set, &json!({})));
    let bound = body["message"]["results"][0]["node_bindings"]["SN"].as_array().unwrap();
    assert_eq!(bound.iter().map(|binding| binding["id"].as_str().unwrap()).collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(support(&body, 0), ["A-C-0"], "an edge for each member rests on its own ways");
}

#[test]
fn the_merge_keeps_everything_and_names_us_once() {
    let graph = question(&many(&["A", "B"]), &json!({}));
    let body = answered(&graph).to_string();
    let callback = Callback { index: 0, label: "direct", sent: &graph, body: &body };
    let merged = merge("sipr", &graph, &Question::Lookup, &[callback]);
    let mut text = Vec::new();
    merged.message.write(&mut text).unwrap();
    let merged: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(scores(&json!({ "message": merged })), scores(&serde_json::from_str(&body).unwrap()));
    for (id, edge) in merged["knowledge_graph"]["edges"].as_object().unwrap() {
        let named = edge["sources"].to_string().matches("infores:shepherd-sipr\"").count();
        assert_eq!(named, 1, "{id}: {edge}");
    }
}

#[test]
fn hops_ask_for_batches_of_ids() {
    let ids: Vec<String> = (0..MAX_IDS).map(|nth| format!("X:{nth}")).collect();
    let asked: Vec<usize> =
        (0..HOPS).map(|nth| hop(&ids, nth).nodes["n1"].categories.as_ref().unwrap().len()).collect();
    assert_eq!(asked, [1, 6]);
}

#[test]
fn responses_that_are_none_are_told() {
    assert!(best_neighbours(&["{}"], &[]).is_err());
    assert!(best_neighbours(&["[1"], &[]).is_err());
    let odd =
        json!({ "message": { "knowledge_graph": { "nodes": null, "edges": { "e": {} } } } }).to_string();
    assert!(best_neighbours(&[&odd], &["A".to_owned()]).is_ok_and(|next| next.is_empty()));
}
