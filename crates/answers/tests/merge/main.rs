//! The rules of the merge, one by one, on callbacks small enough to read.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kept;
mod made;

use made::{bind, body, edge, graph, lookup, merged, merged_for, result, rule, rule_body, support, treats};
use serde_json::{Value, json};
use shepherd_answers::expand::DIRECT;
use shepherd_answers::merge::{Failure, Outcome};
use shepherd_answers::operations::{Profile, aragorn_score};
use trapi::QueryGraph;

#[test]
fn what_rules_find_supports_one_inferred_edge_per_answer() {
    let rule = rule();
    let (one, two) = (rule_body(&[("C:1", "G:1"), ("C:2", "G:1")]), rule_body(&[("C:1", "G:2")]));
    let (_, message) = merged(&treats(), &[("rule 1", &rule, &one), ("rule 2", &rule, &two)]);
    let results = message["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["node_bindings"], bind(&[("drug", "C:1"), ("disease", "D:1")]));
    assert_eq!(results[0]["analyses"][0]["resource_id"], "infores:shepherd-aragorn");
    let bound = results[0]["analyses"][0]["edge_bindings"]["t"].as_array().unwrap();
    assert_eq!(bound.len(), 1);
    let inferred = &message["knowledge_graph"]["edges"][bound[0]["id"].as_str().unwrap()];
    assert_eq!(
        [&inferred["subject"], &inferred["predicate"], &inferred["object"]],
        ["C:1", "biolink:treats", "D:1"]
    );
    assert_eq!(inferred["sources"][0]["resource_id"], "infores:shepherd-aragorn");
    let graphs = support(inferred);
    assert_eq!(graphs.len(), 2);
    assert_eq!(message["auxiliary_graphs"][graphs[0]]["edges"], json!(["G:1-C:1", "G:1-D:1"]));
}

#[test]
fn what_was_looked_up_is_bound_and_not_repeated_by_a_rule() {
    let (lookup, rule) = (lookup(), rule());
    let direct =
        body(&[("e", edge("C:1", "D:1"))], &[result(&[("drug", "C:1"), ("disease", "D:1")], &[("t", "e")])]);
    let repeats = body(
        &[("e", edge("C:1", "D:1"))],
        &[result(&[("drug", "C:1"), ("disease", "D:1"), ("gene", "G:1")], &[("c", "e")])],
    );
    let (_, message) = merged(&treats(), &[("rule", &rule, &repeats), (DIRECT, &lookup, &direct)]);
    let results = message["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["analyses"][0]["edge_bindings"], bind(&[("t", "e")]));
    let sources = message["knowledge_graph"]["edges"]["e"]["sources"].as_array().unwrap();
    assert_eq!(sources.last().unwrap()["resource_id"], "infores:shepherd-aragorn");
    assert_eq!(sources.len(), 2);
}

#[test]
fn what_arax_has_inferred_passes_through_arax_and_keeps_its_score() {
    let graph = treats();
    let mut inferred = edge("C:1", "D:1");
    inferred["attributes"] = json!([{"attribute_type_id": "biolink:support_graphs", "value": ["g"]}]);
    let mut found = result(&[("drug", "C:1"), ("disease", "D:1")], &[("t", "inferred")]);
    found["analyses"][0]["score"] = json!(0.75);
    let mut answer: Value =
        serde_json::from_str(&body(&[("inferred", inferred), ("e", edge("C:1", "D:1"))], &[found])).unwrap();
    answer["message"]["auxiliary_graphs"] = json!({"g": {"edges": ["e"], "attributes": []}});
    let text = answer.to_string();
    let (_, message) = merged_for("arax", &graph, &[(DIRECT, &graph, &text)]);
    let analysis = &message["results"][0]["analyses"][0];
    assert_eq!(analysis["score"], 0.75);
    assert_eq!(analysis["edge_bindings"], bind(&[("t", "inferred")]));
    assert_eq!(message["auxiliary_graphs"]["g"]["edges"], json!(["e"]));
    for id in ["inferred", "e"] {
        let sources = message["knowledge_graph"]["edges"][id]["sources"].as_array().unwrap();
        let ours = json!({
            "resource_id": "infores:shepherd-arax",
            "resource_role": "aggregator_knowledge_source",
            "upstream_resource_ids": ["infores:arax"],
        });
        assert_eq!(sources[1..], [ours], "{id}");
    }
}

#[test]
fn results_that_come_with_a_failure_are_kept_and_the_failure_is_told() {
    let graph = lookup();
    let text =
        body(&[("e", edge("C:1", "D:1"))], &[result(&[("drug", "C:1"), ("disease", "D:1")], &[("t", "e")])]);
    let text = text.replacen('{', r#"{"status":"Error","description":"boom","#, 1);
    let (merged, message) = merged(&graph, &[(DIRECT, &graph, &text)]);
    assert_eq!(message["results"].as_array().unwrap().len(), 1);
    let told: Vec<&str> = merged.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(told, ["the answer to sub-query `direct` came with status Error: boom"]);
}

#[test]
fn a_node_in_too_many_results_is_left_out_unless_it_is_pinned() {
    let rule = rule();
    let drugs: Vec<String> = (0..11).map(|number| format!("C:{number}")).collect();
    let crowded: Vec<(&str, &str)> = drugs.iter().map(|drug| (drug.as_str(), "G:hub")).collect();
    let text = rule_body(&crowded);
    assert_eq!(merged(&treats(), &[("rule", &rule, &text)]).1["results"], json!([]));
    let text = rule_body(&crowded[..10]);
    assert_eq!(merged(&treats(), &[("rule", &rule, &text)]).1["results"].as_array().unwrap().len(), 10);
}

#[test]
fn a_path_that_runs_back_on_itself_is_left_out() {
    let rule = rule();
    let text = rule_body(&[("C:1", "C:1"), ("C:2", "G:1")]);
    let (merged, message) = merged(&treats(), &[("rule", &rule, &text)]);
    assert_eq!(message["results"].as_array().unwrap().len(), 1);
    assert!(message["knowledge_graph"]["edges"].get("C:1-C:1").is_none());
    assert_eq!(merged.outcomes, [Outcome::Answered { results: 2 }]);
}

#[test]
fn what_nobody_delivered_is_left_out_with_a_word() {
    let lookup = lookup();
    let text = body(
        &[("e", edge("C:1", "D:1"))],
        &[
            result(&[("drug", "C:1"), ("disease", "D:1")], &[("t", "e")]),
            result(&[("drug", "C:2"), ("disease", "D:1")], &[("t", "gone")]),
        ],
    );
    let (merged, message) = merged(&lookup, &[(DIRECT, &lookup, &text)]);
    assert_eq!(message["results"].as_array().unwrap().len(), 1);
    assert_eq!(message["knowledge_graph"]["nodes"]["C:1"]["categories"], json!(["biolink:NamedThing"]));
    assert_eq!(merged.notes.len(), 1);
    assert_eq!(merged.notes[0].code, "ResultsLeftOut");
}

#[test]
fn a_callback_that_cannot_be_used_costs_nobody_else() {
    let (lookup, rule) = (lookup(), rule());
    let good = rule_body(&[("C:1", "G:1")]);
    let callbacks = [
        ("rule 1", &rule, "{\"message\":"),
        ("rule 2", &rule, good.as_str()),
        (DIRECT, &lookup, r#"{"message":{"results":[]},"status":"QueryNotTraversable"}"#),
        ("rule 3", &rule, r#"{"message":{},"status":"Failed","description":"no memory"}"#),
        ("rule 4", &rule, r#"{"status":"x"}"#),
    ];
    let (merged, message) = merged(&treats(), &callbacks);
    assert_eq!(message["results"].as_array().unwrap().len(), 1);
    let [unreadable, answered, not_traversable, reported, empty] = merged.outcomes.as_slice() else {
        panic!()
    };
    assert!(matches!(unreadable, Outcome::Failed { reason: Failure::Unreadable(_) }));
    assert_eq!(*answered, Outcome::Answered { results: 1 });
    assert_eq!(*not_traversable, Outcome::NotTraversable);
    let reason = Failure::Reported { status: "Failed".into(), description: "no memory".into() };
    assert_eq!(*reported, Outcome::Failed { reason });
    assert_eq!(*empty, Outcome::Failed { reason: Failure::NoMessage { status: "x".into() } });
}

#[test]
fn copies_of_nodes_and_edges_are_united() {
    let lookup = lookup();
    let copy = |name: &str, attribute: &str| {
        let mut edge = edge("C:1", "D:1");
        let attributes = edge["attributes"].as_array_mut().unwrap();
        attributes[0]["value"] = json!(attribute);
        attributes.push(json!({"attribute_type_id": attribute, "value": 1}));
        json!({"message": {
            "knowledge_graph": {"nodes": {"C:1": {"name": name, "categories": [attribute]}}, "edges": {"e": edge}},
            "results": [result(&[("drug", "C:1"), ("disease", "D:1")], &[("t", "e")])],
        }})
        .to_string()
    };
    let (one, two) = (copy("", "x"), copy("aspirin", "y"));
    let (_, message) = merged(&lookup, &[(DIRECT, &lookup, &one), (DIRECT, &lookup, &two)]);
    let graph = &message["knowledge_graph"];
    assert_eq!(graph["nodes"]["C:1"]["name"], "aspirin");
    assert_eq!(graph["nodes"]["C:1"]["categories"].as_array().unwrap().len(), 2);
    let attributes = graph["edges"]["e"]["attributes"].as_array().unwrap();
    // One knowledge level, though the copies disagree, and the attributes of both.
    assert_eq!(attributes.len(), 3);
    assert_eq!(attributes.iter().filter(|attribute| attribute["value"] == 1).count(), 2);
    assert_eq!(message["results"].as_array().unwrap().len(), 1);
}

#[test]
fn paths_become_analyses_of_one_result() {
    let question = graph(&json!({
        "nodes": {"n0": {"ids": ["A"]}, "n1": {"ids": ["B"]}},
        "paths": {"p": {"subject": "n0", "object": "n1", "constraints": [{"intermediate_categories": ["biolink:GeneOrGeneProduct"]}]}},
    }));
    let sent = QueryGraph::default();
    let found = |middle: &str, score: f64| {
        let mut result = result(
            &[("n0", "A"), ("i", middle), ("n1", "B")],
            &[("e0", &format!("A{middle}")), ("e1", &format!("{middle}B"))],
        );
        result["score"] = json!(score);
        result
    };
    let text = json!({"message": {
        "knowledge_graph": {
            "nodes": {"G": {"categories": ["biolink:Gene"]}, "X": {"categories": ["biolink:Drug"]}},
            "edges": {"AG": edge("A", "G"), "GB": edge("G", "B"), "AX": edge("A", "X"), "XB": edge("X", "B")},
        },
        "results": [found("G", 0.5), found("X", 0.9), found("G", 0.7)],
    }})
    .to_string();
    let (_, message) = merged(&question, &[(DIRECT, &sent, &text)]);
    let results = message["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    let [analysis] = results[0]["analyses"].as_array().unwrap().as_slice() else { panic!("{message}") };
    assert_eq!(analysis["score"], 0.7);
    let path = analysis["path_bindings"]["p"][0]["id"].as_str().unwrap();
    assert_eq!(message["auxiliary_graphs"][path]["edges"], json!(["AG", "GB"]));
}

#[test]
fn more_support_scores_better_and_comes_first() {
    let rule = rule();
    let (one, two) = (rule_body(&[("C:1", "G:1"), ("C:2", "G:2")]), rule_body(&[("C:2", "G:3")]));
    let (mut merged, _) = merged(&treats(), &[("rule 1", &rule, &one), ("rule 2", &rule, &two)]);
    assert!(aragorn_score(&mut merged.message, Profile::Blended).is_empty());
    let mut out = Vec::new();
    merged.message.write(&mut out).unwrap();
    let message: Value = serde_json::from_slice(&out).unwrap();
    let score = |place: usize| message["results"][place]["analyses"][0]["score"].as_f64().unwrap();
    assert_eq!(message["results"][0]["node_bindings"]["drug"][0]["id"], "C:2");
    assert!(score(0) > score(1) && score(1) > 0.001, "{} {}", score(0), score(1));
}
