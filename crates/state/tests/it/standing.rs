//! How queues are told to stand.

use std::time::Duration;

use budget::EpochMillis;
use shepherd_state::Delivery;

use crate::scene::{LOOKUP, NOW, Scene};

#[tokio::test]
async fn stream_is_counted_from_its_first_entry_to_its_last() {
    let scene = Scene::new().await;
    let standing = || async { scene.store.stream_standing(LOOKUP, NOW).await.unwrap() };
    assert_eq!(standing().await, meters::StreamStanding::default(), "there is no stream yet");
    scene.accept(&Delivery::Connection).await.unwrap();
    assert_eq!(standing().await.length, 1);
    let entry = scene.take(LOOKUP).await;
    let taken = standing().await;
    assert_eq!((taken.length, taken.lag, taken.pending), (1, 0, 1));
    scene.store.settle(LOOKUP, scene.partition(), &entry.id).await.unwrap();
    let settled = standing().await;
    assert_eq!((settled.length, settled.lag, settled.pending), (0, 0, 0));
}

#[tokio::test]
async fn worker_counts_while_it_is_heard_of() {
    let scene = Scene::new().await;
    let (mut mine, other) = (scene.queue(LOOKUP, &scene.worker), scene.queue(LOOKUP, &scene.other));
    let live = async |now: EpochMillis| scene.store.stream_standing(LOOKUP, now).await.unwrap().live_workers;
    let alive = Duration::from_secs(15);
    for _ in 0..2 {
        mine.appear(NOW, alive).await.unwrap();
    }
    other.appear(EpochMillis(NOW.0 + 10_000), alive).await.unwrap();
    assert_eq!(live(EpochMillis(NOW.0 + 14_000)).await, 2);
    assert_eq!(live(EpochMillis(NOW.0 + 20_000)).await, 1, "the first was not heard of again");
    other.appear(EpochMillis(NOW.0 + 20_000), alive).await.unwrap();
    assert_eq!(live(NOW).await, 1, "whoever speaks up removes the dead");
    mine.appear(EpochMillis(NOW.0 + 20_000), alive).await.unwrap();
    mine.leave().await.unwrap();
    assert_eq!(live(NOW).await, 1);
    let left_ms: i64 = scene.redis(&["PTTL", &scene.key("workers:test.lookup")]).await;
    assert!(left_ms > 0, "{left_ms}");
}
