//! Entries are leased: renewed by their owner, claimed by others, handed back.

use std::time::Duration;

use shepherd_state::Standing;

use crate::scene::{LOOKUP, NOW, Scene};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn entry_nobody_renews_is_claimed_and_the_old_owner_loses_it() {
    let (scene, entry) = Scene::begun().await;
    let (mine, others) = (scene.queue(LOOKUP, &scene.worker), scene.queue(LOOKUP, &scene.other));
    assert!(others.claim(60 * SECOND, 10).await.unwrap().is_empty(), "the lease has not run out");
    let claimed = others.claim(Duration::ZERO, 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!((&claimed[0].entry, claimed[0].deliveries), (&entry, 2));
    let held = [entry.id];
    assert_eq!(mine.renew(&held).await.unwrap(), held);
    assert!(others.renew(&held).await.unwrap().is_empty());
}

#[tokio::test]
async fn renewed_lease_starts_anew() {
    let (scene, entry) = Scene::begun().await;
    let mine = scene.queue(LOOKUP, &scene.worker);
    assert!(mine.renew(&[entry.id]).await.unwrap().is_empty());
    let pending: Vec<(String, String, u64, u32)> =
        scene.redis(&["XPENDING", &scene.key("stream:test.lookup"), "workers", "-", "+", "10"]).await;
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].3, 1, "a renewal is no delivery");
}

#[tokio::test]
async fn handed_back_entry_is_taken_at_once_as_if_it_were_new() {
    let (scene, entry) = Scene::begun().await;
    scene.store.hand_back(&entry, &scene.worker).await.unwrap().unwrap();
    let again = scene.take(LOOKUP).await;
    assert_eq!((again.query, again.step), (entry.query, entry.step));
    assert_ne!(again.id, entry.id);
    scene.nothing_waits_for(LOOKUP).await;
}

#[tokio::test]
async fn entry_that_another_worker_has_is_not_handed_back() {
    let (scene, entry) = Scene::begun().await;
    scene.store.begin(&entry, &scene.other, NOW).await.unwrap().unwrap();
    assert_eq!(scene.store.hand_back(&entry, &scene.worker).await.unwrap(), Err(Standing::Lost));
    scene.nothing_waits_for(LOOKUP).await;
}

#[tokio::test]
async fn consumer_leaves_only_when_it_holds_nothing() {
    let (scene, entry) = Scene::begun().await;
    let mut mine = scene.queue(LOOKUP, &scene.worker);
    let consumers = || async {
        let consumers: Vec<redis::Value> =
            scene.redis(&["XINFO", "CONSUMERS", &scene.key("stream:test.lookup"), "workers"]).await;
        consumers.len()
    };
    mine.leave().await.unwrap();
    assert_eq!(consumers().await, 1, "its entry must stay claimable");
    scene.store.settle(LOOKUP, scene.partition(), &entry.id).await.unwrap();
    mine.leave().await.unwrap();
    assert_eq!(consumers().await, 0);
}

#[tokio::test]
async fn unreadable_entry_is_dropped_and_the_next_one_read() {
    let scene = Scene::new().await;
    let _: String = scene.redis(&["XADD", &scene.key("stream:test.lookup"), "*", "nonsense", "1"]).await;
    scene.accept(&shepherd_state::Delivery::Connection).await.unwrap();
    assert_eq!(scene.take(LOOKUP).await.query, scene.id);
    let left: usize = scene.redis(&["XLEN", &scene.key("stream:test.lookup")]).await;
    assert_eq!(left, 1);
}

#[tokio::test]
async fn dropped_read_takes_no_entry_with_it() {
    let scene = Scene::new().await;
    let mut queue = scene.queue(LOOKUP, &scene.other);
    let dropped = tokio::time::timeout(Duration::from_millis(50), queue.read(1, 60 * SECOND)).await;
    assert!(dropped.is_err());
    // once the server has seen the connection go
    testkit::poll::eventually("the read to end", 10 * SECOND, || async {
        let clients: String = scene.redis(&["CLIENT", "LIST"]).await;
        (!clients.contains("xreadgroup")).then_some(())
    })
    .await
    .unwrap();
    scene.accept(&shepherd_state::Delivery::Connection).await.unwrap();
    scene.take(LOOKUP).await;
}
