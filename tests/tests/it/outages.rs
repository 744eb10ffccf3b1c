//! Redis away: what is asked meanwhile is refused at once, and what was accepted is answered afterwards.

use std::time::Duration;
use testkit::poll::eventually;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::stack::{GATEWAY, REDIS};

use crate::scene::{self, ARAGORN, DIABETES, LIMIT, Scene};

async fn assert_sheds_queries(scene: &Scene) {
    let readiness = scene.get("/readyz").await;
    assert_eq!(readiness.status, 503);
    assert_eq!(scene.get("/livez").await.status, 200, "a restart would not bring Redis back");
    let query = queries::with_callback(queries::treats(DIABETES), &scene.ars.callback_url("k"));
    for path in ["/aragorn/asyncquery", "/aragorn/query"] {
        let reply = scene.post(path, &[], query.to_string()).await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (503, Some("unavailable")), "{path}");
        let seconds: u64 = reply.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(seconds > 0);
    }
    let status = scene.get(&format!("/asyncquery_status/0000{}", "1".repeat(32))).await;
    assert_eq!(status.status, 503, "nobody knows whether there is such a query");
}

async fn assert_recovers(scene: &Scene) {
    let ready = || async { (scene.get("/readyz").await.status == 200).then_some(()) };
    eventually("readiness", LIMIT, ready).await.unwrap();
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
}

#[tokio::test]
async fn healthy_process_is_alive_and_ready() {
    let scene = scene::start(Plan::default(), |stack| stack.workers([])).await;
    for path in ["/livez", "/readyz"] {
        assert_eq!(scene.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn killed_redis_sheds_queries_and_comes_back_with_what_was_accepted() {
    let plan = Plan::always(Behaviour::answer().callback_after(Duration::from_secs(2)));
    let scene = scene::aragorn(plan).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.accepted(&job, 9).await;
    scene.stack.kill(REDIS).await.unwrap();
    assert_sheds_queries(&scene).await;
    scene.stack.restart(REDIS).await.unwrap();
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 9, "what was acknowledged is not asked twice");
    let callbacks = scene.retriever.wait_for_callbacks(9, LIMIT).await.unwrap();
    assert!(callbacks.iter().all(|callback| callback.status() == Some(200)), "{callbacks:?}");
    assert_recovers(&scene).await;
}

#[tokio::test]
async fn frozen_redis_sheds_queries_and_nothing_more() {
    let scene = scene::start(Plan::default(), |stack| {
        stack.workers(ARAGORN).env_for(GATEWAY, "REDIS_TIMEOUT_SEC", "1").env_for(
            GATEWAY,
            "REDIS_PAYLOAD_TIMEOUT_SEC",
            "1",
        )
    })
    .await;
    scene.stack.stop(REDIS).unwrap();
    assert_sheds_queries(&scene).await;
    scene.stack.cont(REDIS).unwrap();
    assert_recovers(&scene).await;
}

#[tokio::test]
async fn full_queue_sheds_queries_until_there_is_room() {
    let plan = Plan::always(Behaviour::answer().callback_after(Duration::from_secs(1)));
    let limits = [("MAX_QUEUED", "1"), ("PARTITIONS", "1")];
    let scene = scene::start(plan, |stack| scene::with_env(stack.workers(ARAGORN), &limits)).await;
    scene.stack.stop("aragorn-lookup").unwrap();
    let first = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let query = queries::with_callback(queries::treats(DIABETES), &scene.ars.callback_url("k"));
    let reply = scene.post("/aragorn/asyncquery", &[], query.to_string()).await;
    assert_eq!(reply.status, 503, "the queue is full");
    assert!(reply.headers.contains_key("retry-after"));
    scene.stack.cont("aragorn-lookup").unwrap();
    scene.answer(&first).await.assert_success();
}

#[tokio::test]
async fn open_queries_are_bounded_whatever_they_wait_for_and_callbacks_go_on() {
    let plan = Plan::always(Behaviour::answer().callback_after(Duration::from_secs(1)));
    let limits = [("MAX_OPEN_QUERIES", "1"), ("PARTITIONS", "1")];
    let scene = scene::start(plan, |stack| scene::with_env(stack.workers(ARAGORN), &limits)).await;
    scene.stack.stop("operations").unwrap();
    let first = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.status_when(&first.id, "the merge", |status| status["progress"]["stage"] == "merge").await;
    for path in ["/aragorn/asyncquery", "/aragorn/query"] {
        let query = queries::with_callback(queries::treats(DIABETES), &scene.ars.callback_url("k"));
        let reply = scene.post(path, &[], query.to_string()).await;
        assert_eq!(reply.status, 503, "{path}");
        assert!(reply.headers.contains_key("retry-after"), "{path}");
    }
    let callbacks = scene.retriever.wait_for_callbacks(9, LIMIT).await.unwrap();
    assert!(callbacks.iter().all(|callback| callback.status() == Some(200)), "{callbacks:?}");
    scene.stack.cont("operations").unwrap();
    scene.answer(&first).await.assert_success();
    scene.ended(&first.id).await;
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
}
