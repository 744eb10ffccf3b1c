//! A run with troubles: hundreds of queries in flight while processes are killed, paused and restarted, Redis too,
//! connections break, and Retriever and the client misbehave. Afterwards nothing that was accepted may be lost.
//!
//! The plan of the troubles comes from a seed: `CHAOS_SEED=7 CHAOS_SECONDS=600 ./test.sh -E 'binary(chaos)'` makes the
//! same ones again, for longer. What is checked is what anyone could see from outside: HTTP, the journals of Retriever and
//! of the client, and Redis by its general commands. Redis writes with `appendfsync always`: what it may lose otherwise
//! when it is killed is not a matter of this service.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arrivals;
mod cast;
mod checks;
mod driver;
mod load;
mod memory;
mod plan;
mod question;
mod redis_view;
mod settings;
mod stage;
mod story;
mod verdict;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use crate::load::Load;
use crate::plan::Plan;
use crate::redis_view::RedisView;
use crate::settings::{Settings, UNTROUBLED};
use crate::stage::Stage;
use crate::verdict::Verdict;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_accepted_is_lost() {
    let settings = Settings::from_env();
    let plan = Plan::of(settings.seed, settings.troubled);
    println!("{plan}");
    let stage = Arc::new(Stage::start(&plan).await);
    println!("logs: {}", stage.logs().display());
    let redis = RedisView::new(&stage.stack.redis_url());
    let load = Load::new(settings.seed, &stage).await;
    let empty = redis.used_memory().await.unwrap();
    load.warm_up().await;
    let mut verdict = Verdict::new(empty, memory::of_all(&stage));
    let begun = Instant::now();
    let asked = begun + settings.troubled.saturating_sub(UNTROUBLED);
    let watched = watch(&redis, begun + settings.troubled);
    let (seen, (), ()) = tokio::join!(watched, driver::play(&plan, &stage), load.keep_up(asked));
    verdict.seen(&seen);
    verdict.at_rest(&stage, &redis, &load).await;
    let broken = verdict.told(&plan, &stage, &load).await;
    assert!(broken.is_empty(), "{} promises broken with CHAOS_SEED={}", broken.len(), plan.seed);
    drop(load);
    Arc::into_inner(stage).unwrap().close().await;
}

/// Keys that there should never be: those without an expiry, and notes of steps that were given up.
async fn watch(redis: &RedisView, end: Instant) -> BTreeSet<String> {
    const PAUSE: Duration = Duration::from_secs(2);
    let mut seen = BTreeSet::new();
    while Instant::now() < end {
        tokio::time::sleep(PAUSE).await;
        // Redis may be in trouble at this very moment
        let keys = redis.keys().await.unwrap_or_default();
        seen.extend(keys.into_iter().filter(|key| key.contains("dead-letters")));
        seen.extend(redis.without_ttl().await.unwrap_or_default());
    }
    seen
}
