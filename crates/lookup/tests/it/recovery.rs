//! Callbacks that were lost on the way are asked for before the deadline.

use std::time::Duration;

use budget::Budgets;
use retriever::Recovered;

use crate::doubles::{Behaviour, Scene};

const SECOND: Duration = Duration::from_secs(1);

fn response(body: &'static str) -> Recovered {
    Recovered::Response { body: body.into(), encoding: String::new() }
}

#[tokio::test(start_paused = true)]
async fn lost_callback_is_recovered_inside_the_lookups_own_deadline() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour::ack_at_once(None)]);
    scene.retriever.found.lock().unwrap().push(response(r#"{"message":{}}"#));
    scene.run().await.unwrap();
    let (after, missing, log) = scene.closed();
    // Retriever was told to stop after 45 s; a third of the margin later it is asked
    assert_eq!((after, missing), (50 * SECOND, 0));
    assert!(log.contains("1 lost callbacks were recovered"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn job_that_is_still_running_is_asked_for_again() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour::ack_at_once(None)]);
    // the last one is said first
    *scene.retriever.found.lock().unwrap() = vec![response(r#"{"message":{}}"#), Recovered::Pending];
    scene.run().await.unwrap();
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (52 * SECOND + SECOND / 2, 0));
}

#[tokio::test(start_paused = true)]
async fn job_that_is_lost_ends_the_lookup_at_its_deadline_and_no_later() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour::ack_at_once(None)]);
    let lost = Recovered::Lost { reason: "gone".to_owned() };
    *scene.retriever.found.lock().unwrap() = vec![lost.clone(), response("no JSON"), lost];
    scene.run().await.unwrap();
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (60 * SECOND, 1));
}

#[tokio::test(start_paused = true)]
async fn submission_without_a_job_id_is_not_asked_for() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour { ack: None, callback: None }]);
    scene.retriever.found.lock().unwrap().push(response(r#"{"message":{}}"#));
    scene.run().await.unwrap();
    assert_eq!(scene.closed().1, 1);
    assert_eq!(scene.retriever.found.lock().unwrap().len(), 1);
}
