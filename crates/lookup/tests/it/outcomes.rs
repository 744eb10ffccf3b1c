//! What each outcome of a submission means for the wait.

use std::time::Duration;

use budget::Budgets;
use retriever::SubmissionOutcome;
use state::CallbackStatus;

use crate::doubles::{Behaviour, Scene};

const SECOND: Duration = Duration::from_secs(1);

fn ends_with(outcome: SubmissionOutcome, after: Duration) -> Behaviour {
    Behaviour { ack: Some((after, outcome)), callback: None }
}

fn refused() -> SubmissionOutcome {
    SubmissionOutcome::Rejected { status: 500, body_start: "the graph is on fire".to_owned() }
}

fn unreached() -> SubmissionOutcome {
    SubmissionOutcome::NeverReached { reason: "no connection to Retriever: connection refused".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn refused_submission_makes_the_wait_one_shorter_and_is_logged_with_the_bodys_start() {
    let behaviours = [ends_with(refused(), SECOND), Behaviour::ack_at_once(Some(2 * SECOND))];
    let scene = Scene::new(210, Budgets::default(), &behaviours);
    scene.run().await.unwrap();
    let (after, missing, log) = scene.closed();
    assert_eq!((after, missing), (2 * SECOND, 0));
    assert!(log.contains("status 500: the graph is on fire") && log.contains("ERROR"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn unreached_submission_is_removed_and_the_others_answers_count() {
    let behaviours = [ends_with(unreached(), 5 * SECOND), Behaviour::ack_at_once(Some(SECOND))];
    let scene = Scene::new(210, Budgets::default(), &behaviours);
    scene.run().await.unwrap();
    let (after, missing, log) = scene.closed();
    assert_eq!((after, missing), (5 * SECOND, 0));
    assert!(log.contains("connection refused"), "{log}");
    let held = scene.store.held();
    let statuses: Vec<_> = held.fan_out.as_ref().unwrap().callbacks.iter().map(|c| c.status).collect();
    assert_eq!(statuses, [CallbackStatus::Removed, CallbackStatus::Returned]);
}

#[tokio::test(start_paused = true)]
async fn lookup_whose_every_submission_fails_ends_at_once_and_says_why() {
    let behaviours = [ends_with(refused(), SECOND), ends_with(unreached(), SECOND)];
    let scene = Scene::new(210, Budgets::default(), &behaviours);
    scene.run().await.unwrap();
    let (after, _, log) = scene.closed();
    assert_eq!(after, SECOND);
    assert!(log.contains("on fire") && log.contains("connection refused"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn submission_in_flight_stays_awaited() {
    let broken = SubmissionOutcome::InFlight { reason: "the connection broke".to_owned() };
    let behaviour = Behaviour { ack: Some((SECOND, broken)), callback: Some(50 * SECOND) };
    let scene = Scene::new(210, Budgets::default(), &[behaviour]);
    scene.run().await.unwrap();
    assert_eq!(scene.closed().0, 50 * SECOND);
}
