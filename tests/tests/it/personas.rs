//! The personas that do not fan out: arax passes questions on, sipr searches the neighbourhood of a set.

use http::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan, Rehydration};

use crate::answer::Answer;
use crate::endings::owner_of;
use crate::scene::{self, DIABETES, Scene};

const ARAX: [&str; 3] = ["arax-lookup", "operations", "finish-query"];
const SIPR: [&str; 3] = ["sipr-lookup", "operations", "finish-query"];
/// KIT, ABL1 and PDGFRB.
const MEMBERS: [&str; 3] = ["NCBIGene:3815", "NCBIGene:25", "NCBIGene:5159"];

async fn arax(plan: Plan) -> Scene {
    scene::start(plan, |stack| stack.workers(ARAX)).await
}

async fn sipr(plan: Plan) -> Scene {
    scene::knowing(plan, |stack| stack.workers(SIPR)).await
}

/// Every result's first analysis' score, in order.
fn scores(answer: &Answer) -> Vec<f64> {
    let results = answer.0["message"]["results"].as_array().unwrap();
    results.iter().map(|result| result["analyses"][0]["score"].as_f64().unwrap()).collect()
}

fn assert_names_each_edge_once(answer: &Answer, source: &str) {
    let edges = answer.0["message"]["knowledge_graph"]["edges"].as_object().unwrap();
    assert!(!edges.is_empty());
    for (id, edge) in edges {
        let named = |entry: &&Value| entry["resource_id"] == source;
        assert_eq!(edge["sources"].as_array().unwrap().iter().filter(named).count(), 1, "{id}: {edge}");
    }
}

/// No answer came before the deadline, which is `seconds` after the intake.
async fn assert_ends_at_its_deadline(scene: &Scene, ara: &str, query: Value) {
    let query = queries::with_timeout(query, 3);
    let started = std::time::Instant::now();
    let (status, answer) = scene.ask_sync(ara, &query).await;
    assert_eq!((status, answer.0["status"].as_str()), (504, Some("KPsNotAvailable")));
    let description = answer.0["description"].as_str().unwrap();
    assert!(description.contains("1 had no answer before the deadline"), "{description}");
    assert!(started.elapsed() >= Duration::from_millis(2500), "{:?}", started.elapsed());
}

#[tokio::test]
async fn arax_asks_its_service_and_delivers_its_answer_with_both_names_on_it() {
    let scene = arax(Plan::default()).await;
    let query = queries::with_timeout(queries::treats(DIABETES), 60);
    let answer = scene.ask("arax", query.clone()).await;
    answer.assert_success();
    let [asked] = &scene.retriever.arax_queries()[..] else { panic!("asked once") };
    assert_eq!(asked.query_graph(), &query["message"]["query_graph"], "the service infers by itself");
    assert!(asked.timeout().unwrap() < 60.0 && asked.callback().is_none());
    assert!(asked.traceparent().is_some());
    assert!(scene.retriever.submissions().is_empty() && scene.retriever.sync_queries().is_empty());
    let expected: Vec<f64> = (1..=10_u32).map(|nth| 1.0 / f64::from(nth)).collect();
    assert_eq!(scores(&answer), expected, "its scores are kept");
    assert_names_each_edge_once(&answer, "infores:shepherd-arax");
    let edge = answer.0["message"]["knowledge_graph"]["edges"].as_object().unwrap().values().next().unwrap();
    let ours = edge["sources"].as_array().unwrap().last().unwrap();
    assert_eq!(ours["upstream_resource_ids"], json!(["infores:arax"]));
}

#[tokio::test]
async fn arax_says_why_its_service_gave_no_answer() {
    let ill = Behaviour::answer().refuse(StatusCode::INTERNAL_SERVER_ERROR, "out of order");
    let scene = arax(Plan::always(ill)).await;
    let (status, answer) = scene.ask_sync("arax", &queries::treats(DIABETES)).await;
    assert_eq!((status, answer.0["status"].as_str()), (502, Some("KPsNotAvailable")));
    let description = answer.0["description"].as_str().unwrap();
    assert!(description.contains("refused with status 500: out of order"), "{description}");
}

#[tokio::test]
async fn silent_services_end_a_query_at_its_deadline() {
    let silent = || Plan::always(Behaviour::answer().ack_never());
    let scene = arax(silent()).await;
    assert_ends_at_its_deadline(&scene, "arax", queries::treats(DIABETES)).await;
    let scene = sipr(silent()).await;
    assert_ends_at_its_deadline(&scene, "sipr", queries::set_input(&MEMBERS, "biolink:NamedThing")).await;
}

/// The name and score of each answer.
fn answers(answer: &Answer) -> BTreeMap<String, f64> {
    let results = answer.0["message"]["results"].as_array().unwrap();
    let ids =
        results.iter().map(|result| result["node_bindings"]["ON"][0]["id"].as_str().unwrap().to_owned());
    ids.zip(scores(answer)).collect()
}

/// Retriever fills what it knows itself, and leaves out what we inferred.
fn leave_out_inferred(response: &mut Value) {
    let edges = response["message"]["knowledge_graph"]["edges"].as_object_mut().unwrap();
    edges.retain(|_, edge| edge["sources"][0]["resource_id"] == "infores:made-up");
}

#[tokio::test]
async fn sipr_finds_what_is_near_all_members() {
    let scene = sipr(Plan::default()).await;
    scene.retriever.set_rehydration(Rehydration::Change(leave_out_inferred));
    let answer = scene.ask("sipr", queries::set_input(&MEMBERS, "biolink:NamedThing")).await;
    answer.assert_success();
    let found = answers(&answer);
    // where the members' statements lead: asthma from KIT and TNF, TNF from ABL1, the pathway from PDGFRB
    let best: Vec<&str> = found.keys().map(String::as_str).collect();
    for id in ["MONDO:0004979", "NCBIGene:7124", "GO:0048008"] {
        assert!(best.contains(&id), "{found:?}");
    }
    assert!(found["MONDO:0004979"] > found["NCBIGene:7124"], "two ways lead there: {found:?}");
    assert!(MEMBERS.iter().all(|member| !best.contains(member)), "{found:?}");
    assert!(found.values().all(|score| *score >= 0.001));
    assert_names_each_edge_once(&answer, "infores:shepherd-sipr");
    let edges = answer.0["message"]["knowledge_graph"]["edges"].as_object().unwrap();
    let looked_up = edges.values().filter(|edge| edge["sources"][0]["resource_id"] == "infores:made-up");
    assert!(looked_up.clone().count() > 0);
    assert!(looked_up.into_iter().all(|edge| edge.to_string().contains("biolink:publications")), "filled");
    let asked = scene.retriever.sync_queries();
    assert_eq!(asked.len(), 2, "one query for each hop");
    assert_eq!(asked[0].query_graph()["nodes"]["n0"]["ids"], json!(MEMBERS));
    assert!(asked.iter().all(|query| query.timeout().is_some() && query.traceparent().is_some()));
}

#[tokio::test]
async fn sipr_answers_from_the_first_hop_where_the_second_is_lost() {
    let lost = Behaviour::answer().refuse(StatusCode::INTERNAL_SERVER_ERROR, "not now");
    let scene = sipr(Plan::default().nth(1, lost)).await;
    let answer = scene.ask("sipr", queries::set_input(&MEMBERS, "biolink:Disease")).await;
    assert_eq!(answer.status(), "Success");
    assert_eq!(answers(&answer).len(), 1);
    answer.assert_logged("WARNING", "hop 2 around the set: 1 of 1 batches gave no answer");
}

#[tokio::test]
async fn sipr_is_taken_over_where_its_worker_dies_in_the_middle() {
    let slow = Behaviour::answer().ack_after(Duration::from_secs(3600));
    let plan = Plan::default().nth(0, slow);
    let scene = scene::knowing(plan, |stack| {
        stack.workers(SIPR).another_worker("other-lookup", "sipr-lookup").env("LEASE_SEC", "1")
    })
    .await;
    let job = scene.submit("sipr", queries::set_input(&MEMBERS, "biolink:NamedThing")).await;
    scene.retriever.wait_for_sync_queries(1, scene::LIMIT).await.unwrap();
    let holder = owner_of(&scene, ["sipr-lookup", "other-lookup"]);
    scene.stack.kill(holder).await.unwrap();
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.retriever.sync_queries().len(), 3, "begun anew by the other");
}

#[tokio::test]
async fn what_a_persona_cannot_answer_is_refused_by_field() {
    let scene = scene::start(Plan::default(), |stack| stack.workers([])).await;
    let mut two_ids = queries::treats(DIABETES);
    two_ids["message"]["query_graph"]["nodes"]["ON"]["ids"] = json!(["X:1", "X:2"]);
    let paths = queries::pathfinder("X:1", "X:2");
    for (ara, query, field) in [
        ("sipr", two_ids, "message.query_graph.nodes.ON.set_interpretation: must be `MANY` for this ARA"),
        ("sipr", paths.clone(), "message.query_graph.paths: must be absent for this ARA"),
        ("bte", paths, "message.query_graph.paths: must be absent for this ARA"),
    ] {
        let reply = scene.post(&format!("/{ara}/query"), &[], query.to_string()).await;
        assert_eq!(reply.status, 400);
        let body = reply.json();
        assert_eq!(body["description"], field);
    }
}
