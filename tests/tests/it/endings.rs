//! How a query ends, as its three readers see it: the client's callback, the status endpoint, `/query`.

use http::StatusCode;
use serde_json::Value;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};

use crate::answer::Answer;
use crate::scene::{self, ARAGORN, DIABETES, Scene, silent};

/// Asks both ways; both must end with this TRAPI status and job status, `/query` with this HTTP status.
async fn assert_ends(
    scene: &Scene,
    query: Value,
    status: &str,
    job_status: &str,
    http_status: u16,
) -> Answer {
    let job = scene.submit("aragorn", query.clone()).await;
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), status, "{}", answer.description());
    let ended = scene.ended(&job.id).await;
    assert_eq!((&ended["status"], &ended["description"]), (&job_status.into(), &answer.0["description"]));
    let (answered, synchronous) = scene.ask_sync("aragorn", &query).await;
    assert_eq!((answered, synchronous.status()), (http_status, status));
    assert_eq!(synchronous.0["message"], answer.0["message"], "the same body in every case");
    scene.idle().await;
    answer
}

#[tokio::test]
async fn every_sub_query_answered_is_a_success() {
    let scene = scene::aragorn(Plan::default()).await;
    let answer = assert_ends(&scene, queries::treats(DIABETES), "Success", "Completed", 200).await;
    answer.assert_success();
    scene.retriever.set_plan(Plan::always(Behaviour::answer().results(0)));
    let none = assert_ends(&scene, queries::treats(DIABETES), "Success", "Completed", 200).await;
    assert_eq!((none.results().len(), none.description()), (0, "0 results"));
}

#[tokio::test]
async fn some_sub_queries_refused_is_a_success_that_says_so() {
    let refused = Behaviour::answer().refuse(StatusCode::INTERNAL_SERVER_ERROR, "out of order");
    let plan = Plan::choose(move |submission| match submission.order % 3 {
        0 => refused.clone(),
        _ => Behaviour::answer(),
    });
    let scene = scene::aragorn(plan).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    let missing = "3 of 9 sub-queries are missing: 3 were refused or did not arrive";
    assert!(answer.description().contains(missing), "{}", answer.description());
    answer.assert_logged("WARNING", missing);
    assert_eq!(answer.logs("ERROR", "refused it with status 500: out of order").len(), 3);
    let ended = scene.ended(&job.id).await;
    assert_eq!(
        (&ended["status"], &ended["progress"]["sub_queries"]["removed"]),
        (&"Completed".into(), &3.into())
    );
}

#[tokio::test]
async fn not_traversable_is_told_as_such() {
    let plan = Plan::always(Behaviour::answer().status("QueryNotTraversable", "no such predicate"));
    let scene = scene::aragorn(plan).await;
    let answer =
        assert_ends(&scene, queries::treats(DIABETES), "QueryNotTraversable", "Completed", 200).await;
    assert!(answer.results().is_empty());
}

#[tokio::test]
async fn every_sub_query_refused_is_told_at_once_with_the_reason() {
    let long = "x".repeat(2000);
    let plan =
        Plan::always(Behaviour::answer().refuse(StatusCode::INTERNAL_SERVER_ERROR, format!("broken {long}")));
    let scene = scene::aragorn(plan).await;
    // the lookup has 210 s: an answer inside the test's limit means that nobody waited
    let answer = assert_ends(&scene, queries::treats(DIABETES), "KPsNotAvailable", "Failed", 502).await;
    assert!(answer.results().is_empty());
    let refusals = answer.logs("ERROR", "Retriever refused it with status 500: broken xxx");
    assert_eq!(refusals.len(), 9);
    assert!(refusals.iter().all(|message| message.len() < 700), "only the body's start is told");
}

#[tokio::test]
async fn no_answer_before_the_deadline_is_told_as_such() {
    let scene = scene::aragorn(Plan::always(silent())).await;
    let query = queries::with_timeout(queries::treats(DIABETES), 2);
    let answer = assert_ends(&scene, query, "KPsNotAvailable", "Failed", 504).await;
    assert!(answer.description().contains("9 of 9 sub-queries are missing"), "{}", answer.description());
    answer.assert_logged("WARNING", "9 had no answer before the deadline");
}

#[tokio::test]
async fn lookup_that_fails_for_good_ends_with_what_was_gathered() {
    let plan = Plan::choose(|submission| match submission.order % 3 {
        0 => Behaviour::answer(),
        _ => silent(),
    });
    let scene = scene::start(plan, |stack| {
        let stack = stack.workers(ARAGORN).another_worker("other-lookup", "aragorn-lookup");
        stack.env("MAX_TASK_DELIVERIES", "1").env("LEASE_SEC", "1")
    })
    .await;
    let query = queries::treats(DIABETES);
    let (asked, ()) = tokio::join!(scene.ask_sync("aragorn", &query), async {
        scene.retriever.wait_for_callbacks(3, scene::LIMIT).await.unwrap();
        // whoever has it dies with it; the other one may not try again
        let owner = owner(&scene).await;
        scene.stack.kill(owner).await.unwrap();
    });
    let (status, answer) = asked;
    assert_eq!((status, answer.status()), (500, "Failed"));
    assert!(
        answer.description().contains("handed out 1 times without finishing"),
        "{}",
        answer.description()
    );
    assert!(!answer.results().is_empty(), "what was gathered is in the answer");
    scene.idle().await;
}

/// The lookup worker that has the query.
pub(crate) async fn owner(scene: &Scene) -> &'static str {
    owner_of(scene, ["aragorn-lookup", "other-lookup"])
}

/// The one of these lookup workers that has the query.
pub(crate) fn owner_of(scene: &Scene, workers: [&'static str; 2]) -> &'static str {
    let started = |label| scene.stack.logs(label).unwrap().contains("sub-queries, ");
    workers.into_iter().find(|label| started(label)).unwrap()
}
