//! Paths that are known, asked over HTTP.

use std::collections::HashSet;
use std::time::Instant;

use answers::merge::{Callback, merge};
use serde_json::{Value, json};
use testkit::RetrieverDouble;
use testkit::knowledge::Knowledge;

use super::{ASTHMA, HUB, IMATINIB, Scene, between, logged, plain, query};

async fn small() -> Scene {
    Scene::new(RetrieverDouble::builder().knowledge(Knowledge::small()).start().await.unwrap())
}

const KIT: &str = "NCBIGene:3815";
const ABL1_TNF: &str = "NCBIGene:25 NCBIGene:7124";
const OVER_THE_PATHWAY: &str = "NCBIGene:5159 GO:0048008 NCBIGene:5156";

#[tokio::test]
async fn the_paths_of_the_small_graph_are_found_the_best_first() {
    let scene = small().await;
    let answer = scene.found(&plain(IMATINIB, ASTHMA)).await;
    assert_eq!(between(&answer), [KIT, HUB, ABL1_TNF, OVER_THE_PATHWAY]);
    assert_eq!(answer["status"], "Success");
    assert_eq!(logged(&answer, "WARNING"), [""; 0]);
    let scores: Vec<f64> = answer["message"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["analyses"][0]["score"].as_f64().unwrap())
        .collect();
    assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{scores:?}");
    assert!(scores.iter().all(|score| *score > 0.0 && *score <= 1.0));
    let asked = scene.double.sync_queries();
    let parameters = &asked[0].query["parameters"];
    assert_eq!(parameters["filter_config"], json!({"max_node_degree": 10_000}));
    assert_eq!((&parameters["dehydrated"], &parameters["subclass"]), (&json!(true), &json!(false)));
    assert!(asked.len() <= 3, "{} questions for {} nodes", asked.len(), 2 + 7);
}

#[tokio::test]
async fn what_the_client_wants_to_pass_counts() {
    let scene = small().await;
    let narrow = json!({"filter_config": {"max_node_degree": 100}});
    let answer = scene.found(&query(IMATINIB, ASTHMA, &json!({}), &narrow)).await;
    assert_eq!(between(&answer), [KIT, ABL1_TNF, OVER_THE_PATHWAY]);
    let process =
        json!({"constraints": [{"intermediate_categories": ["biolink:BiologicalProcessOrActivity"]}]});
    let answer = scene.found(&query(IMATINIB, ASTHMA, &process, &json!({}))).await;
    assert_eq!(between(&answer), [OVER_THE_PATHWAY]);
}

#[tokio::test]
async fn what_leads_nowhere_is_an_answer_without_results() {
    let scene = small().await;
    for query in [plain(IMATINIB, "MONDO:0000000"), plain("CHEBI:0", "MONDO:0000000")] {
        let answer = scene.found(&query).await;
        assert_eq!((&answer["status"], &answer["message"]["results"]), (&json!("Success"), &json!([])));
        assert_eq!(answer["message"]["knowledge_graph"], json!({"nodes": {}, "edges": {}}));
        assert_eq!(logged(&answer, "WARNING"), [""; 0]);
    }
}

#[tokio::test]
async fn the_merge_makes_one_result_with_an_analysis_per_path_and_adds_itself_once_per_edge() {
    let scene = small().await;
    let query = plain(IMATINIB, ASTHMA);
    let body = scene.answer(&query, std::future::pending()).await.unwrap();
    let (graph, text) = (&query.query_graph, std::str::from_utf8(&body).unwrap());
    let callback = Callback { index: 0, label: "direct", sent: graph, body: text };
    let merged = merge("arax", graph, &graph.examine().unwrap(), &[callback]);
    let mut out = Vec::new();
    merged.message.write(&mut out).unwrap();
    let message: Value = serde_json::from_slice(&out).unwrap();
    let results = message["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["node_bindings"]["SN"][0]["id"], IMATINIB);
    assert_eq!(results[0]["node_bindings"]["ON"][0]["id"], ASTHMA);
    let analyses = results[0]["analyses"].as_array().unwrap();
    assert_eq!(analyses.len(), 4);
    let hops: Vec<usize> = analyses
        .iter()
        .map(|analysis| {
            let path = analysis["path_bindings"]["p0"][0]["id"].as_str().unwrap();
            message["auxiliary_graphs"][path]["edges"].as_array().unwrap().len()
        })
        .collect();
    assert_eq!(hops, [2, 2, 3, 4]);
    let edges = message["knowledge_graph"]["edges"].as_object().unwrap();
    assert_eq!(edges.len(), 11);
    for edge in edges.values() {
        let sources = edge["sources"].as_array().unwrap().iter();
        assert_eq!(sources.filter(|source| source["resource_id"] == "infores:shepherd-arax").count(), 1);
    }
}

/// The measurement of a large graph: `cargo nextest run --release --run-ignored only --no-capture -E 'test(large)'`.
#[tokio::test]
#[ignore = "a measurement"]
async fn a_large_graph_over_http() {
    let knowledge = Knowledge::generated(100_000, 5, 7);
    let statements = knowledge.statement_count();
    let double = RetrieverDouble::builder().knowledge(knowledge).start().await.unwrap();
    let scene = Scene::new(double);
    for (start, end) in [(50_001, 90_002), (99_998, 99_999), (10, 60_000)] {
        let curie = |nth: usize| {
            let prefix = ["NCBIGene", "CHEBI", "MONDO", "GO"][nth % 4];
            format!("{prefix}:{}", 1_000_000 + nth)
        };
        let query = plain(&curie(start), &curie(end));
        let asker = scene.asker(&query);
        let request = super::read(&query, scene.pathfinder.limits);
        let started = Instant::now();
        let before = scene.double.sync_queries().len();
        let stop = std::future::pending();
        let body = scene.pathfinder.answer(&request, &asker, &super::Still, stop).await.unwrap();
        let took = started.elapsed();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let asked = &scene.double.sync_queries()[before..];
        let ids = |query: &Value| query.pointer("/nodes/n0/ids").and_then(Value::as_array).unwrap().clone();
        let all: Vec<Value> = asked.iter().flat_map(|submission| ids(submission.query_graph())).collect();
        let distinct: HashSet<String> = all.iter().map(Value::to_string).collect();
        println!(
            "{} - {}: {} paths of {statements} edges in {took:?}; {} questions about {} nodes ({} different), {} bytes",
            curie(start),
            curie(end),
            between(&answer).len(),
            asked.len(),
            all.len(),
            distinct.len(),
            asker.answers.lock().unwrap().iter().sum::<usize>(),
        );
    }
}
