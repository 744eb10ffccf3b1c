//! Nobody left to do the work, or the callback lost on the way: the client gets its answer all the same.

use std::time::{Duration, Instant};
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::stack::StackBuilder;

use crate::scene::{self, ARAGORN, DIABETES, lookup, with_env};

const SECOND: Duration = Duration::from_secs(1);
/// The whole query.
const QUERY: Duration = Duration::from_secs(8);

fn short(stack: StackBuilder) -> StackBuilder {
    with_env(
        stack.workers(ARAGORN),
        &[("LOOKUP_TIMEOUT", "4"), ("QUERY_TIMEOUT_SEC", "8"), ("FINISH_RESERVE_SEC", "4")],
    )
}

#[tokio::test]
async fn query_whose_workers_are_all_gone_is_answered_with_what_was_gathered() {
    let plan = Plan::choose(|submission| {
        if submission.order < 4 {
            Behaviour::answer()
        } else {
            Behaviour::answer().ignoring_timeout().callback_after(60 * SECOND)
        }
    });
    let scene = scene::start(plan, short).await;
    let started = Instant::now();
    let job = scene.submit("aragorn", queries::with_timeout(queries::treats(DIABETES), 8)).await;
    scene.submissions(9).await;
    scene.retriever.wait_for_callbacks(4, scene::LIMIT).await.unwrap();
    scene.stack.kill("aragorn-lookup").await.unwrap();
    scene.stack.kill("operations").await.unwrap();
    let answer = scene.answer(&job).await;
    assert!(started.elapsed() < QUERY + 2 * SECOND, "{:?}", started.elapsed());
    answer.assert_logged("WARNING", "closed by the watchdog");
    answer.assert_logged("WARNING", "5 of 9 sub-queries are missing");
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

#[tokio::test]
async fn one_of_several_watchdogs_answers_a_query_that_nobody_has_taken() {
    let scene =
        scene::start(Plan::default(), |stack| short(stack).another_worker("other-finish", "finish-query"))
            .await;
    scene.stack.kill("aragorn-lookup").await.unwrap();
    let job = scene.submit("aragorn", lookup()).await;
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), "KPsNotAvailable");
    // a worker that comes back finds nothing left to do
    scene.stack.restart("aragorn-lookup").await.unwrap();
    scene.idle().await;
    assert_eq!(scene.ars.received(&job.key).len(), 1, "answered once");
    assert!(scene.retriever.submissions().is_empty());
}

#[tokio::test]
async fn callback_that_was_lost_on_the_way_is_in_the_answer() {
    let lost = Behaviour::answer().no_callback();
    let scene =
        scene::start(Plan::always(Behaviour::answer()).nth(2, lost), |stack| stack.workers(ARAGORN)).await;
    let started = Instant::now();
    let job = scene.submit("aragorn", queries::with_timeout(queries::treats(DIABETES), 6)).await;
    let answer = scene.answer(&job).await;
    assert_eq!((answer.status(), scene.retriever.submissions().len()), ("Success", 9));
    assert!(answer.logs("WARNING", "are missing").is_empty());
    answer.assert_logged("WARNING", "1 lost callbacks were recovered");
    assert!(started.elapsed() < 8 * SECOND, "{:?}", started.elapsed());
}
