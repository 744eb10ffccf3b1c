//! Nothing is additive: everything a lookup does fits inside one deadline.

use std::time::Duration;

use budget::Budgets;

use crate::doubles::{Behaviour, Scene};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn hung_ack_ends_the_lookup_at_the_clients_timeout_even_where_the_submit_timeout_is_longer() {
    let budgets = Budgets { submit: 100 * SECOND, ..Budgets::default() };
    let scene = Scene::new(10, budgets, &[Behaviour { ack: None, callback: None }]);
    scene.run().await.unwrap();
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (10 * SECOND, 1));
}

#[tokio::test(start_paused = true)]
async fn callback_that_comes_before_its_ack_ends_the_lookup() {
    let slow_ack = Some((8 * SECOND, Behaviour::accepted()));
    let behaviour = Behaviour { ack: slow_ack, callback: Some(2 * SECOND) };
    let scene = Scene::new(210, Budgets::default(), &[behaviour]);
    scene.run().await.unwrap();
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (2 * SECOND, 0));
}

#[tokio::test(start_paused = true)]
async fn callback_after_a_timed_out_ack_counts_as_its_id_was_kept() {
    let budgets = Budgets { submit: 5 * SECOND, ..Budgets::default() };
    let scene = Scene::new(60, budgets, &[Behaviour { ack: None, callback: Some(20 * SECOND) }]);
    scene.run().await.unwrap();
    let (after, missing, log) = scene.closed();
    assert_eq!((after, missing), (20 * SECOND, 0));
    assert!(log.contains("no ACK within 5.0 s") && log.contains("WARNING"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn one_hung_ack_does_not_delay_a_lookup_whose_callbacks_are_all_in() {
    let quick = Behaviour::ack_at_once(Some(SECOND));
    let hung = Behaviour { ack: None, callback: Some(SECOND) };
    let scene = Scene::new(210, Budgets::default(), &[quick, hung]);
    scene.run().await.unwrap();
    assert_eq!(scene.closed().0, SECOND);
}

#[tokio::test(start_paused = true)]
async fn half_the_callbacks_missing_ends_the_lookup_at_its_deadline_with_the_other_half() {
    let (comes, never) = (Behaviour::ack_at_once(Some(SECOND)), Behaviour::ack_at_once(None));
    let scene = Scene::new(30, Budgets::default(), &[comes.clone(), never.clone(), comes, never]);
    scene.run().await.unwrap();
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (30 * SECOND, 2));
}

#[tokio::test(start_paused = true)]
async fn lookup_leaves_the_reserve_of_the_whole_query_budget() {
    let scene = Scene::new(300, Budgets::default(), &[Behaviour::ack_at_once(None)]);
    scene.run().await.unwrap();
    assert_eq!(scene.closed().0, 285 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn ack_timeout_is_taken_when_the_submission_goes_out() {
    let scene = Scene::new(40, Budgets::default(), &[Behaviour::ack_at_once(Some(SECOND))]);
    scene.run().await.unwrap();
    let submitted = scene.retriever.submitted.lock().unwrap();
    assert_eq!(submitted[..], [("a".to_owned(), 40 * SECOND)]);
}

#[tokio::test(start_paused = true)]
async fn late_callback_is_not_kept() {
    let scene = Scene::new(10, Budgets::default(), &[Behaviour::ack_at_once(Some(11 * SECOND))]);
    scene.run().await.unwrap();
    assert_eq!(scene.closed().0, 10 * SECOND);
    assert!(!scene.store.callback("a"), "the lookup has closed");
}

#[tokio::test(start_paused = true)]
async fn lost_event_costs_no_more_than_one_recheck() {
    let scene = Scene::new(210, Budgets::default(), &[Behaviour::ack_at_once(None)]);
    let store = scene.store.clone();
    tokio::spawn(async move {
        tokio::time::sleep(SECOND).await;
        // returned, and nobody is told
        store.held().fan_out.as_mut().unwrap().callbacks[0].status = state::CallbackStatus::Returned;
    });
    scene.run().await.unwrap();
    let (after, missing, _) = scene.closed();
    assert!(after <= 20 * SECOND && missing == 0, "closed after {after:?}");
}
