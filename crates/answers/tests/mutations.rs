//! Nothing that comes in can make a public function panic: messages are cut, spliced and filled with
//! other types, and go through everything.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;
use serde_json::{Value, json};
use shepherd_answers::Message;
use shepherd_answers::expand::{self, AragornRules, BteTemplates};
use shepherd_answers::merge::{Callback, merge};
use shepherd_answers::message::parse;
use shepherd_answers::operations::{
    Limit, Literature, Named, Order, Profile, aragorn_omnicorp, aragorn_score, arax_rank,
    filter_analyses_top_n, filter_kgraph_orphans, filter_results_top_n, sort_results_score,
};
use shepherd_answers::response::Envelope;
use trapi::{Query, Question};

const RULES: &str = include_str!("../../../rules/aragorn/rules.json");

/// A message with some of everything.
fn seed() -> Value {
    let edge = |subject: &str, object: &str, support: Value| {
        json!({"subject": subject, "predicate": "biolink:affects", "object": object, "qualifiers": [{"qualifier_type_id": "q", "qualifier_value": "v"}],
            "attributes": [{"attribute_type_id": "biolink:publications", "value": ["PMID:1", "PMID:2"]},
                {"attribute_type_id": "x", "original_attribute_name": "p_value", "value": "1e-5"},
                {"attribute_type_id": "biolink:support_graphs", "value": support}],
            "sources": [{"resource_id": "infores:x", "resource_role": "primary_knowledge_source"}], "knowledge_level": "prediction"})
    };
    json!({
        "message": {
            "query_graph": {
                "nodes": {"a": {"categories": ["biolink:ChemicalEntity"]}, "b": {"ids": ["B"], "categories": ["biolink:Disease"], "set_interpretation": "MANY"}},
                "edges": {"e": {"subject": "a", "object": "b", "predicates": ["biolink:treats"], "knowledge_type": "inferred",
                    "qualifier_constraints": [{"qualifier_set": [{"qualifier_type_id": "q", "qualifier_value": "v"}]}]}},
            },
            "knowledge_graph": {
                "nodes": {"A": {"name": "x", "categories": ["biolink:Gene"], "attributes": [{"original_attribute_name": "num_publications", "value": 3}]}, "B": {}},
                "edges": {"e1": edge("A", "B", json!(["g"])), "e2": edge("B", "A", json!([]))},
            },
            "results": [
                {"node_bindings": {"a": [{"id": "A", "attributes": []}], "b": {"ids": ["B"]}},
                    "analyses": [{"resource_id": "infores:x", "edge_bindings": {"e": [{"id": "e1", "query_id": null}, {"id": "e2"}]}, "support_graphs": ["g"], "score": 0.5}]},
            ],
            "auxiliary_graphs": {"g": {"edges": ["e2", "e1"], "attributes": []}},
        },
        "parameters": {"timeout": 5},
        "workflow": [{"id": "filter_results_top_n", "parameters": {"max_results": 2}}],
        "logs": [{"timestamp": "2026-01-01T00:00:00Z", "level": "INFO", "message": "m"}],
        "status": "Success",
    })
}

struct Everything;

impl Literature for Everything {
    type Error = Infallible;

    fn node(&self, curie: &str) -> Result<Option<Named>, Infallible> {
        Ok(Some(Named { publications: u64::MAX, index: curie.len() as u64 }))
    }

    fn shared(&self, _: u64, _: u64) -> Result<Option<u64>, Infallible> {
        Ok(Some(u64::MAX))
    }
}

/// Whether it is JSON, however deep.
fn assert_json(text: &[u8]) {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).unwrap();
}

fn operate(message: &mut Message<'_>, query: Option<&Query>) {
    let Ok(_) = aragorn_omnicorp(message, &Everything);
    for profile in [Profile::Blended, Profile::Clinical] {
        aragorn_score(message, profile);
    }
    arax_rank(message);
    sort_results_score(message, Order::Ascending);
    filter_results_top_n(message, Limit::Of(2));
    filter_analyses_top_n(message, Limit::Of(1));
    filter_kgraph_orphans(message);
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    assert_json(&out);
    let Some(query) = query else { return };
    for schema_version in ["1.6.0", "2.0.0"] {
        let envelope = Envelope {
            message,
            query,
            status: "Success",
            description: "",
            logs: &[],
            workflow: query.workflow.as_deref().unwrap_or_default(),
            schema_version,
            biolink_version: "4.2.5",
            job_id: None,
        };
        let mut out = Vec::new();
        envelope.write(&mut out).unwrap();
        assert_json(&out);
    }
}

fn everything(text: &str) {
    let query = Query::parse(text.as_bytes()).ok();
    if let Some(query) = &query
        && let Ok(question) = query.query_graph.examine()
    {
        let graph = &query.query_graph;
        expand::lookup(graph);
        let rules = AragornRules::parse("rules.json", RULES).unwrap();
        match &question {
            Question::Inferred(inferred) => {
                rules.expand(graph, inferred);
                BteTemplates::default().expand(graph, inferred);
            }
            Question::Pathfinder(path) => drop(expand::pathfinder(graph, path)),
            Question::Lookup => {}
        }
        expand::pathfinder_parameters(&query.parameters);
        let seed = seed().to_string();
        let callbacks: Vec<Callback<'_>> = [text, &seed, text]
            .into_iter()
            .zip(["direct", "rule", "rule"])
            .zip(0..)
            .map(|((body, label), index)| Callback { index, label, sent: graph, body })
            .collect();
        operate(&mut merge("aragorn", graph, &question, &callbacks).message, Some(query));
    }
    if let Ok(mut message) = parse(text) {
        operate(&mut message, query.as_ref());
    }
    drop(AragornRules::parse("rules.json", text));
    drop(BteTemplates::parse("groups.json", text, &BTreeMap::new()));
}

/// Paths to all values inside a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(place, value)| places(value, &format!("{at}/{place}"), found));
        }
        _ => {}
    }
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(1e308)),
        Just(json!("")),
        Just(json!("A")),
        Just(json!("inferred")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null, 1, "e1", {"id": "e1"}, []])),
        Just(json!({"ids": ["A", "A", "e1"]})),
        Just(json!({"a": [{"id": "A"}], "b": null})),
    ]
}

/// A run of a few seconds, unless `PROPTEST_CASES` asks for another.
fn config() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(192),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn other_types_in_any_place_do_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), odd()), 1..4)) {
        let mut value = seed();
        for (index, odd) in changes {
            let mut found = Vec::new();
            places(&value, "", &mut found);
            let place = found[index.index(found.len())].clone();
            if let Some(slot) = value.pointer_mut(&place) {
                *slot = odd;
            }
        }
        everything(&value.to_string());
    }

    #[test]
    fn cut_and_spliced_bytes_do_not_panic(
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        with in prop::sample::select(vec!["", "\"", "{", "}", "[", "]", ",", ":", "\\", "\\ud800", "1e999", "null", "[[[[[[[["]),
    ) {
        let text = seed().to_string();
        let (from, to) = (from.index(text.len()), to.index(text.len()));
        let (from, to) = (from.min(to), from.max(to));
        everything(&format!("{}{with}{}", &text[..from], &text[to..]));
    }
}

#[test]
fn deep_nesting_does_not_panic() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let mut value = seed().to_string();
        for place in [r#""PMID:1""#, r#""1e-5""#, r#""prediction""#, r#""infores:x""#] {
            value = value.replace(place, &deep);
        }
        everything(&value);
        everything(&deep);
    }
}
