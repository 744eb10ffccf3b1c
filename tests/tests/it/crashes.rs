//! Processes that die or are told to stop: no query is lost, none is late, none is answered twice.

use serde_json::Value;
use std::time::{Duration, Instant};
use testkit::ars::{Policy, Reply};
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::stack::{GATEWAY, StackBuilder};

use crate::endings::owner;
use crate::scene::{self, ARAGORN, DIABETES, LIMIT, Scene, silent};

const SECOND: Duration = Duration::from_secs(1);

/// Two lookup workers, and leases that end soon.
fn two_lookups(stack: StackBuilder) -> StackBuilder {
    stack.workers(ARAGORN).another_worker("other-lookup", "aragorn-lookup").env("LEASE_SEC", "1")
}

async fn deadline(scene: &Scene, id: &str) -> u64 {
    let has_one = |status: &Value| status["progress"]["deadline_ms"].is_u64();
    let status = scene.status_when(id, "a deadline", has_one).await;
    status["progress"]["deadline_ms"].as_u64().unwrap()
}

async fn assert_delivered_once(scene: &Scene, key: &str) {
    scene.idle().await;
    assert_eq!(scene.ars.received(key).len(), 1);
}

#[tokio::test]
async fn lookup_of_a_killed_worker_goes_on_under_the_same_deadline() {
    let plan = Plan::always(Behaviour::answer().callback_after(3 * SECOND));
    let scene = scene::start(plan, two_lookups).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let before = deadline(&scene, &job.id).await;
    scene.submissions(9).await;
    let owner = owner(&scene).await;
    scene.accepted(&job, 9).await;
    scene.stack.kill(owner).await.unwrap();
    let survivor = if owner == "aragorn-lookup" { "other-lookup" } else { "aragorn-lookup" };
    scene.logged(survivor, "taken over: 9 sub-queries").await;
    assert_eq!(deadline(&scene, &job.id).await, before);
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 9, "nothing was asked twice");
    assert_delivered_once(&scene, &job.key).await;
}

#[tokio::test]
async fn killed_worker_costs_no_time_when_its_deadline_comes() {
    let plan = Plan::choose(|submission| if submission.order == 0 { Behaviour::answer() } else { silent() });
    let scene = scene::start(plan, |stack| two_lookups(stack).env("FINISH_RESERVE_SEC", "20")).await;
    let started = Instant::now();
    let job = scene.submit("aragorn", queries::with_timeout(queries::treats(DIABETES), 6)).await;
    scene.submissions(9).await;
    scene.retriever.wait_for_callbacks(1, LIMIT).await.unwrap();
    scene.stack.kill(owner(&scene).await).await.unwrap();
    let answer = scene.answer(&job).await;
    let took = started.elapsed();
    assert!(took >= 6 * SECOND && took < 26 * SECOND, "{took:?}");
    assert_eq!(answer.status(), "Success");
    answer.assert_logged("WARNING", "8 of 9 sub-queries are missing");
    assert_delivered_once(&scene, &job.key).await;
}

#[tokio::test]
async fn query_whose_workers_are_all_gone_is_answered_with_what_was_gathered() {
    let plan = Plan::choose(|submission| if submission.order < 3 { Behaviour::answer() } else { silent() });
    let scene = scene::start(plan, |stack| {
        stack.workers(ARAGORN).env("QUERY_TIMEOUT_SEC", "12").env("FINISH_RESERVE_SEC", "10")
    })
    .await;
    let started = Instant::now();
    let job = scene.submit("aragorn", queries::with_timeout(queries::treats(DIABETES), 11)).await;
    scene.retriever.wait_for_callbacks(3, LIMIT).await.unwrap();
    for label in ["aragorn-lookup", "operations"] {
        scene.stack.kill(label).await.unwrap();
    }
    let answer = scene.answer(&job).await;
    let took = started.elapsed();
    assert!(took < 12 * SECOND, "after its deadline: {took:?}");
    assert!(!answer.results().is_empty());
    answer.assert_logged("WARNING", "6 of 9 sub-queries are missing");
    scene.ended(&job.id).await;
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

#[tokio::test]
async fn restarted_worker_takes_up_what_it_left() {
    let plan = Plan::always(Behaviour::answer().callback_after(2 * SECOND));
    let scene = scene::start(plan, |stack| stack.workers(ARAGORN).env("LEASE_SEC", "1")).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.accepted(&job, 9).await;
    scene.stack.kill("aragorn-lookup").await.unwrap();
    let callbacks = scene.retriever.wait_for_callbacks(9, LIMIT).await.unwrap();
    assert!(callbacks.iter().all(|callback| callback.status() == Some(200)), "kept without any worker");
    scene.stack.restart("aragorn-lookup").await.unwrap();
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 9);
    assert_delivered_once(&scene, &job.key).await;
}

/// Lets a query come to `label`, which is down or frozen, then kills it for good and starts it anew.
async fn assert_survives(scene: &Scene, label: &str) {
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let stage = match label {
        "aragorn-lookup" => "aragorn.lookup",
        "operations" => "merge",
        _ => "finish_query",
    };
    scene.status_when(&job.id, stage, |status| status["progress"]["stage"] == stage).await;
    scene.stack.kill(label).await.unwrap();
    scene.stack.restart(label).await.unwrap();
    scene.answer(&job).await.assert_success();
    assert_delivered_once(scene, &job.key).await;
}

#[tokio::test]
async fn each_stage_can_be_down_when_its_turn_comes() {
    let scene = scene::aragorn(Plan::default()).await;
    for label in ARAGORN {
        scene.stack.kill(label).await.unwrap();
        assert_survives(&scene, label).await;
    }
}

#[tokio::test]
async fn each_stage_can_be_killed_with_the_query_in_its_hands() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN).env("LEASE_SEC", "1")).await;
    for label in ARAGORN {
        // frozen in the middle of a read, it is handed the query and does nothing with it
        scene.stack.stop(label).unwrap();
        assert_survives(&scene, label).await;
    }
}

#[tokio::test]
async fn delivery_of_a_killed_worker_is_made_by_the_next() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN).env("LEASE_SEC", "1")).await;
    let hangs = Policy::refuse_first(1, Reply::hang());
    scene.ars.set_policy(hangs);
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let first = scene.delivery(&job).await;
    scene.stack.kill("finish-query").await.unwrap();
    scene.stack.restart("finish-query").await.unwrap();
    let second = scene.ars.wait_for_nth(&job.key, 2, LIMIT).await.unwrap();
    assert_eq!(first.body, second.body);
    assert_eq!(first.header("idempotency-key"), second.header("idempotency-key"));
    assert_eq!(scene.ended(&job.id).await["status"], "Completed");
}

#[tokio::test]
async fn killed_gateway_costs_nothing_that_was_accepted() {
    let plan = Plan::always(Behaviour::answer().callback_after(3 * SECOND));
    let scene = scene::aragorn(plan).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.submissions(9).await;
    scene.stack.kill(GATEWAY).await.unwrap();
    // Retriever tries to connect for a second and a half before it gives a callback up
    scene.stack.restart(GATEWAY).await.unwrap();
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.ended(&job.id).await["status"], "Completed");
    assert_delivered_once(&scene, &job.key).await;
}

#[tokio::test]
async fn stopping_worker_hands_its_lookups_over_at_once() {
    let plan = Plan::always(Behaviour::answer().callback_after(4 * SECOND));
    // a lease that outlasts the test: only a hand-over gets the query to the other worker
    let scene = scene::start(plan, |stack| two_lookups(stack).env("LEASE_SEC", "120")).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let before = deadline(&scene, &job.id).await;
    scene.accepted(&job, 9).await;
    let owner = owner(&scene).await;
    let survivor = if owner == "aragorn-lookup" { "other-lookup" } else { "aragorn-lookup" };
    scene.stack.terminate(owner).await.unwrap();
    assert!(scene.stack.logs(owner).unwrap().contains("stopped"), "{}", scene.stack.logs(owner).unwrap());
    scene.logged(survivor, "taken over: 9 sub-queries").await;
    assert_eq!(deadline(&scene, &job.id).await, before);
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 9, "nothing was asked twice");
    assert_delivered_once(&scene, &job.key).await;
}

#[tokio::test]
async fn stopping_gateway_lets_open_requests_end() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN)).await;
    let query = queries::treats(DIABETES);
    scene.stack.stop("operations").unwrap();
    let (asked, stopped) = tokio::join!(scene.ask_sync("aragorn", &query), async {
        scene.retriever.wait_for_callbacks(9, LIMIT).await.unwrap();
        let stopped = scene.stack.terminate(GATEWAY);
        let merged_meanwhile = async {
            scene.logged(GATEWAY, "taking nothing new").await;
            scene.stack.cont("operations")
        };
        tokio::join!(stopped, merged_meanwhile)
    });
    assert_eq!((asked.0, asked.1.status()), (200, "Success"));
    stopped.0.unwrap();
    stopped.1.unwrap();
}

#[tokio::test]
async fn every_process_ends_in_order_when_asked() {
    let scene = scene::aragorn(Plan::always(silent())).await;
    scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.submissions(9).await;
    for label in [GATEWAY].into_iter().chain(ARAGORN) {
        scene.stack.terminate(label).await.unwrap();
        let log = scene.stack.logs(label).unwrap();
        assert!(log.lines().last().unwrap_or_default().contains("stopped"), "{label}:\n{log}");
    }
    assert_eq!(scene.queued("aragorn.lookup").await, 1, "the lookup waits for the next worker");
}
