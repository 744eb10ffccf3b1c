//! How the queues stand, for whoever watches over the service: every deliverer tells the same.

use std::time::Duration;

use budget::Clock;
use composer::OPERATIONS;
use runtime::{Causes, SystemClock};
use state::{StateError, Store};
use tokio::time::MissedTickBehavior;

/// How often the queues are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// What begins and ends a query; the rest is between.
const LOOKUPS: &[&str] = &[
    "aragorn.lookup",
    "aragorn.pathfinder",
    "arax.lookup",
    "arax.pathfinder",
    "bte.lookup",
    "example.lookup",
    "sipr.lookup",
];
const DELIVERY: &str = "finish_query";

/// Looks at the queues for as long as the process runs.
pub(crate) async fn observe(store: Store) {
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = look(&store).await {
            tracing::debug!("the queues are not known: {}", Causes(&error));
        }
    }
}

async fn look(store: &Store) -> Result<(), StateError> {
    for operation in LOOKUPS.iter().copied().chain(OPERATIONS).chain([DELIVERY]) {
        meters::stream(operation, store.stream_standing(operation, SystemClock.now()).await?);
    }
    meters::dead_letters(store.dead_letter_count().await?);
    let memory = store.memory().await?;
    meters::redis_memory(memory.used_bytes, memory.max_bytes);
    Ok(())
}
