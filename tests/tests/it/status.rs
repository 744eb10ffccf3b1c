//! How far a query is, and its response, for whoever asks.

use serde_json::Value;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};

use crate::answer::Answer;
use crate::callbacks;
use crate::scene::{self, ARAGORN, DIABETES, silent};

#[tokio::test]
async fn query_without_a_worker_is_queued() {
    let scene = scene::start(Plan::default(), |stack| stack.workers([])).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let status = scene.status(&job.id).await;
    assert_eq!(status["status"], "Queued");
    assert!(!status["logs"].as_array().unwrap().is_empty());
    assert_eq!(status.get("response_url"), None);
    let response = scene.get(&format!("/response/{}", job.id)).await;
    assert_eq!(response.status, 202);
    assert!(response.json()["description"].is_string());
}

#[tokio::test]
async fn running_query_tells_its_progress_and_then_its_end() {
    let plan = Plan::choose(move |submission| match submission.order {
        0..4 => silent(),
        4..6 => silent().ack_never(),
        _ => Behaviour::answer(),
    });
    let scene =
        scene::start(plan, |stack| stack.workers(ARAGORN).env("KG_RETRIEVAL_SUBMIT_TIMEOUT", "0.5")).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let three_returned = |status: &Value| status["progress"]["sub_queries"]["returned"] == 3;
    let status = scene.status_when(&job.id, "three callbacks", three_returned).await;
    let progress = &status["progress"];
    assert_eq!((&status["status"], &progress["stage"]), (&"Running".into(), &"aragorn.lookup".into()));
    assert_eq!(
        (&progress["sub_queries"]["sent"], &progress["sub_queries"]["outstanding"]),
        (&9.into(), &6.into())
    );
    assert!(progress["deadline_ms"].is_u64());
    assert!(status["description"].as_str().unwrap().contains('6'), "{status:#}");
    for path in [format!("/response/{}", job.id), format!("/aragorn/response/{}", job.id)] {
        assert_eq!(scene.get(&path).await.status, 202, "{path}");
    }

    for submission in &scene.retriever.submissions()[..6] {
        scene.post_to(submission.callback().unwrap(), &[], callbacks::body(submission, 2)).await;
    }
    let delivered = scene.delivery(&job).await;
    let status = scene.ended(&job.id).await;
    assert_eq!(status["status"], "Completed");
    assert_eq!(status["description"], Answer::check(&delivered.body).0["description"]);
    let url = status["response_url"].as_str().unwrap();
    let path = url.strip_prefix(&scene.stack.gateway_url()).unwrap();
    assert_eq!(path, format!("/aragorn/response/{}", job.id));
    for path in [path, &format!("/response/{}", job.id)] {
        let response = scene.get(path).await;
        assert_eq!((response.status, &response.body), (200, &delivered.body), "{path}");
        assert_eq!(response.headers["content-type"], "application/json");
    }
    let logs = status["logs"].as_array().unwrap();
    assert!(
        logs.iter().any(|entry| entry["message"].as_str().unwrap().contains("Response delivered")),
        "{logs:#?}"
    );
    let path = format!("/aragorn/asyncquery_status/{}", job.id);
    assert_eq!(scene.get(&path).await.json(), status, "both routes tell the same");
}

#[tokio::test]
async fn ids_are_known_only_under_their_own_ara() {
    let scene = scene::aragorn(Plan::default()).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.ended(&job.id).await;
    let unknown = format!("0000{}", "1".repeat(32));
    for endpoint in ["asyncquery_status", "response"] {
        assert_eq!(scene.get(&format!("/aragorn/{endpoint}/{}", job.id)).await.status, 200);
        assert_eq!(scene.get(&format!("/{endpoint}/{}", job.id)).await.status, 200);
        for (ara, id) in [
            ("bte/", job.id.as_str()),
            ("unicorn/", &job.id),
            ("aragorn/", &unknown),
            ("", &unknown),
            ("", "1"),
            ("", &job.id.to_uppercase().replace('0', "G")),
            ("", "%00"),
            ("aragorn/", "..%2f..%2f"),
        ] {
            let reply = scene.get(&format!("/{ara}{endpoint}/{id}")).await;
            assert_eq!(
                (reply.status, reply.json()["code"].as_str()),
                (404, Some("no_such_job")),
                "{ara}{id}"
            );
        }
    }
}

#[tokio::test]
async fn requests_keep_their_id_or_get_one() {
    let scene = scene::start(Plan::default(), |stack| stack.workers([])).await;
    let named = scene.post("/aragorn/query", &[("x-request-id", "mine-1")], "{}").await;
    assert_eq!(named.headers["x-request-id"], "mine-1");
    let unnamed = scene.get("/livez").await;
    assert!(!unnamed.headers["x-request-id"].is_empty());
    let unsafe_id = scene.post("/aragorn/query", &[("x-request-id", "a b\"c")], "{}").await;
    assert_ne!(unsafe_id.headers["x-request-id"], "a b\"c");
}
