//! How long it takes until another worker holds what a killed one held, as anyone can see it in Redis.

use redis::streams::StreamPendingCountReply;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::poll::eventually;
use testkit::retriever::Plan;

use crate::scene::{self, ARAGORN, LIMIT, Scene, lookup, silent};

/// `LEASE_SEC`.
const LEASE: Duration = Duration::from_secs(2);
/// What was promised.
const WITHIN: Duration = Duration::from_secs(4);
const QUERIES: usize = 300;

/// The consumers that hold the waiting lookups, once these are `QUERIES`.
async fn holders(scene: &Scene) -> Option<BTreeSet<String>> {
    let mut redis = scene.redis().await;
    let mut ask = redis::cmd("XPENDING");
    ask.arg("shepherd:{p0}:stream:aragorn.lookup").arg("workers").arg("-").arg("+").arg(2 * QUERIES);
    let held: StreamPendingCountReply = ask.query_async(&mut redis).await.ok()?;
    (held.ids.len() == QUERIES).then(|| held.ids.into_iter().map(|entry| entry.consumer).collect())
}

async fn only_holder(scene: &Scene) -> String {
    let one = || async { holders(scene).await.filter(|all| all.len() == 1)?.pop_first() };
    eventually("one holder of all lookups", LIMIT, one).await.unwrap()
}

#[tokio::test]
async fn lookups_of_a_killed_worker_are_held_by_another_within_its_lease_and_two_seconds() {
    let scene = scene::start(Plan::always(silent()), |stack| {
        let lease = LEASE.as_secs().to_string();
        stack.workers(ARAGORN).another_worker("other-lookup", "aragorn-lookup").env("LEASE_SEC", &lease)
    })
    .await;
    scene.stack.terminate("other-lookup").await.unwrap();
    for _ in 0..QUERIES {
        scene.submit("aragorn", lookup()).await;
    }
    scene.submissions(QUERIES).await;
    // no further round: after three deliveries a step is given up
    for (killed, other) in [("aragorn-lookup", "other-lookup"), ("other-lookup", "aragorn-lookup")] {
        let before = only_holder(&scene).await;
        scene.stack.restart(other).await.unwrap();
        let begun = Instant::now();
        scene.stack.kill(killed).await.unwrap();
        let taken_over = || async { holders(&scene).await.filter(|all| !all.contains(&before)) };
        eventually("another holder", LIMIT, taken_over).await.unwrap();
        let took = begun.elapsed();
        println!("{QUERIES} lookups were taken over {took:.2?} after the kill of {killed}");
        assert!(took < WITHIN, "{took:?} with a lease of {LEASE:?}");
    }
}
