//! What becomes of what a killed worker held, and of its name, as anyone can see it in Redis.

use redis::streams::{StreamInfoConsumersReply, StreamPendingCountReply};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::poll::eventually;
use testkit::retriever::Plan;
use testkit::stack::REDIS;

use crate::scene::{self, ARAGORN, LIMIT, Scene, lookup, silent};

/// `LEASE_SEC`.
const LEASE: Duration = Duration::from_secs(2);
/// What was promised.
const WITHIN: Duration = Duration::from_secs(4);
const QUERIES: usize = 300;
/// Where lookups wait.
const STREAM: &str = "shepherd:{p0}:stream:aragorn.lookup";

/// The consumers that hold the waiting lookups, once these are so many.
async fn holders(scene: &Scene, count: usize) -> Option<BTreeSet<String>> {
    let mut redis = scene.redis().await;
    let mut ask = redis::cmd("XPENDING");
    ask.arg(STREAM).arg("workers").arg("-").arg("+").arg(2 * count);
    let held: StreamPendingCountReply = ask.query_async(&mut redis).await.ok()?;
    (held.ids.len() == count).then(|| held.ids.into_iter().map(|entry| entry.consumer).collect())
}

async fn only_holder(scene: &Scene, count: usize) -> String {
    let one = || async { holders(scene, count).await.filter(|all| all.len() == 1)?.pop_first() };
    eventually("one holder of all lookups", LIMIT, one).await.unwrap()
}

/// One lookup worker that takes everything, and one that is yet to come.
async fn start(lease: &str) -> Scene {
    let scene = scene::start(Plan::always(silent()), |stack| {
        stack.workers(ARAGORN).another_worker("other-lookup", "aragorn-lookup").env("LEASE_SEC", lease)
    })
    .await;
    scene.stack.terminate("other-lookup").await.unwrap();
    scene
}

#[tokio::test]
async fn lookups_of_a_killed_worker_are_held_by_another_within_its_lease_and_two_seconds() {
    let scene = start(&LEASE.as_secs().to_string()).await;
    for _ in 0..QUERIES {
        scene.submit("aragorn", lookup()).await;
    }
    scene.submissions(QUERIES).await;
    // no further round: after three deliveries a step is given up
    for (killed, other) in [("aragorn-lookup", "other-lookup"), ("other-lookup", "aragorn-lookup")] {
        let before = only_holder(&scene, QUERIES).await;
        scene.stack.restart(other).await.unwrap();
        let begun = Instant::now();
        scene.stack.kill(killed).await.unwrap();
        let taken_over = || async { holders(&scene, QUERIES).await.filter(|all| !all.contains(&before)) };
        eventually("another holder", LIMIT, taken_over).await.unwrap();
        let took = begun.elapsed();
        println!("{QUERIES} lookups were taken over {took:.2?} after the kill of {killed}");
        assert!(took < WITHIN, "{took:?} with a lease of {LEASE:?}");
    }
}

/// What is known of the entries that wait: how often each was handed out, and how long ago it was renewed.
async fn held(scene: &Scene) -> Vec<(usize, Duration)> {
    let mut redis = scene.redis().await;
    let mut ask = redis::cmd("XPENDING");
    ask.arg(STREAM).arg("workers").arg("-").arg("+").arg(QUERIES);
    let held: StreamPendingCountReply = ask.query_async(&mut redis).await.unwrap();
    let known = |ms: usize| Duration::from_millis(u64::try_from(ms).unwrap());
    held.ids.into_iter().map(|entry| (entry.times_delivered, known(entry.last_delivered_ms))).collect()
}

#[tokio::test]
async fn redis_that_is_away_for_longer_than_a_lease_costs_no_living_worker_its_lookups() {
    const LOOKUPS: usize = 20;
    // so long that claims are looked for more often than leases are renewed
    const LEASE: Duration = Duration::from_secs(6);
    const AWAY: Duration = Duration::from_secs(7);
    let scene = start(&LEASE.as_secs().to_string()).await;
    for _ in 0..LOOKUPS {
        scene.submit("aragorn", lookup()).await;
    }
    scene.submissions(LOOKUPS).await;
    scene.stack.restart("other-lookup").await.unwrap();
    let assert_kept = || async {
        let renewed = || async {
            let held = held(&scene).await;
            held.iter().all(|(_, ago)| *ago < LEASE / 2).then_some(held)
        };
        let held = eventually("renewed leases", LIMIT, renewed).await.unwrap();
        assert_eq!(held.iter().filter(|(deliveries, _)| *deliveries == 1).count(), LOOKUPS, "{held:?}");
    };
    assert_kept().await;
    scene.stack.stop(REDIS).unwrap();
    tokio::time::sleep(AWAY).await;
    scene.stack.cont(REDIS).unwrap();
    assert_kept().await;
    scene.stack.kill(REDIS).await.unwrap();
    tokio::time::sleep(AWAY).await;
    scene.stack.restart(REDIS).await.unwrap();
    assert_kept().await;
}

/// The names of all consumers.
async fn consumers(scene: &Scene) -> Option<BTreeSet<String>> {
    let mut redis = scene.redis().await;
    let mut ask = redis::cmd("XINFO");
    ask.arg("CONSUMERS").arg(STREAM).arg("workers");
    let all: StreamInfoConsumersReply = ask.query_async(&mut redis).await.ok()?;
    Some(all.consumers.into_iter().map(|consumer| consumer.name).collect())
}

#[tokio::test]
async fn killed_worker_leaves_no_consumer_behind_and_neither_does_one_that_stops() {
    let scene = start("1").await;
    scene.submit("aragorn", lookup()).await;
    scene.submissions(1).await;
    let killed = only_holder(&scene, 1).await;
    scene.stack.kill("aragorn-lookup").await.unwrap();
    scene.stack.restart("other-lookup").await.unwrap();
    let gone = || async { consumers(&scene).await.filter(|all| all.len() == 1 && !all.contains(&killed)) };
    eventually("the other's consumer alone", LIMIT, gone).await.unwrap();
    let holder = only_holder(&scene, 1).await;
    assert_ne!(holder, killed);
    scene.stack.terminate("other-lookup").await.unwrap();
    assert_eq!(consumers(&scene).await, Some(BTreeSet::new()));
}
