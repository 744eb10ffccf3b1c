//! Another worker takes over: same deadline, same ids, nothing twice that need not be.

use std::time::Duration;

use budget::Budgets;
use state::CallbackStatus;

use crate::doubles::{Behaviour, Scene};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn second_worker_keeps_the_deadline_and_submits_only_what_was_not_submitted() {
    let behaviour = Behaviour::ack_at_once(None);
    let scene = Scene::new(60, Budgets::default(), &[behaviour.clone(), behaviour]);
    // the first worker dies after 20 s
    let first = tokio::time::timeout(20 * SECOND, scene.run()).await;
    assert!(first.is_err(), "still waiting");
    assert_eq!(scene.submitted(), ["a", "b"]);
    scene.store.held().fan_out.as_mut().unwrap().callbacks[1].status = CallbackStatus::Registered;
    scene.runner(2).run(scene.task()).await.unwrap();
    assert_eq!(scene.submitted(), ["a", "b", "b"]);
    assert_eq!(scene.closed().0, 60 * SECOND, "counted from the first start");
}

#[tokio::test(start_paused = true)]
async fn worker_that_lost_its_lease_changes_nothing_when_it_wakes_up() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour::ack_at_once(Some(30 * SECOND))]);
    let (first, second) = (scene.runner(1), scene.runner(2));
    let slow = first.run(scene.task());
    let taken_over = async {
        tokio::time::sleep(10 * SECOND).await;
        second.run(scene.task()).await
    };
    let (slow, taken_over) = tokio::join!(slow, taken_over);
    slow.unwrap();
    taken_over.unwrap();
    let (after, missing, log) = scene.closed();
    assert_eq!((after, missing), (30 * SECOND, 0));
    assert!(log.contains("taken over"), "the second one closed it: {log}");
}

#[tokio::test(start_paused = true)]
async fn stopping_worker_hands_its_wait_back_at_once() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour::ack_at_once(None)]);
    let draining = scene.draining.clone();
    tokio::spawn(async move {
        tokio::time::sleep(5 * SECOND).await;
        draining.cancel();
    });
    scene.run().await.unwrap();
    assert_eq!(scene.clock.elapsed(), 5 * SECOND);
    assert!(scene.store.held().handed_back);
    assert!(scene.store.held().closed.is_none());
}

#[tokio::test(start_paused = true)]
async fn closed_lookup_is_not_run_again() {
    let scene = Scene::new(60, Budgets::default(), &[Behaviour::ack_at_once(Some(SECOND))]);
    scene.run().await.unwrap();
    scene.runner(2).run(scene.task()).await.unwrap();
    assert_eq!(scene.submitted(), ["a"]);
}
