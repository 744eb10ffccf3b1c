//! Questions for paths over a graph that can be followed by hand: see [`testkit::Knowledge::small`].

use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};

use crate::answer::Answer;
use crate::endings::owner_of;
use crate::scene::{self, Scene};

const IMATINIB: &str = "CHEBI:45783";
const ASTHMA: &str = "MONDO:0004979";
const ARAX: [&str; 3] = ["arax-pathfinder", "operations", "finish-query"];
const ARAGORN: [&str; 3] = ["aragorn-pathfinder", "operations", "finish-query"];

const OVER_KIT: &str = "KIT";
const OVER_TP53: &str = "TP53";
const OVER_ABL1: &str = "ABL1, TNF";
const OVER_PDGFRB: &str = "PDGFRA, PDGFRB, platelet-derived growth factor receptor signaling pathway";

async fn scene(workers: [&'static str; 3], plan: Plan) -> Scene {
    scene::knowing(plan, |stack| stack.workers(workers)).await
}

fn question() -> Value {
    queries::pathfinder(IMATINIB, ASTHMA)
}

/// The names of the nodes between the ends, one text per path, in the order of the analyses.
fn paths(answer: &Answer) -> Vec<String> {
    let message = &answer.0["message"];
    let [result] = answer.results() else { panic!("one result, not {}", answer.results().len()) };
    assert_eq!(result["node_bindings"]["SN"][0]["id"], IMATINIB);
    assert_eq!(result["node_bindings"]["ON"][0]["id"], ASTHMA);
    let between = |analysis: &Value| {
        let graph = analysis["path_bindings"]["p0"][0]["id"].as_str().unwrap();
        let edges = message["auxiliary_graphs"][graph]["edges"].as_array().unwrap();
        let ends = edges.iter().flat_map(|edge| {
            let edge = &message["knowledge_graph"]["edges"][edge.as_str().unwrap()];
            ["subject", "object"].map(|end| edge[end].as_str().unwrap())
        });
        let between: BTreeSet<&str> = ends.filter(|id| ![IMATINIB, ASTHMA].contains(id)).collect();
        let name = |id: &str| message["knowledge_graph"]["nodes"][id]["name"].as_str().unwrap().to_owned();
        let mut names: Vec<String> = between.into_iter().map(name).collect();
        names.sort();
        names.join(", ")
    };
    result["analyses"].as_array().unwrap().iter().map(between).collect()
}

fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort();
    paths
}

/// Every analysis has a score, the best first, and every edge the content that paths are asked without.
fn assert_ranked_and_filled(answer: &Answer, source: &str) {
    let scores: Vec<f64> = answer.results()[0]["analyses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|analysis| analysis["score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
    for (id, edge) in answer.0["message"]["knowledge_graph"]["edges"].as_object().unwrap() {
        let publications = |attribute: &&Value| attribute["attribute_type_id"] == "biolink:publications";
        let attributes = edge["attributes"].as_array().unwrap();
        assert_eq!(attributes.iter().filter(publications).count(), 1, "{id}: {edge}");
        let ours = |entry: &&Value| entry["resource_id"] == source;
        assert_eq!(edge["sources"].as_array().unwrap().iter().filter(ours).count(), 1, "{id}: {edge}");
    }
}

#[tokio::test]
async fn arax_finds_every_path_of_up_to_four_edges() {
    let scene = scene(ARAX, Plan::default()).await;
    let answer = scene.ask("arax", question()).await;
    answer.assert_success();
    assert_eq!(sorted(paths(&answer)), [OVER_ABL1, OVER_KIT, OVER_PDGFRB, OVER_TP53]);
    assert_ranked_and_filled(&answer, "infores:shepherd-arax");
    let found = paths(&answer);
    assert_eq!(found[0], OVER_KIT, "the shortest past the hub is the best: {found:?}");
    assert!(scene.retriever.submissions().is_empty());
    assert!(scene.retriever.sync_queries().len() <= 8, "{}", scene.retriever.sync_queries().len());
    assert_eq!(scene.retriever.rehydrations().len(), 1);
}

#[tokio::test]
async fn arax_passes_hubs_by_where_the_client_says_so_and_the_category_it_asks_for() {
    let scene = scene(ARAX, Plan::default()).await;
    let mut query = question();
    query["parameters"] = json!({ "filter_config": { "max_node_degree": 100 } });
    let answer = scene.ask("arax", query.clone()).await;
    assert_eq!(sorted(paths(&answer)), [OVER_ABL1, OVER_KIT, OVER_PDGFRB]);
    // a category above that of the node
    query["message"]["query_graph"]["paths"]["p0"]["constraints"] =
        json!([{ "intermediate_categories": ["biolink:BiologicalProcessOrActivity"] }]);
    let answer = scene.ask("arax", query).await;
    assert_eq!(paths(&answer), [OVER_PDGFRB]);
}

#[tokio::test]
async fn aragorn_finds_the_path_of_three_edges() {
    let scene = scene(ARAGORN, Plan::default()).await;
    let answer = scene.ask("aragorn", question()).await;
    answer.assert_success();
    assert_eq!(paths(&answer), [OVER_ABL1]);
    assert_ranked_and_filled(&answer, "infores:shepherd-aragorn");
    let [asked] = &scene.retriever.submissions()[..] else { panic!("one sub-query") };
    assert_eq!(
        asked.query["parameters"]["filter_config"],
        json!({ "min_information_content": 69, "max_node_degree": 5000 })
    );
    assert_eq!(asked.query["parameters"]["dehydrated"], true);
}

#[tokio::test]
async fn silent_retriever_ends_a_search_at_its_deadline() {
    let scene = scene(ARAX, Plan::always(Behaviour::answer().ack_never())).await;
    let (status, answer) = scene.ask_sync("arax", &queries::with_timeout(question(), 3)).await;
    assert_eq!((status, answer.status()), (504, "KPsNotAvailable"));
    assert!(answer.description().contains("1 had no answer before the deadline"), "{}", answer.description());
}

#[tokio::test]
async fn search_that_runs_out_of_time_tells_the_paths_it_has() {
    // what imatinib and asthma lead to is known, what lies behind it is not
    let behind = |submission: &testkit::retriever::Submission| {
        !submission.mentions(IMATINIB) && !submission.mentions(ASTHMA)
    };
    let plan = Plan::default().when(behind, Behaviour::answer().ack_never());
    let scene = scene(ARAX, plan).await;
    let answer = scene.ask("arax", queries::with_timeout(question(), 4)).await;
    assert_eq!(answer.status(), "Success");
    assert_eq!(sorted(paths(&answer)), [OVER_KIT, OVER_TP53]);
    answer.assert_logged("WARNING", "");
}

#[tokio::test]
async fn search_is_taken_over_where_its_worker_dies_in_the_middle() {
    let slow = Behaviour::answer().ack_after(std::time::Duration::from_secs(3600));
    let plan = Plan::default().nth(0, slow);
    let scene = scene::knowing(plan, |stack| {
        stack.workers(ARAX).another_worker("other-lookup", "arax-pathfinder").env("LEASE_SEC", "1")
    })
    .await;
    let job = scene.submit("arax", question()).await;
    scene.retriever.wait_for_sync_queries(1, scene::LIMIT).await.unwrap();
    let holder = owner_of(&scene, ["arax-pathfinder", "other-lookup"]);
    scene.stack.kill(holder).await.unwrap();
    let answer = scene.answer(&job).await;
    assert_eq!(paths(&answer).len(), 4);
}
