//! Nothing that comes in can make a public function panic: messages are cut, spliced and filled with
//! other types, and go through everything.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use shepherd_answers::Message;
use shepherd_answers::expand::{self, AragornRules, BteTemplates};
use shepherd_answers::merge::{Callback, merge};
use shepherd_answers::message::parse;
use shepherd_answers::operations::{
    Limit, Literature, Named, Order, PathFeatures, PathModel, Profile, aragorn_omnicorp, aragorn_score,
    arax_rank, filter_analyses_top_n, filter_kgraph_orphans, filter_results_top_n, score_paths,
    sort_results_score,
};
use shepherd_answers::response::Envelope;
use trapi::{Query, Question};

mod real_messages;
use real_messages as real;

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
                    "analyses": [{"resource_id": "infores:x", "edge_bindings": {"e": [{"id": "e1", "query_id": null}, {"id": "e2"}]}, "support_graphs": ["g"], "score": 0.5},
                        {"path_bindings": {"p": [{"id": "g"}]}}]},
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

/// A judge of paths that never says a number.
struct Nobody;

impl PathModel for Nobody {
    type Error = Infallible;

    fn score(&self, _: &PathFeatures<'_>) -> Result<f64, Infallible> {
        Ok(f64::NAN)
    }
}

/// A message is filled from any text that can be read, and has as much as before.
fn fill(text: &str, answer: &str) {
    let Ok(mut message) = parse(text) else { return };
    let count = |message: &Message<'_>| {
        [message.node_count(), message.edge_count(), message.auxiliary_graph_count(), message.result_count()]
    };
    let before = count(&message);
    if message.fill(answer).is_ok() {
        assert_eq!(count(&message), before);
    }
    operate(&mut message, None);
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
    score_paths::<Nobody>(message, None);
    score_paths(message, Some(&Nobody));
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
    let seed = seed().to_string();
    fill(text, &seed);
    fill(&seed, text);
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

/// How long each of the fuzzing tests goes on: a second, unless `FUZZ_SECONDS` asks for more.
fn budget() -> Duration {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(1.0))
}

/// Tries what `strategy` gives until the time is over, each time another case; a failure is shrunk.
fn for_a_while<S: Strategy>(strategy: &S, test: impl Fn(S::Value)) {
    let until = Instant::now() + budget();
    let config = ProptestConfig { cases: 1, failure_persistence: None, ..ProptestConfig::default() };
    let cases = Cell::new(0);
    let mut runs = 0;
    while runs == 0 || Instant::now() < until {
        // a runner of its own: it counts its successes over all runs, and would try nothing any more
        let tried = TestRunner::new(config.clone()).run(strategy, |value| {
            cases.set(cases.get() + 1);
            test(value);
            Ok(())
        });
        tried.unwrap_or_else(|failure| panic!("{failure}"));
        runs += 1;
    }
    assert_eq!(cases.get(), runs, "each run tries a case");
    println!("{runs} cases");
}

/// What one case does to a message: other values in some places, or other bytes between two of them.
#[derive(Clone, Debug)]
enum Change {
    Values(Vec<(prop::sample::Index, Value)>),
    Bytes(prop::sample::Index, prop::sample::Index, &'static str),
}

const SPLICES: [&str; 13] =
    ["", "\"", "{", "}", "[", "]", ",", ":", "\\", "\\ud800", "1e999", "null", "[[[[[[[["];

fn values() -> impl Strategy<Value = Change> {
    prop::collection::vec((any::<prop::sample::Index>(), odd()), 1..4).prop_map(Change::Values)
}

fn bytes() -> impl Strategy<Value = Change> {
    let place = any::<prop::sample::Index>;
    (place(), place(), prop::sample::select(SPLICES.to_vec()))
        .prop_map(|(from, to, with)| Change::Bytes(from, to, with))
}

fn changed(value: &Value, change: Change) -> String {
    match change {
        Change::Values(changes) => {
            let mut value = value.clone();
            for (index, odd) in changes {
                let mut found = Vec::new();
                places(&value, "", &mut found);
                let place = found[index.index(found.len())].clone();
                if let Some(slot) = value.pointer_mut(&place) {
                    *slot = odd;
                }
            }
            value.to_string()
        }
        Change::Bytes(from, to, with) => {
            let text = value.to_string();
            let boundary = |at: &usize| text.is_char_boundary(*at);
            let place = |index: prop::sample::Index| (0..=index.index(text.len())).rev().find(boundary);
            let place = |index| place(index).unwrap_or_default();
            let (from, to) = (place(from), place(to));
            format!("{}{with}{}", &text[..from.min(to)], &text[from.max(to)..])
        }
    }
}

#[test]
fn other_types_in_any_place_do_not_panic() {
    let seed = seed();
    for_a_while(&values(), |change| everything(&changed(&seed, change)));
}

#[test]
fn cut_and_spliced_bytes_do_not_panic() {
    let seed = seed();
    for_a_while(&bytes(), |change| everything(&changed(&seed, change)));
}

#[test]
fn changes_to_real_messages_do_not_panic() {
    let Some(folder) = real::folder() else {
        println!("no real messages found: nothing tried");
        return;
    };
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let messages: Vec<Value> = files.map(|file| serde_json::from_str(&real::text(&file)).unwrap()).collect();
    let which = any::<prop::sample::Index>();
    for_a_while(&(which, prop_oneof![values(), bytes()]), |(which, change)| {
        everything(&changed(which.get(&messages), change));
    });
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
