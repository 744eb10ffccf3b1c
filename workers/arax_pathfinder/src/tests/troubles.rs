//! A Retriever that fails, lies or says nothing.

use std::time::Duration;

use http::StatusCode;
use lookup::WorkError;
use paths::Limits;
use serde_json::json;
use testkit::RetrieverDouble;
use testkit::knowledge::Knowledge;
use testkit::retriever::{Behaviour, Payload, Plan};
use tokio::time::{sleep, timeout};

use super::{ASTHMA, IMATINIB, Scene, between, logged, plain, service};
use crate::LIMITS;

/// One node per question, so that failing questions cost single nodes.
async fn one_by_one(plan: Plan) -> Scene {
    let double = RetrieverDouble::builder().knowledge(Knowledge::small()).plan(plan).start().await.unwrap();
    let limits = Limits { ids_per_batch: 1.try_into().unwrap(), ..LIMITS };
    Scene::with(double, crate::hints::Files::default(), paths::Blocked::default(), limits)
}

fn broken() -> Behaviour {
    Behaviour::answer().refuse(StatusCode::INTERNAL_SERVER_ERROR, "out of order")
}

#[tokio::test]
async fn a_silent_retriever_ends_the_search_with_its_time() {
    let scene = one_by_one(Plan::always(Behaviour::answer().ack_never())).await;
    let stop = sleep(Duration::from_millis(200));
    let answer =
        timeout(Duration::from_secs(30), scene.answer(&plain(IMATINIB, ASTHMA), stop)).await.unwrap();
    assert_eq!(answer, Err(WorkError::Late));
}

#[tokio::test]
async fn what_came_in_time_is_answered() {
    let about_abl1 =
        Plan::default().when(|asked| asked.mentions("NCBIGene:25"), Behaviour::answer().ack_never());
    let scene = one_by_one(about_abl1).await;
    let stop = sleep(Duration::from_secs(2));
    let body = scene.answer(&plain(IMATINIB, ASTHMA), stop).await.unwrap();
    let answer = serde_json::from_slice(&body).unwrap();
    assert!(between(&answer).contains(&"NCBIGene:3815".to_owned()));
    assert_eq!(logged(&answer, "WARNING"), ["Paths may be missing: the search ended with its time"]);
}

#[tokio::test]
async fn a_question_that_fails_is_asked_once_more() {
    let scene = one_by_one(Plan::default().nth(0, broken()).nth(1, Behaviour::answer().hang_up())).await;
    let answer = scene.found(&plain(IMATINIB, ASTHMA)).await;
    assert_eq!(between(&answer).len(), 4);
    assert_eq!(logged(&answer, "WARNING"), [""; 0]);
}

#[tokio::test]
async fn where_half_of_the_questions_fail_the_others_are_answered_and_the_client_is_told() {
    let ids = ["NCBIGene:3815", "NCBIGene:25\"", "NCBIGene:5159", "NCBIGene:5156"];
    let failing = Plan::default().when(move |asked| ids.iter().any(|id| asked.mentions(id)), broken());
    let scene = one_by_one(failing).await;
    let answer = scene.found(&plain(IMATINIB, ASTHMA)).await;
    // each end tells of its neighbours, and TNF of ABL1; nobody tells of the pathway
    assert_eq!(between(&answer), ["NCBIGene:3815", "NCBIGene:7157", "NCBIGene:25 NCBIGene:7124"]);
    let warnings = logged(&answer, "WARNING");
    assert_eq!(
        warnings,
        ["Paths may be missing: 4 questions failed, the first because refused with status 500: out of order"]
    );
}

#[tokio::test]
async fn where_no_question_is_answered_the_reason_is_told() {
    let scene = one_by_one(Plan::always(broken())).await;
    let answer = scene.answer(&plain(IMATINIB, ASTHMA), std::future::pending()).await;
    let reason = "the graph cannot be searched: refused with status 500: out of order";
    assert_eq!(answer, Err(WorkError::Failed(reason.to_owned())));
}

#[tokio::test]
async fn what_is_too_large_is_not_asked_for_again() {
    let mut scene = one_by_one(Plan::default()).await;
    scene.pathfinder.service = service(&scene.double, 100);
    let answer = scene.answer(&plain(IMATINIB, ASTHMA), std::future::pending()).await;
    let reason = "the graph cannot be searched: the answer is larger than 100 bytes";
    assert_eq!(answer, Err(WorkError::Failed(reason.to_owned())));
    assert_eq!(scene.double.sync_queries().len(), 2);
}

#[tokio::test]
async fn what_is_no_answer_is_none() {
    let body = |value: serde_json::Value| Payload::Bytes(value.to_string().into());
    let twice = r#"{"message":{"knowledge_graph":{"nodes":{"a":{},"a":{}}}}}"#;
    for (payload, why) in [
        (Payload::Garbage, "cannot be read"),
        (Payload::Truncated, ""),
        (body(json!({"status": "Failed"})), "has no knowledge graph; its status is `Failed`"),
        (body(json!({"message": null})), "has no knowledge graph"),
        (body(json!([])), "has no knowledge graph"),
        (Payload::Bytes(twice.into()), "twice"),
    ] {
        let scene = one_by_one(Plan::always(Behaviour::answer().payload(payload.clone()))).await;
        match scene.answer(&plain(IMATINIB, ASTHMA), std::future::pending()).await {
            Err(WorkError::Failed(reason)) => assert!(reason.contains(why), "{payload:?}: {reason}"),
            other => panic!("{payload:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn one_identifier_for_two_edges_is_bound_to_the_first() {
    let edge = |subject: &str, object: &str| json!({"subject": subject, "object": object, "predicate": "biolink:affects"});
    let graph = |id: &str| {
        json!({
            "nodes": {IMATINIB: {}, ASTHMA: {}, "a": {"name": 7, "categories": null}, "b": null, "c": {}},
            "edges": {
                id: edge(IMATINIB, ASTHMA), "x": edge("a", IMATINIB), "y": edge("a", ASTHMA),
                "none": null, "nothing": {}, "to itself": edge("a", "a"),
            },
        })
    };
    let told =
        |id: &str| Payload::Bytes(json!({"message": {"knowledge_graph": graph(id)}}).to_string().into());
    let second = Behaviour::answer().payload(told("x"));
    let plan =
        Plan::always(Behaviour::answer().payload(told("own"))).when(|asked| asked.mentions(ASTHMA), second);
    let scene = one_by_one(plan).await;
    let answer = scene.found(&plain(IMATINIB, ASTHMA)).await;
    assert_eq!(between(&answer), ["", "a"]);
    let edges = answer["message"]["knowledge_graph"]["edges"].as_object().unwrap();
    for result in answer["message"]["results"].as_array().unwrap() {
        for (hop, bindings) in result["analyses"][0]["edge_bindings"].as_object().unwrap() {
            for binding in bindings.as_array().unwrap() {
                let edge = &edges[binding["id"].as_str().unwrap()];
                let direct = between(&json!({"message": {"results": [result]}})) == [""];
                assert_eq!(edge["subject"] == IMATINIB, direct, "{hop}: {edge}");
            }
        }
    }
}
