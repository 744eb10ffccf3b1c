//! Sub-queries as Retriever sees them.

use serde_json::json;
use std::collections::HashSet;
use testkit::queries;
use testkit::retriever::Plan;

use crate::scene::{self, ARAGORN, DIABETES, LIMIT};

const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[tokio::test]
async fn sub_query_carries_what_the_client_said() {
    let scene = scene::aragorn(Plan::default()).await;
    let mut query = queries::with_timeout(queries::treats(DIABETES), 50);
    query["parameters"]["tiers"] = json!([1]);
    query["parameters"]["overly_verbose"] = json!({ "a": [1.5, "x"] });
    query["submitter"] = json!("infores:somebody");
    query["log_level"] = json!("DEBUG");
    query["workflow"] = json!([{ "id": "lookup" }, { "id": "sort_results_score" }]);
    query["callback"] = json!(scene.ars.callback_url("k"));
    let traceparent = format!("00-{TRACE_ID}-00f067aa0ba902b7-01");
    let headers = [("traceparent", traceparent.as_str())];
    let reply = scene.post("/aragorn/asyncquery", &headers, query.to_string()).await;
    assert_eq!(reply.status, 200);
    let delivery = scene.ars.wait_for("k", LIMIT).await.unwrap();
    assert!(delivery.header("traceparent").unwrap().contains(TRACE_ID));

    let submissions = scene.retriever.submissions();
    assert_eq!(submissions.len(), 9);
    for submission in &submissions {
        let sent = &submission.query;
        assert_eq!(sent["parameters"]["tiers"], json!([1]));
        assert_eq!(sent["parameters"]["overly_verbose"], json!({ "a": [1.5, "x"] }));
        assert_eq!(sent["submitter"], "infores:somebody");
        assert_eq!(sent["log_level"], "DEBUG");
        assert_eq!(sent.get("workflow"), None);
        // 50 s less the margin, a quarter of the time left at most
        let timeout = submission.timeout().unwrap();
        assert!((1.0..=37.5).contains(&timeout), "{timeout}");
        assert!(submission.traceparent().unwrap().contains(TRACE_ID));
        assert_eq!(submission.header("callback-accept-encoding"), Some("zstd"));
        assert_eq!(submission.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn sub_query_has_defaults_for_what_the_client_left_out() {
    let scene = scene::start(Plan::default(), |stack| {
        stack
            .workers(ARAGORN)
            .env("SERVER_MATURITY", "testing")
            .env("SERVER_LOCATION", "HERE")
            .env("SERVER_URL", "http://shepherd.test")
            .env("DEFAULT_DATA_TIER", "2")
            .env("LOOKUP_TIMEOUT", "30")
            .env("RETRIEVER_TIMEOUT_MARGIN", "5")
    })
    .await;
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
    let submissions = scene.retriever.submissions();
    let base = format!("{}/aragorn/callback/", scene.stack.gateway_url());
    let mut callbacks = HashSet::new();
    for submission in &submissions {
        let sent = &submission.query;
        assert_eq!(sent["parameters"]["tiers"], json!([2]));
        assert_eq!(sent["submitter"], "infores:shepherd-aragorn:testing@HERE@http://shepherd.test");
        assert_eq!((sent.get("log_level"), sent.get("workflow")), (None, None));
        let timeout = submission.timeout().unwrap();
        assert!((1.0..=25.0).contains(&timeout), "{timeout}");
        assert!(submission.traceparent().is_some());
        let id = submission.callback().unwrap().strip_prefix(&base).unwrap();
        assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        callbacks.insert(id);
    }
    assert_eq!(callbacks.len(), submissions.len(), "every sub-query has an id of its own");
}

#[tokio::test]
async fn two_queries_share_no_trace_and_no_callback() {
    let scene = scene::aragorn(Plan::default()).await;
    for _ in 0..2 {
        let query = scene::lookup();
        scene.ask("aragorn", query).await.assert_success();
    }
    let [first, second] = &scene.retriever.submissions()[..] else { panic!("two sub-queries") };
    assert_ne!(first.traceparent(), second.traceparent());
    assert_ne!(first.callback(), second.callback());
}

#[tokio::test]
async fn log_level_decides_what_the_response_tells() {
    let scene = scene::aragorn(Plan::default()).await;
    let query = |level: &str| {
        let mut query = scene::lookup();
        query["log_level"] = json!(level);
        query
    };
    let debug = scene.ask("aragorn", query("DEBUG")).await;
    debug.assert_logged("DEBUG", "accepted as job");
    debug.assert_logged("INFO", "The job started.");
    let info = scene.ask("aragorn", query("INFO")).await;
    assert!(info.logs("DEBUG", "").is_empty());
    info.assert_logged("INFO", "");
}
