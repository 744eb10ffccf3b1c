use super::*;
use crate::ars::ArsDouble;
use crate::queries;
use axum::http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use std::time::Instant;

const LIMIT: Duration = Duration::from_secs(10);

struct Pair {
    retriever: RetrieverDouble,
    client: ArsDouble,
    http: reqwest::Client,
}

impl Pair {
    async fn with(plan: Plan) -> Self {
        Self {
            retriever: RetrieverDouble::builder().plan(plan).start().await.unwrap(),
            client: ArsDouble::start().await.unwrap(),
            http: http::plain_client().unwrap(),
        }
    }

    fn query(&self, key: &str) -> Value {
        queries::with_callback(queries::treats("MONDO:0005148"), &self.client.callback_url(key))
    }

    async fn submit(&self, query: &Value) -> reqwest::Result<reqwest::Response> {
        let url = format!("{}/asyncquery", self.retriever.url());
        let request = self.http.post(url).timeout(LIMIT).header("content-type", "application/json");
        request.body(query.to_string()).send().await
    }

    async fn json(&self, path: &str) -> (u16, Value) {
        let response = self.http.get(format!("{}{path}", self.retriever.url())).send().await.unwrap();
        (response.status().as_u16(), serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
    }
}

#[tokio::test]
async fn a_submission_is_acknowledged_recorded_and_answered() {
    let pair = Pair::with(Plan::default()).await;
    let ack = pair.submit(&pair.query("a")).await.unwrap();
    assert_eq!(ack.status(), 200);
    let ack: Value = serde_json::from_slice(&ack.bytes().await.unwrap()).unwrap();
    let delivery = pair.client.wait_for("a", LIMIT).await.unwrap();
    let answer = delivery.json().unwrap();
    assert_eq!(answer["status"], "Success");
    assert_eq!(answer["message"]["results"].as_array().unwrap().len(), 10);
    assert!(answer["logs"][0]["timestamp"].as_str().unwrap().ends_with('Z'));
    let submissions = pair.retriever.submissions();
    assert_eq!(ack["job_id"], submissions[0].job_id.as_str());
    let callbacks = pair.retriever.wait_for_callbacks(1, LIMIT).await.unwrap();
    assert_eq!((callbacks[0].status(), callbacks[0].connects), (Some(201), 1));
}

#[tokio::test]
async fn an_answer_can_be_fetched_by_job_id_even_if_its_callback_is_lost() {
    let pair = Pair::with(Plan::always(Behaviour::answer().no_callback())).await;
    let ack = pair.submit(&pair.query("lost")).await.unwrap().bytes().await.unwrap();
    let ack: Value = serde_json::from_slice(&ack).unwrap();
    let job_id = ack["job_id"].as_str().unwrap();
    let done = || async {
        let (_, status) = pair.json(&format!("/asyncquery_status/{job_id}")).await;
        (status["status"] == "Completed").then_some(status)
    };
    let status = crate::poll::eventually("the job to finish", LIMIT, done).await.unwrap();
    assert!(status["response_url"].as_str().unwrap().ends_with(job_id));
    let (code, response) = pair.json(&format!("/response/{job_id}")).await;
    assert_eq!((code, &response["status"]), (200, &json!("Success")));
    assert_eq!(pair.json("/response/unknown").await.0, 404);
    assert!(pair.retriever.callbacks().is_empty());
}

#[tokio::test]
async fn bad_submissions_are_refused_by_field() {
    let pair = Pair::with(Plan::default()).await;
    let good = pair.query("x");
    let mut no_callback = good.clone();
    no_callback.as_object_mut().unwrap().remove("callback");
    let bad_timeout = queries::with_timeout(good.clone(), "soon");
    for (bad, word) in [(no_callback, "callback"), (bad_timeout, "timeout"), (json!({}), "query_graph")] {
        let refused = pair.submit(&bad).await.unwrap();
        assert_eq!(refused.status(), 422);
        assert!(refused.text().await.unwrap().contains(word), "{word}");
    }
    assert_eq!((pair.retriever.refusals().len(), pair.retriever.submissions().len()), (3, 0));
}

#[tokio::test]
async fn compression_works_both_ways() {
    let pair = Pair::with(Plan::default()).await;
    let body = zstd::encode_all(pair.query("z").to_string().as_bytes(), 1).unwrap();
    let request = pair.http.post(format!("{}/asyncquery", pair.retriever.url()));
    let request = request.header("content-encoding", "zstd").header("callback-accept-encoding", "zstd");
    assert_eq!(request.body(body).send().await.unwrap().status(), 200);
    let delivery = pair.client.wait_for("z", LIMIT).await.unwrap();
    assert_eq!(delivery.header("content-encoding"), Some("zstd"));
    let plain = zstd::decode_all(&delivery.body[..]).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&plain).unwrap()["status"], "Success");
}

#[tokio::test]
async fn the_time_limit_ends_a_job_with_part_of_its_answer() {
    let slow = Behaviour::answer().results(100).callback_after(Duration::from_secs(1));
    let pair = Pair::with(Plan::always(slow)).await;
    pair.submit(&queries::with_timeout(pair.query("cut"), 0.1)).await.unwrap();
    let answer = pair.client.wait_for("cut", LIMIT).await.unwrap().json().unwrap();
    assert_eq!(answer["message"]["results"].as_array().unwrap().len(), 10);
    assert_eq!(answer["logs"][1]["level"], "WARNING");
    // A negative limit is none.
    pair.submit(&queries::with_timeout(pair.query("whole"), -1)).await.unwrap();
    let answer = pair.client.wait_for("whole", LIMIT).await.unwrap().json().unwrap();
    assert_eq!(answer["message"]["results"].as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn acks_can_be_slow_odd_refused_or_missing() {
    let busy = Behaviour::answer()
        .refuse(StatusCode::SERVICE_UNAVAILABLE, "busy")
        .with_header(header::RETRY_AFTER, HeaderValue::from_static("1"));
    let plan = Plan::default()
        .nth(0, Behaviour::answer().ack_after(Duration::from_millis(500)).counted_from_arrival())
        .nth(1, Behaviour::answer().ack_status(StatusCode::ACCEPTED))
        .nth(2, busy)
        .nth(3, Behaviour::answer().hang_up())
        .nth(4, Behaviour::answer().ack_never());
    let pair = Pair::with(plan).await;

    let asked = Instant::now();
    assert_eq!(pair.submit(&pair.query("slow")).await.unwrap().status(), 200);
    assert!(asked.elapsed() >= Duration::from_millis(500));
    assert!(pair.client.deliveries()[0].arrived < asked + Duration::from_millis(500), "before the ACK");

    assert_eq!(pair.submit(&pair.query("202")).await.unwrap().status(), 202);
    let refused = pair.submit(&pair.query("busy")).await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (503, &HeaderValue::from_static("1"))
    );
    assert!(pair.submit(&pair.query("gone")).await.is_err());

    let query = pair.query("never").to_string();
    let url = format!("{}/asyncquery", pair.retriever.url());
    let request = pair.http.post(url).timeout(Duration::from_millis(100)).body(query);
    assert!(request.send().await.unwrap_err().is_timeout());

    for key in ["slow", "202", "gone", "never"] {
        assert!(pair.client.wait_for(key, LIMIT).await.is_ok(), "{key} is answered");
    }
    assert!(pair.client.received("busy").is_empty(), "a refused one is not");
}

#[tokio::test]
async fn a_job_does_not_overtake_its_ack() {
    let delay = Duration::from_millis(150);
    let pair = Pair::with(Plan::always(Behaviour::answer().ack_after(delay))).await;
    let asked = Instant::now();
    pair.submit(&pair.query("k")).await.unwrap();
    assert!(pair.client.wait_for("k", LIMIT).await.unwrap().arrived >= asked + delay);
}

#[tokio::test]
async fn connections_can_be_dropped_unread() {
    let pair = Pair::with(Plan::default()).await;
    pair.retriever.drop_next_connections(1);
    assert!(pair.submit(&pair.query("first")).await.is_err());
    assert!(pair.submit(&pair.query("second")).await.is_ok());
    assert_eq!(pair.retriever.submissions().len(), 1);
}

#[tokio::test]
async fn rules_tell_sub_queries_apart_by_content_and_by_try() {
    let refusal = Behaviour::answer().refuse(StatusCode::TOO_MANY_REQUESTS, "later");
    let plan = Plan::default()
        .when(|s| s.mentions("MONDO:0011122"), Behaviour::answer().status("QueryNotTraversable", "no way"))
        .first_tries(1, refusal);
    let pair = Pair::with(plan).await;
    assert_eq!(pair.submit(&pair.query("again")).await.unwrap().status(), 429);
    assert_eq!(pair.submit(&pair.query("again")).await.unwrap().status(), 200);
    let other = queries::with_callback(queries::treats("MONDO:0011122"), &pair.client.callback_url("no"));
    assert_eq!(pair.submit(&other).await.unwrap().status(), 200);
    let answer = pair.client.wait_for("no", LIMIT).await.unwrap().json().unwrap();
    assert_eq!(answer["status"], "QueryNotTraversable");
    assert_eq!(answer["message"]["results"], json!([]));
}

#[tokio::test]
async fn callbacks_can_be_wrong_in_every_way() {
    let plan = Plan::default()
        .nth(0, Behaviour::answer().callbacks(2))
        .nth(1, Behaviour::answer().payload(Payload::Garbage))
        .nth(2, Behaviour::answer().payload(Payload::Truncated))
        .nth(3, Behaviour::answer().encoding(Encoding::Gzip))
        .nth(4, Behaviour::answer().payload(Payload::Bytes("{}".into())))
        .nth(5, Behaviour::answer().encoding(Encoding::MislabelledZstd))
        .nth(6, Behaviour::answer().breaking_off());
    let pair = Pair::with(plan).await;
    let keys = ["twice", "garbage", "cut", "gzip", "own", "label", "broken"];
    for (position, key) in keys.into_iter().enumerate() {
        pair.submit(&pair.query(key)).await.unwrap();
        // The first one calls back twice.
        pair.retriever.wait_for_callbacks(position + 2, LIMIT).await.unwrap();
    }
    let got = |key: &str| pair.client.received(key).remove(0);
    assert_eq!(pair.client.received("twice").len(), 2);
    assert!(got("garbage").json().is_err() && got("cut").json().is_err());
    assert_eq!(got("gzip").header("content-encoding"), Some("gzip"));
    assert_eq!(&got("own").body[..], b"{}");
    assert!(got("label").json().is_ok() && got("label").header("content-encoding") == Some("zstd"));
    assert!(pair.client.received("broken").is_empty());
    let last = pair.retriever.callbacks().pop().unwrap();
    assert!(matches!(last.outcome, CallbackOutcome::Failed { connect: false, .. }), "{last:?}");
}

#[tokio::test]
async fn a_callback_is_tried_again_only_while_it_cannot_connect() {
    let mut pair = Pair::with(Plan::default()).await;
    let refusing = crate::ars::Policy::always(crate::ars::Reply::status(500));
    pair.client.set_policy(refusing);
    pair.submit(&pair.query("error")).await.unwrap();
    let callbacks = pair.retriever.wait_for_callbacks(1, LIMIT).await.unwrap();
    assert_eq!((callbacks[0].status(), callbacks[0].connects), (Some(500), 1), "an error status is final");
    pair.client.stop().await;
    pair.submit(&pair.query("nobody")).await.unwrap();
    let callbacks = pair.retriever.wait_for_callbacks(2, LIMIT).await.unwrap();
    assert_eq!(callbacks[1].connects, 4);
    assert!(matches!(callbacks[1].outcome, CallbackOutcome::Failed { connect: true, .. }));
}

#[tokio::test]
async fn queries_are_answered_in_place_and_graphs_rehydrated() {
    let pair = Pair::with(Plan::default()).await;
    let post = |path: &str, body: Value| {
        let request = pair.http.post(format!("{}{path}", pair.retriever.url())).body(body.to_string());
        async move {
            serde_json::from_slice::<Value>(&request.send().await.unwrap().bytes().await.unwrap()).unwrap()
        }
    };
    let hops = queries::multi_hop("CHEBI:6801", &["biolink:Gene"], "MONDO:0005148");
    assert_eq!(post("/query", hops).await["message"]["results"].as_array().unwrap().len(), 10);
    let graph = json!({ "nodes": { "CHEBI:6801": {} }, "edges": {} });
    assert_eq!(post("/rehydrate", graph).await["nodes"]["CHEBI:6801"]["name"], "metformin");
    assert_eq!((pair.retriever.sync_queries().len(), pair.retriever.rehydrations().len()), (1, 1));
    let (_, stats) = pair.json("/stats").await;
    assert_eq!((&stats["sync_queries"], &stats["submissions"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn a_stopped_double_refuses_connections_until_it_resumes() {
    let mut pair = Pair::with(Plan::default()).await;
    pair.retriever.stop().await;
    assert!(pair.submit(&pair.query("x")).await.unwrap_err().is_connect());
    pair.retriever.resume().await.unwrap();
    assert!(pair.submit(&pair.query("x")).await.is_ok());
}
