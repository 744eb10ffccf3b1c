//! A client of `/query` that hangs up frees everything of its query.

use std::time::{Duration, Instant};
use testkit::answers::{self, AnswerSpec};
use testkit::poll::eventually;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};

use crate::scene::{self, DIABETES, LIMIT, Scene, silent};

/// Asks `/query` until `meanwhile` is over, then hangs up.
async fn hang_up_after(scene: &Scene, meanwhile: impl Future<Output = ()>) {
    let query = queries::treats(DIABETES);
    tokio::select! {
        (status, _) = scene.ask_sync("aragorn", &query) => panic!("answered with {status}"),
        () = meanwhile => {}
    }
}

/// The id of the only query, which a sync client is not told.
async fn only_query(scene: &Scene) -> String {
    let bodies = scene.keys(":body").await;
    let [body] = &bodies[..] else { panic!("one query: {bodies:?}") };
    body.trim_end_matches(":body").rsplit(':').next().unwrap().to_owned()
}

#[tokio::test]
async fn client_that_hangs_up_frees_everything_of_its_query() {
    let plan = Plan::choose(|submission| if submission.order < 3 { Behaviour::answer() } else { silent() });
    let scene = scene::aragorn(plan).await;
    let mut id = String::new();
    hang_up_after(&scene, async {
        scene.retriever.wait_for_callbacks(3, LIMIT).await.unwrap();
        scene.submissions(9).await;
        assert_eq!(scene.keys(":payload").await.len(), 3);
        id = only_query(&scene).await;
    })
    .await;

    let status = scene.ended(&id).await;
    assert_eq!(status["status"], "Failed");
    assert_eq!(status["description"], "the client closed the connection");
    scene.idle().await;
    for part in [":payload", ":body", ":response", "staged"] {
        let none = || async { scene.keys(part).await.is_empty().then_some(()) };
        eventually(part, LIMIT, none).await.unwrap_or_else(|error| panic!("{error}: something is left"));
    }
    assert_eq!(scene.get(&format!("/aragorn/response/{id}")).await.status, 404);

    // what Retriever finds afterwards is not wanted, and does not stay
    let late = scene.retriever.submissions().pop().unwrap();
    let message = answers::message(late.query_graph(), &AnswerSpec::default()).unwrap();
    let body = serde_json::json!({ "message": message }).to_string();
    let reply = scene.post_to(late.callback().unwrap(), &[], body).await;
    assert_eq!(reply.status, 410);
    assert!(scene.keys(":payload").await.is_empty());
    scene.retriever.set_plan(Plan::default());
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
}

#[tokio::test]
async fn client_that_hangs_up_before_any_worker_came_leaves_nothing_to_do() {
    let scene = scene::aragorn(Plan::default()).await;
    scene.stack.kill("aragorn-lookup").await.unwrap();
    hang_up_after(&scene, async {
        let queued = || async { (!scene.keys(":body").await.is_empty()).then_some(()) };
        eventually("a queued query", LIMIT, queued).await.unwrap();
    })
    .await;
    eventually("no body", LIMIT, || async { scene.keys(":body").await.is_empty().then_some(()) })
        .await
        .unwrap();
    scene.stack.restart("aragorn-lookup").await.unwrap();
    scene.idle().await;
    assert!(scene.retriever.submissions().is_empty(), "nobody asks for nobody");
}

#[tokio::test]
async fn client_that_waits_to_its_end_is_answered_at_its_deadline() {
    let scene = scene::start(Plan::always(silent()), |stack| {
        // no worker merges: the connection is held to the query's deadline and no longer
        stack.workers(["aragorn-lookup"]).env("QUERY_TIMEOUT_SEC", "2").env("FINISH_RESERVE_SEC", "1")
    })
    .await;
    let started = Instant::now();
    let query = queries::with_timeout(queries::treats(DIABETES), 1).to_string();
    let reply = scene.post("/aragorn/query", &[], query).await;
    assert_eq!((reply.status, reply.json()["code"].as_str()), (504, Some("not_in_time")));
    assert!(started.elapsed() >= Duration::from_secs(2));
}
