//! `shepherd query`, against a stand-in for the gateway.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::answers::{self, AnswerSpec};
use testkit::queries;

use crate::support::{LIMIT, shepherd};

/// What the stand-in does with an accepted query.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    CallsBack,
    LosesItsCallback,
    FailsTheQuery,
}

fn response(query: &Value, status: &str) -> Value {
    let message = answers::message(&query["message"]["query_graph"], &AnswerSpec::default()).unwrap();
    json!({ "message": message, "status": status, "description": "made up" })
}

async fn asyncquery(State(does): State<Does>, Json(query): Json<Value>) -> Json<Value> {
    let url = query["callback"].as_str().unwrap().to_owned();
    if does == Does::CallsBack {
        let ars = testkit::ArsDouble::start().await.unwrap();
        ars.post(&url, &response(&query, "Success"), LIMIT).await.unwrap();
    }
    Json(json!({ "status": "Accepted", "job_id": "j1" }))
}

async fn query(State(does): State<Does>, Json(query): Json<Value>) -> (StatusCode, Json<Value>) {
    match does {
        Does::FailsTheQuery => (StatusCode::BAD_GATEWAY, Json(response(&query, "KPsNotAvailable"))),
        _ => (StatusCode::OK, Json(response(&query, "Success"))),
    }
}

async fn status(Path(job): Path<String>) -> Json<Value> {
    let counts = json!({ "sent": 4, "accepted": 4, "returned": 3, "removed": 1, "outstanding": 0 });
    Json(json!({ "status": "Completed", "progress": { "sub_queries": counts, "stage": job } }))
}

async fn stored() -> Json<Value> {
    Json(response(&queries::treats("MONDO:0005148"), "Success"))
}

async fn gateway(does: Does) -> String {
    let router = Router::new()
        .route("/aragorn/asyncquery", post(asyncquery))
        .route("/aragorn/query", post(query))
        .route("/asyncquery_status/{job_id}", get(status))
        .route("/response/{job_id}", get(stored))
        .with_state(does);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Runs `shepherd query` to its end; whether it succeeded, and what it said.
async fn ask(does: Does, more: &[&str]) -> (bool, String, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("query.json");
    std::fs::write(&file, queries::treats("MONDO:0005148").to_string()).unwrap();
    let (file, url) = (file.display().to_string(), gateway(does).await);
    let asked = shepherd(dir.path(), &[&["query", &file, "--url", &url], more].concat());
    let status = asked.wait_within(LIMIT).await.unwrap();
    (status.success(), asked.log_tail(1_000), dir)
}

#[tokio::test]
async fn an_answer_by_callback_is_shown_with_progress_names_and_timings() {
    let (success, said, _dir) = ask(Does::CallsBack, &["--top", "3"]).await;
    assert!(success, "{said}");
    for text in [
        "4 sent, 4 acknowledged, 3 returned, 1 removed",
        "metformin",
        "CHEBI:6801",
        "10 results; knowledge graph of 11 nodes and ",
        "by callback",
        "Success: made up",
    ] {
        assert!(said.contains(text), "{text:?} is missing in\n{said}");
    }
    assert_eq!(said.matches("CHEBI:").count(), 3);
}

#[tokio::test]
async fn a_lost_callback_is_made_up_for_by_fetching() {
    let (success, said, _dir) = ask(Does::LosesItsCallback, &[]).await;
    assert!(success && said.contains("fetched by its id"), "{said}");
}

#[tokio::test]
async fn a_synchronous_answer_can_be_kept_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("response.json");
    let (success, said, _dir) =
        ask(Does::CallsBack, &["--sync", "--output", &output.display().to_string()]).await;
    assert!(success && said.contains("on the connection"), "{said}");
    let kept: Value = serde_json::from_slice(&std::fs::read(output).unwrap()).unwrap();
    assert_eq!(kept["status"], "Success");
}

#[tokio::test]
async fn an_answer_that_is_no_success_is_a_failure() {
    let (success, said, _dir) = ask(Does::FailsTheQuery, &["--sync"]).await;
    assert!(!success && said.contains("KPsNotAvailable (HTTP 502): made up"), "{said}");
}

#[tokio::test]
async fn a_file_without_a_query_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("odd.json");
    std::fs::write(&file, "[]").unwrap();
    let asked = shepherd(dir.path(), &["query", &file.display().to_string()]);
    assert!(!asked.wait_within(LIMIT).await.unwrap().success());
    assert!(asked.log_tail(5).contains("holds no TRAPI query"), "{}", asked.log_tail(5));
}
