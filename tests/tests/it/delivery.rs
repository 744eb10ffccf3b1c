//! The one delivery of a response, whatever the client does.

use http::StatusCode;
use serde_json::Value;
use testkit::Babbler;
use testkit::ars::{Delivery, Policy, Reply};
use testkit::poll::eventually;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};

use crate::answer::Answer;
use crate::memory::Memory;
use crate::scene::{self, ARAGORN, DIABETES, Job, LIMIT, Scene};

/// Asks while the client follows `policy`; the status of the query at its end, and what was delivered.
async fn ask(scene: &Scene, policy: Policy) -> (Job, Value, Vec<Delivery>) {
    scene.ars.set_policy(policy);
    let job = scene.submit("aragorn", scene::lookup()).await;
    let status = scene.ended(&job.id).await;
    scene.idle().await;
    let deliveries = scene.ars.received(&job.key);
    (job, status, deliveries)
}

#[tokio::test]
async fn client_that_is_busy_at_first_gets_the_same_bytes_in_the_end() {
    let scene = scene::aragorn(Plan::default()).await;
    for refusal in [503, 500, 429, 408, 425] {
        let (job, status, deliveries) = ask(&scene, Policy::refuse_first(2, Reply::status(refusal))).await;
        assert_eq!(status["status"], "Completed", "{refusal}: {status:#}");
        assert_eq!(deliveries.len(), 3, "{refusal}");
        for delivery in &deliveries {
            assert_eq!(delivery.body, deliveries[0].body, "{refusal}");
            assert_eq!(delivery.header("idempotency-key"), Some(job.id.as_str()));
        }
        Answer::check(&deliveries[0].body).assert_success();
        let log = format!("{:#}", status["logs"]);
        assert!(log.contains("the client answered 201"), "{log}");
    }
}

#[tokio::test]
async fn conflict_means_that_the_client_has_it() {
    let scene = scene::aragorn(Plan::default()).await;
    for kept in [409, 200, 202, 204] {
        let (_, status, deliveries) = ask(&scene, Policy::always(Reply::status(kept))).await;
        assert_eq!((&status["status"], deliveries.len()), (&"Completed".into(), 1), "{kept}");
    }
}

#[tokio::test]
async fn refusal_is_final_and_the_response_can_still_be_fetched() {
    let scene = scene::aragorn(Plan::default()).await;
    for refusal in [400, 404, 410, 422] {
        let (job, status, deliveries) = ask(&scene, Policy::always(Reply::status(refusal))).await;
        assert_eq!((&status["status"], deliveries.len()), (&"Failed".into(), 1), "{refusal}");
        let reason = status["description"].as_str().unwrap();
        assert!(reason.contains(&format!("status {refusal}: the policy says so")), "{reason}");
        assert!(status["logs"].as_array().unwrap().iter().any(|entry| entry["level"] == "ERROR"));
        let fetched = scene.get(&format!("/aragorn/response/{}", job.id)).await;
        assert_eq!((fetched.status, fetched.body), (200, deliveries[0].body.clone()), "{refusal}");
    }
}

#[tokio::test]
async fn answer_without_end_is_read_to_a_small_bound() {
    let scene = scene::aragorn(Plan::default()).await;
    let memory = Memory::of(&scene.stack, "finish-query");
    for (status, ending) in [(StatusCode::IM_A_TEAPOT, "Failed"), (StatusCode::OK, "Completed")] {
        let babbler = Babbler::start(status).await.unwrap();
        let query = queries::with_callback(scene::lookup(), &babbler.url());
        let accepted = scene.post("/aragorn/asyncquery", &[], query.to_string()).await.json();
        let ended = scene.ended(accepted["job_id"].as_str().unwrap()).await;
        assert_eq!(ended["status"], ending, "{ended:#}");
        let description = ended["description"].as_str().unwrap();
        assert!(description.len() < 1000, "{description}");
        assert!(babbler.said() < 32 << 20, "{}", babbler.said());
    }
    memory.assert_grown_by_at_most(16);
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let scene = scene::aragorn(Plan::default()).await;
    for redirect in [301, 302, 307, 308] {
        let elsewhere = Reply::status(redirect).with_location(&scene.ars.callback_url("elsewhere"));
        let (_, status, deliveries) = ask(&scene, Policy::always(elsewhere)).await;
        assert_eq!((&status["status"], deliveries.len()), (&"Failed".into(), 1), "{redirect}");
    }
    assert!(scene.ars.received("elsewhere").is_empty());
}

#[tokio::test]
async fn client_that_is_away_for_a_while_gets_its_response() {
    let mut scene = scene::aragorn(Plan::default()).await;
    scene.ars.stop().await;
    let job = scene.submit("aragorn", scene::lookup()).await;
    scene.logged("finish-query", "not delivered: the connection failed").await;
    assert_eq!(scene.status(&job.id).await["status"], "Running");
    scene.ars.resume().await.unwrap();
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.ended(&job.id).await["status"], "Completed");
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

#[tokio::test]
async fn client_that_stays_away_fails_the_job_with_the_reason() {
    let mut scene = scene::start(Plan::default(), |stack| {
        let budgets = [("LOOKUP_TIMEOUT", "5"), ("QUERY_TIMEOUT_SEC", "6"), ("FINISH_RESERVE_SEC", "1")];
        scene::with_env(stack.workers(ARAGORN), &budgets)
    })
    .await;
    scene.ars.stop().await;
    let job = scene.submit("aragorn", scene::lookup()).await;
    let status = scene.ended(&job.id).await;
    assert_eq!(status["status"], "Failed");
    let reason = status["description"].as_str().unwrap();
    assert!(reason.contains("the connection failed") && reason.contains("no time is left"), "{reason}");
    assert!(!reason.contains(&scene.ars.callback_url("")), "the address is the client's secret: {reason}");
    let fetched = scene.get(&format!("/response/{}", job.id)).await;
    assert_eq!(fetched.status, 200);
    Answer::check(&fetched.body).assert_success();
}

#[tokio::test]
async fn client_that_hangs_keeps_nobody_else_from_being_served() {
    let scene = scene::aragorn(Plan::default()).await;
    scene.ars.set_policy(Policy::choose(|delivery| {
        if delivery.key == "hangs" { Reply::hang() } else { Reply::as_ars() }
    }));
    let stuck = queries::with_callback(scene::lookup(), &scene.ars.callback_url("hangs"));
    assert_eq!(scene.post("/aragorn/asyncquery", &[], stuck.to_string()).await.status, 200);
    scene.ars.wait_for("hangs", LIMIT).await.unwrap();
    scene.ask("aragorn", scene::lookup()).await.assert_success();
}

#[tokio::test]
async fn large_response_is_delivered_whole() {
    let plan = Plan::always(Behaviour::answer().results(3000));
    let scene = scene::aragorn(plan).await;
    let query = queries::one_hop("biolink:ChemicalEntity", "biolink:treats", DIABETES);
    let job = scene.submit("aragorn", query).await;
    let delivery = scene.delivery(&job).await;
    let answer = Answer::check(&delivery.body);
    answer.assert_success();
    assert_eq!(answer.results().len(), 500);
    let kept = eventually("the kept delivery", LIMIT, || async { scene.ars.kept(&job.key) }).await.unwrap();
    assert_eq!(scene.get(&format!("/response/{}", job.id)).await.body, kept.body);
}
