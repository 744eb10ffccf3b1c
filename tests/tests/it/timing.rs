//! One clock for a lookup: nothing is added to its time, and nothing but what is outstanding is waited for.
//!
//! The additive design, which waits for acknowledgements first and for callbacks afterwards, fails each of these by
//! many seconds.

use http::{HeaderValue, StatusCode, header};
use std::time::{Duration, Instant};
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::stack::StackBuilder;

use crate::answer::Answer;
use crate::scene::{self, ARAGORN, DIABETES, Scene, silent};

const SECOND: Duration = Duration::from_secs(1);

/// Ten seconds are kept back, so that an answer of a slow machine can still be told from one that waited longer.
fn with_reserve(stack: StackBuilder) -> StackBuilder {
    stack.workers(ARAGORN).env("QUERY_TIMEOUT_SEC", "30").env("FINISH_RESERVE_SEC", "10")
}

async fn timed(scene: &Scene, query: serde_json::Value) -> (Duration, Answer) {
    let started = Instant::now();
    let answer = scene.ask("aragorn", query).await;
    (started.elapsed(), answer)
}

#[tokio::test]
async fn ack_that_hangs_for_ever_costs_no_more_than_the_clients_time() {
    let plan = Plan::always(silent().ack_never());
    let scene =
        scene::start(plan, |stack| with_reserve(stack).env("KG_RETRIEVAL_SUBMIT_TIMEOUT", "60")).await;
    let (took, answer) = timed(&scene, queries::with_timeout(queries::treats(DIABETES), 2)).await;
    assert!(took >= 2 * SECOND && took < 12 * SECOND, "{took:?}");
    assert_eq!(answer.status(), "KPsNotAvailable");
    answer.assert_logged("WARNING", "9 of 9 sub-queries are missing");
}

#[tokio::test]
async fn whole_query_budget_binds_where_the_clients_time_is_longer() {
    let plan = Plan::always(silent().ack_never());
    let scene = scene::start(plan, |stack| {
        let budgets = [("LOOKUP_TIMEOUT", "300"), ("QUERY_TIMEOUT_SEC", "12"), ("FINISH_RESERVE_SEC", "10")];
        scene::with_env(stack.workers(ARAGORN), &budgets)
    })
    .await;
    // a negative time means that only the whole-query budget binds; named, it would stretch that budget
    let (took, answer) = timed(&scene, queries::with_timeout(queries::treats(DIABETES), -1)).await;
    assert!(took >= 2 * SECOND && took < 12 * SECOND, "{took:?}");
    assert_eq!(answer.status(), "KPsNotAvailable");
}

#[tokio::test]
async fn lookup_ends_with_its_callback_though_the_ack_is_slow() {
    let early = Behaviour::answer().counted_from_arrival().callback_after(SECOND / 5);
    let plan = Plan::always(early.ack_after(100 * SECOND));
    let scene = scene::aragorn(plan).await;
    let (took, answer) = timed(&scene, queries::treats(DIABETES)).await;
    answer.assert_success();
    assert!(took < 40 * SECOND, "{took:?}");
}

#[tokio::test]
async fn callback_counts_though_its_ack_never_came() {
    let plan = Plan::default().nth(0, Behaviour::answer().ack_never().callback_after(3 * SECOND));
    let scene =
        scene::start(plan, |stack| stack.workers(ARAGORN).env("KG_RETRIEVAL_SUBMIT_TIMEOUT", "0.5")).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), "Success");
    answer.assert_logged("WARNING", "no ACK within 0.5 s; its callback is still awaited");
    assert!(!answer.description().contains("missing"), "{}", answer.description());
    assert_eq!(scene.ended(&job.id).await["progress"]["sub_queries"]["returned"], 9);
    assert_eq!(scene.retriever.submissions().len(), 9, "it was not sent again: Retriever was working on it");
}

#[tokio::test]
async fn broken_connection_leaves_the_callback_awaited() {
    let plan = Plan::always(Behaviour::answer().hang_up().callback_after(SECOND / 5));
    let scene = scene::aragorn(plan).await;
    let (_, answer) = timed(&scene, queries::treats(DIABETES)).await;
    assert_eq!(answer.status(), "Success");
    assert_eq!(answer.logs("WARNING", "its callback is still awaited").len(), 9);
    assert_eq!(scene.retriever.submissions().len(), 9);
}

#[tokio::test]
async fn refused_connections_are_tried_again_and_then_given_up_inside_the_ack_time() {
    let mut scene =
        scene::start(Plan::default(), |stack| stack.workers(ARAGORN).env("KG_RETRIEVAL_SUBMIT_TIMEOUT", "2"))
            .await;
    scene.retriever.stop().await;
    let (took, answer) = timed(&scene, queries::treats(DIABETES)).await;
    assert!(took >= SECOND / 2, "given up without a second try after {took:?}");
    assert_eq!(answer.status(), "KPsNotAvailable");
    assert_eq!(
        answer
            .logs("ERROR", ": no connection to Retriever")
            .iter()
            .filter(|log| log.starts_with("Sub-query"))
            .count(),
        9
    );
    answer.assert_logged("WARNING", "9 were refused or did not arrive");
}

#[tokio::test]
async fn retriever_that_comes_back_in_time_is_reached() {
    let mut scene = scene::aragorn(Plan::default()).await;
    scene.retriever.stop().await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.logged("aragorn-lookup", "9 sub-queries").await;
    scene.retriever.resume().await.unwrap();
    scene.answer(&job).await.assert_success();
}

#[tokio::test]
async fn busy_retriever_is_asked_again_when_it_says() {
    let busy = Behaviour::answer().refuse(StatusCode::SERVICE_UNAVAILABLE, "busy");
    let busy = busy.with_header(header::RETRY_AFTER, HeaderValue::from_static("1"));
    let plan = Plan::default().first_tries(1, busy);
    let scene = scene::aragorn(plan).await;
    let (took, answer) = timed(&scene, queries::treats(DIABETES)).await;
    answer.assert_success();
    assert!(took >= SECOND, "{took:?}");
    assert_eq!(scene.retriever.submissions().len(), 18);
}

#[tokio::test]
async fn one_sub_query_that_is_never_taken_keeps_nobody_else_from_answering() {
    let busy = Behaviour::answer().refuse(StatusCode::TOO_MANY_REQUESTS, "busy");
    let plan = Plan::default().when(|submission| submission.mentions("biolink:in_clinical_trials_for"), busy);
    let scene =
        scene::start(plan, |stack| stack.workers(ARAGORN).env("KG_RETRIEVAL_SUBMIT_TIMEOUT", "1")).await;
    let (_, answer) = timed(&scene, queries::treats(DIABETES)).await;
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    answer.assert_logged("WARNING", "1 of 9 sub-queries are missing: 1 were refused or did not arrive");
    answer.assert_logged("ERROR", "Retriever answered 429");
    assert!(scene.retriever.submissions().len() > 9, "it was tried again");
}

#[tokio::test]
async fn callbacks_that_never_come_leave_the_others_in_the_answer() {
    let plan =
        Plan::choose(|submission| if submission.order % 2 == 0 { Behaviour::answer() } else { silent() });
    let scene = scene::start(plan, with_reserve).await;
    let (took, answer) = timed(&scene, queries::with_timeout(queries::treats(DIABETES), 4)).await;
    assert!(took >= 4 * SECOND && took < 14 * SECOND, "{took:?}");
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    answer.assert_logged("WARNING", "4 of 9 sub-queries are missing: 4 had no answer before the deadline");
}

#[tokio::test]
async fn lost_callback_is_fetched_before_the_deadline() {
    let plan = Plan::default().nth(0, Behaviour::answer().no_callback()).nth(1, silent());
    let scene = scene::start(plan, with_reserve).await;
    let job = scene.submit("aragorn", queries::with_timeout(queries::treats(DIABETES), 6)).await;
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), "Success");
    answer.assert_logged("WARNING", "1 of 9 sub-queries are missing: 1 had no answer before the deadline");
    assert_eq!(scene.ended(&job.id).await["progress"]["sub_queries"]["returned"], 8);
    assert!(!scene.retriever.lookups_by_id().is_empty());
}

#[tokio::test]
async fn retriever_that_keeps_its_time_limit_is_in_time() {
    let plan = Plan::always(Behaviour::answer().callback_after(60 * SECOND));
    let scene = scene::start(plan, with_reserve).await;
    // told to stop after less than 6 s, it posts what it has before our 8 s are over
    let (_, answer) = timed(&scene, queries::with_timeout(queries::treats(DIABETES), 8)).await;
    assert_eq!(answer.status(), "Success");
    answer.assert_logged("WARNING", "ended the search early");
    assert!(!answer.description().contains("missing"), "{}", answer.description());
}
