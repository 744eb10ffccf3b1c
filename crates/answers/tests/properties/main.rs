//! What holds for every merge, whatever comes back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod generate;

use std::collections::HashSet;

use generate::{Sent, callbacks, inferred_graph, lookup_graph, path_graph};
use proptest::prelude::*;
use serde_json::Value;
use shepherd_answers::Message;
use shepherd_answers::merge::{Callback, Merged, Outcome, merge};
use shepherd_answers::message::parse;
use shepherd_answers::operations::{
    Limit, Order, Profile, aragorn_score, arax_rank, filter_analyses_top_n, filter_kgraph_orphans,
    filter_results_top_n, sort_results_score,
};
use shepherd_answers::response::Envelope;
use trapi::{Query, QueryGraph};

fn merged<'a>(graph: &QueryGraph, sent: &'a [Sent], order: &[usize]) -> Merged<'a> {
    let callbacks: Vec<Callback<'a>> = order
        .iter()
        .zip(0..)
        .map(|(&place, index)| {
            let Sent { label, graph, body } = &sent[place];
            Callback { index, label, sent: graph, body }
        })
        .collect();
    merge("aragorn", graph, &graph.examine().unwrap(), &callbacks)
}

fn written(message: &Message<'_>) -> String {
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Everything that is named and not there.
fn dangling(message: &Value) -> Vec<String> {
    let graph = &message["knowledge_graph"];
    let has = |part: &Value, id: &Value| part.get(id.as_str().unwrap_or_default()).is_some();
    let mut missing = Vec::new();
    let mut need = |part: &Value, id: &Value| {
        if !has(part, id) {
            missing.push(id.to_string());
        }
    };
    for (_, edge) in members(&graph["edges"]) {
        need(&graph["nodes"], &edge["subject"]);
        need(&graph["nodes"], &edge["object"]);
        for attribute in items(&edge["attributes"]) {
            if attribute["attribute_type_id"] == "biolink:support_graphs" {
                items(&attribute["value"]).for_each(|id| need(&message["auxiliary_graphs"], id));
            }
        }
    }
    for (_, aux) in members(&message["auxiliary_graphs"]) {
        items(&aux["edges"]).for_each(|id| need(&graph["edges"], id));
    }
    for result in items(&message["results"]) {
        for (_, list) in members(&result["node_bindings"]) {
            items(list).for_each(|binding| need(&graph["nodes"], &binding["id"]));
        }
        for analysis in items(&result["analyses"]) {
            for (_, list) in members(&analysis["edge_bindings"]) {
                items(list).for_each(|binding| need(&graph["edges"], &binding["id"]));
            }
            for (_, list) in members(&analysis["path_bindings"]) {
                items(list).for_each(|binding| need(&message["auxiliary_graphs"], &binding["id"]));
            }
            items(&analysis["support_graphs"]).for_each(|id| need(&message["auxiliary_graphs"], id));
        }
    }
    missing
}

/// Objects that say the same name twice, which no reader of values would notice.
fn repeated_names(text: &str) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'de> serde::Deserialize<'de> for Names {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Names;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("JSON")
                }
                fn visit_bool<E>(self, _: bool) -> Result<Names, E> {
                    Ok(Names(Vec::new()))
                }
                fn visit_i64<E>(self, _: i64) -> Result<Names, E> {
                    Ok(Names(Vec::new()))
                }
                fn visit_u64<E>(self, _: u64) -> Result<Names, E> {
                    Ok(Names(Vec::new()))
                }
                fn visit_f64<E>(self, _: f64) -> Result<Names, E> {
                    Ok(Names(Vec::new()))
                }
                fn visit_str<E>(self, _: &str) -> Result<Names, E> {
                    Ok(Names(Vec::new()))
                }
                fn visit_unit<E>(self) -> Result<Names, E> {
                    Ok(Names(Vec::new()))
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                    let mut repeated = Vec::new();
                    while let Some(Names(more)) = list.next_element()? {
                        repeated.extend(more);
                    }
                    Ok(Names(repeated))
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                    let mut repeated = Vec::new();
                    let mut known = HashSet::new();
                    while let Some((name, Names(more))) = map.next_entry::<String, Names>()? {
                        repeated.extend(more);
                        if !known.insert(name.clone()) {
                            repeated.push(name);
                        }
                    }
                    Ok(Names(repeated))
                }
            }
            deserializer.deserialize_any(Visitor)
        }
    }
    serde_json::from_str::<Names>(text).unwrap().0
}

/// Fails with the place where two texts part.
fn same(one: &str, other: &str, what: &str) -> Result<(), TestCaseError> {
    let Some(place) = one.bytes().zip(other.bytes()).position(|(one, other)| one != other) else {
        prop_assert_eq!(one.len(), other.len(), "{}", what);
        return Ok(());
    };
    let near = |text: &str| {
        let shown = &text.as_bytes()[place.saturating_sub(80)..(place + 160).min(text.len())];
        String::from_utf8_lossy(shown).into_owned()
    };
    Err(TestCaseError::fail(format!("{what}:\n  {}\n  {}", near(one), near(other))))
}

fn holds_for(graph: &QueryGraph, sent: &[Sent], order: &[usize]) -> Result<(), TestCaseError> {
    let in_order: Vec<usize> = (0..sent.len()).collect();
    let once = merged(graph, sent, &in_order);
    let text = written(&once.message);
    same(&written(&merged(graph, sent, order).message), &text, "the order matters")?;
    let twice = [in_order.as_slice(), order].concat();
    same(&written(&merged(graph, sent, &twice).message), &text, "coming twice matters")?;
    prop_assert_eq!(repeated_names(&text), Vec::<String>::new());
    let value: Value = serde_json::from_str(&text).unwrap();
    prop_assert_eq!(dangling(&value), Vec::<String>::new());
    prop_assert_eq!(once.outcomes.len(), sent.len());

    // What cannot be read costs nobody else anything.
    let usable: Vec<usize> = once
        .outcomes
        .iter()
        .enumerate()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Answered { .. }))
        .map(|(place, _)| place)
        .collect();
    same(&written(&merged(graph, sent, &usable).message), &text, "failed callbacks matter")?;
    survives_operations(&text)?;
    survives_the_other_dialect(&once.message)?;
    splits_alike(once.message)
}

/// What is written in 2.0 is written the same again after it was read, at once or by way of 1.6.
fn survives_the_other_dialect(message: &Message<'_>) -> Result<(), TestCaseError> {
    let body = format!(
        r#"{{"message":{{"query_graph":{}}}}}"#,
        serde_json::to_string(message.query_graph()).unwrap()
    );
    let query = Query::parse(body.as_bytes()).unwrap();
    let in_version = |message: &Message<'_>, schema_version: &str| {
        let envelope = Envelope {
            message,
            query: &query,
            status: "Success",
            description: "",
            logs: &[],
            workflow: &[],
            schema_version,
            biolink_version: "4.2.5",
            job_id: None,
        };
        let mut out = Vec::new();
        envelope.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let new = in_version(message, "2.0.0");
    prop_assert_eq!(repeated_names(&new), Vec::<String>::new());
    let read = parse(&new).unwrap();
    same(&in_version(&read, "2.0.0"), &new, "2.0 read again is another")?;
    let old = in_version(&read, "1.6.0");
    same(&in_version(&parse(&old).unwrap(), "2.0.0"), &new, "2.0 by way of 1.6 is another")
}

/// Operations in one process give the same bytes as one after the other by way of the text.
fn splits_alike(mut message: Message<'_>) -> Result<(), TestCaseError> {
    let operations: [fn(&mut Message<'_>); 5] = [
        |message| drop(aragorn_score(message, Profile::Blended)),
        |message| sort_results_score(message, Order::Descending),
        |message| filter_results_top_n(message, Limit::Of(4)),
        filter_kgraph_orphans,
        |message| drop(arax_rank(message)),
    ];
    let mut text = written(&message);
    for operation in operations {
        operation(&mut message);
        let response = format!(r#"{{"message":{text}}}"#);
        let mut apart = parse(&response).unwrap();
        operation(&mut apart);
        text = written(&apart);
        same(&written(&message), &text, "operations apart give something else")?;
    }
    Ok(())
}

/// A message goes through the operations from memory and from its text alike, and nothing gets lost on
/// which a result rests.
fn survives_operations(text: &str) -> Result<(), TestCaseError> {
    let response = format!(r#"{{"message":{text}}}"#);
    let mut message = parse(&response).unwrap();
    same(&written(&message), text, "reading and writing changes the message")?;
    sort_results_score(&mut message, Order::Descending);
    filter_results_top_n(&mut message, Limit::Of(3));
    filter_analyses_top_n(&mut message, Limit::Of(2));
    filter_kgraph_orphans(&mut message);
    let filtered = written(&message);
    prop_assert_eq!(dangling(&serde_json::from_str(&filtered).unwrap()), Vec::<String>::new());
    let response = format!(r#"{{"message":{filtered}}}"#);
    let mut again = parse(&response).unwrap();
    filter_kgraph_orphans(&mut again);
    same(&written(&again), &filtered, "filtering twice filters more")?;
    Ok(())
}

/// Callbacks and another order of them.
fn shuffled(graph: QueryGraph) -> impl Strategy<Value = (QueryGraph, Vec<Sent>, Vec<usize>)> {
    callbacks(graph.clone()).prop_flat_map(move |sent| {
        let order: Vec<usize> = (0..sent.len()).collect();
        (Just(graph.clone()), Just(sent), Just(order).prop_shuffle())
    })
}

/// A run of a few seconds, unless `PROPTEST_CASES` asks for another.
fn config() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(96),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn inferred_answers_are_merged_the_same_in_every_order((graph, sent, order) in shuffled(inferred_graph())) {
        holds_for(&graph, &sent, &order)?;
    }

    #[test]
    fn lookups_are_merged_the_same_in_every_order((graph, sent, order) in shuffled(lookup_graph(1))) {
        holds_for(&graph, &sent, &order)?;
    }

    #[test]
    fn lookups_of_other_shapes_are_merged_the_same_in_every_order(
        (graph, sent, order) in prop_oneof![Just(0usize), Just(2), Just(3)].prop_flat_map(|open| shuffled(lookup_graph(open))),
    ) {
        holds_for(&graph, &sent, &order)?;
    }

    #[test]
    fn paths_are_merged_the_same_in_every_order((graph, sent, order) in shuffled(path_graph())) {
        holds_for(&graph, &sent, &order)?;
    }
}
