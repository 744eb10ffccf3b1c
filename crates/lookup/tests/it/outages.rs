//! Redis away in the middle of a lookup.

use std::time::Duration;

use budget::Budgets;

use crate::doubles::{Behaviour, Scene};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn acks_that_come_while_redis_is_away_are_recorded_later_and_nothing_is_sent_twice() {
    let scene = Scene::new(
        60,
        Budgets::default(),
        &[Behaviour::ack_at_once(Some(20 * SECOND)), Behaviour::ack_at_once(Some(30 * SECOND))],
    );
    scene.store.held().away = true;
    let back = async {
        tokio::time::sleep(10 * SECOND).await;
        scene.store.held().away = false;
    };
    let (ended, ()) = tokio::join!(scene.run(), back);
    ended.unwrap();
    let (after, missing, log) = scene.closed();
    assert_eq!((after, missing), (30 * SECOND, 0));
    assert!(!log.contains("taken over"), "it kept its wait: {log}");
    assert_eq!(scene.submitted(), ["a", "b"]);
}
