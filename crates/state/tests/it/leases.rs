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
async fn entry_nobody_renews_is_claimed_from_behind_hundreds_that_are() {
    let (scene, entry) = Scene::begun().await;
    let (query, step) = (entry.query.to_string(), entry.step.to_string());
    let mut mine = scene.queue(LOOKUP, &scene.worker);
    for _ in 0..500 {
        let _: String = scene.redis(&["XADD", &stream(&scene), "*", "query", &query, "step", &step]).await;
    }
    let read = mine.read(500, SECOND).await.unwrap();
    let abandoned = read.last().unwrap().entry.id.clone();
    let idle = ["XCLAIM", &stream(&scene), "workers", scene.worker.as_str(), "0", &abandoned.to_string()];
    let _: Vec<String> = scene.redis(&[&idle[..], &["IDLE", "3600000", "JUSTID"]].concat()).await;
    let others = scene.queue(LOOKUP, &scene.other);
    assert!(others.has_lost(600 * SECOND).await.unwrap() && !others.has_lost(6000 * SECOND).await.unwrap());
    let claimed = others.claim(600 * SECOND, 1).await.unwrap();
    assert!(!others.has_lost(600 * SECOND).await.unwrap());
    assert_eq!(claimed.iter().map(|claimed| &claimed.entry.id).collect::<Vec<_>>(), [&abandoned]);
    assert_eq!(claimed[0].deliveries, 2);
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

fn stream(scene: &Scene) -> String {
    scene.key("stream:test.lookup")
}

async fn consumers(scene: &Scene) -> usize {
    let consumers: Vec<redis::Value> = scene.redis(&["XINFO", "CONSUMERS", &stream(scene), "workers"]).await;
    consumers.len()
}

#[tokio::test]
async fn consumer_that_leaves_gives_back_what_it_holds() {
    let (scene, entry) = Scene::begun().await;
    let mut mine = scene.queue(LOOKUP, &scene.worker);
    assert_eq!(mine.leave().await.unwrap(), 1);
    assert_eq!(consumers(&scene).await, 0);
    assert_eq!(mine.leave().await.unwrap(), 0, "a second time changes nothing");
    let others = scene.queue(LOOKUP, &scene.other).read(10, SECOND).await.unwrap();
    assert_eq!(others.len(), 1, "taken at once");
    let again = &others[0].entry;
    assert_eq!((again.query, again.step, &again.traceparent), (entry.query, entry.step, &entry.traceparent));
    assert_ne!(again.id, entry.id);
}

#[tokio::test]
async fn leaving_a_stream_that_has_expired_is_no_error() {
    let scene = Scene::new().await;
    assert_eq!(scene.queue(LOOKUP, &scene.worker).leave().await.unwrap(), 0);
    assert_eq!(scene.queue(LOOKUP, &scene.worker).dismiss(Duration::ZERO).await.unwrap(), 0);
    assert!(!scene.queue(LOOKUP, &scene.worker).has_lost(Duration::ZERO).await.unwrap());
    assert!(scene.queue(LOOKUP, &scene.worker).claim(Duration::ZERO, 1).await.unwrap().is_empty());
    assert!(scene.keys().await.is_empty());
}

#[tokio::test]
async fn silent_consumer_is_removed_once_it_holds_nothing() {
    let (scene, entry) = Scene::begun().await;
    let others = scene.queue(LOOKUP, &scene.other);
    assert_eq!(others.dismiss(60 * SECOND).await.unwrap(), 0, "it was heard of a moment ago");
    assert_eq!(others.dismiss(Duration::ZERO).await.unwrap(), 0, "its entry must stay claimable");
    assert_eq!(consumers(&scene).await, 1);
    scene.store.settle(LOOKUP, scene.partition(), &entry.id).await.unwrap();
    assert_eq!(others.dismiss(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(others.dismiss(Duration::ZERO).await.unwrap(), 0, "a second time changes nothing");
    assert_eq!(consumers(&scene).await, 0);
}

#[tokio::test]
async fn consumer_that_is_removed_while_it_reads_gets_the_next_entry() {
    let (scene, entry) = Scene::begun().await;
    scene.store.settle(LOOKUP, scene.partition(), &entry.id).await.unwrap();
    let mut mine = scene.queue(LOOKUP, &scene.worker);
    let reading = tokio::spawn(async move { mine.read(1, 60 * SECOND).await });
    testkit::poll::eventually("the read to begin", 10 * SECOND, || async {
        let clients: String = scene.redis(&["CLIENT", "LIST"]).await;
        clients.contains("cmd=xreadgroup").then_some(())
    })
    .await
    .unwrap();
    assert_eq!(scene.queue(LOOKUP, &scene.other).dismiss(Duration::ZERO).await.unwrap(), 1);
    let (query, step) = (entry.query.to_string(), entry.step.to_string());
    let _: String = scene.redis(&["XADD", &stream(&scene), "*", "query", &query, "step", &step]).await;
    let read = reading.await.unwrap().unwrap();
    assert_eq!(read.len(), 1);
    assert!(scene.queue(LOOKUP, &scene.worker).renew(&[read[0].entry.id.clone()]).await.unwrap().is_empty());
}

#[tokio::test]
async fn stream_has_an_expiry_from_its_first_reader_on() {
    let scene = Scene::new().await;
    for _ in 0..2 {
        scene.nothing_waits_for(LOOKUP).await;
        let left: i64 = scene.redis(&["TTL", &stream(&scene)]).await;
        assert!(left > 3000, "{left}");
    }
    // as an earlier version could leave it behind
    let _: i64 = scene.redis(&["PERSIST", &stream(&scene)]).await;
    scene.nothing_waits_for(LOOKUP).await;
    let left: i64 = scene.redis(&["TTL", &stream(&scene)]).await;
    assert!(left > 3000, "{left}");
}

#[tokio::test]
async fn unreadable_entry_is_dropped_and_the_next_one_read() {
    let scene = Scene::new().await;
    let _: String = scene.redis(&["XADD", &stream(&scene), "*", "nonsense", "1"]).await;
    scene.accept(&shepherd_state::Delivery::Connection).await.unwrap();
    assert_eq!(scene.take(LOOKUP).await.query, scene.id);
    let left: usize = scene.redis(&["XLEN", &stream(&scene)]).await;
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
