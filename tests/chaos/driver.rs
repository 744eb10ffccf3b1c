//! Makes the troubles of the plan, each at its time.

use std::sync::Arc;
use std::time::Duration;
use testkit::proxy::Trouble as Connection;
use testkit::stack::REDIS;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::cast;
use crate::plan::{Event, Fault, Plan, Trouble};
use crate::stage::Stage;

/// How late bytes are on a slow connection.
const DELAY: Duration = Duration::from_millis(150);

/// Makes every trouble of `plan`; returns when the last one is over and everyone has recovered.
pub(crate) async fn play(plan: &Plan, stage: &Arc<Stage>) {
    let start = Instant::now();
    let mut troubles = JoinSet::new();
    for event in plan.events.clone() {
        tokio::time::sleep_until(start + event.at).await;
        let stage = Arc::clone(stage);
        troubles.spawn(async move { make(&stage, &event).await });
        while let Some(over) = troubles.try_join_next() {
            over.unwrap();
        }
    }
    while let Some(over) = troubles.join_next().await {
        over.unwrap();
    }
}

async fn make(stage: &Stage, event: &Event) {
    let stack = &stage.stack;
    let lasts = tokio::time::sleep(event.lasts);
    match event.trouble {
        Trouble::Kill(label) => {
            stack.kill(label).await.unwrap();
            lasts.await;
            start(stage, label).await;
        }
        Trouble::Pause(label) => {
            stack.stop(label).unwrap();
            lasts.await;
            stack.cont(label).unwrap();
        }
        Trouble::Roll(program) => {
            for label in cast::of(program) {
                stack.terminate(label).await.unwrap();
                start(stage, label).await;
            }
        }
        Trouble::RedisKilled => {
            stack.kill(REDIS).await.unwrap();
            lasts.await;
            start(stage, REDIS).await;
        }
        Trouble::RedisRestarted => {
            stack.terminate(REDIS).await.unwrap();
            lasts.await;
            start(stage, REDIS).await;
        }
        Trouble::RedisPaused => {
            stack.stop(REDIS).unwrap();
            lasts.await;
            stack.cont(REDIS).unwrap();
        }
        Trouble::Link(link, Fault::Cut) => stage.links[&link].cut(),
        Trouble::Link(link, fault) => {
            let proxy = &stage.links[&link];
            proxy.set(match fault {
                Fault::Slow => Connection::Slow(DELAY),
                Fault::Frozen => Connection::Frozen,
                Fault::Cut | Fault::Down => Connection::Down,
            });
            lasts.await;
            proxy.set(Connection::None);
        }
        Trouble::ClientRefuses => {
            stage.arrivals.refuse(true);
            lasts.await;
            stage.arrivals.refuse(false);
        }
        Trouble::ClientGone => {
            let mut ars = stage.ars.lock().await;
            ars.stop().await;
            lasts.await;
            ars.resume().await.unwrap();
        }
    }
}

/// Starts a process anew. It may take as long as other troubles keep it from becoming ready.
async fn start(stage: &Stage, label: &str) {
    stage.stack.restart(label).await.unwrap_or_else(|error| panic!("{label} did not come back: {error:?}"));
}
