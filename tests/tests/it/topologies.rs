//! Redis as operators run it: in partitions, behind sentinels, as a cluster.

use std::time::Duration;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::{RedisCluster, RedisSentinel};

use crate::scene::{self, ARAGORN, DIABETES, Scene, lookup};

/// More queries than partitions, so that each gets some.
const QUERIES: usize = 12;

async fn answers_many(scene: &Scene) {
    let mut jobs = Vec::new();
    for _ in 0..QUERIES {
        jobs.push(scene.submit("aragorn", lookup()).await);
    }
    jobs.push(scene.submit("aragorn", queries::treats(DIABETES)).await);
    for job in &jobs {
        scene.answer(job).await.assert_success();
    }
}

#[tokio::test]
async fn queries_in_four_partitions_are_answered() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN).env("PARTITIONS", "4")).await;
    answers_many(&scene).await;
}

#[tokio::test]
async fn queries_are_answered_over_a_cluster() {
    let cluster = RedisCluster::start().await.unwrap();
    let scene = scene::start(Plan::default(), |stack| {
        stack.workers(ARAGORN).env("REDIS_URL", &cluster.url()).env("PARTITIONS", "4")
    })
    .await;
    answers_many(&scene).await;
}

#[tokio::test]
async fn query_survives_the_failover_of_its_master() {
    let mut redis = RedisSentinel::start().await.unwrap();
    let plan = Plan::always(Behaviour::answer().callback_after(Duration::from_secs(6)));
    let scene = scene::start(plan, |stack| {
        stack.workers(ARAGORN).env("REDIS_URL", &redis.url()).env("LEASE_SEC", "2")
    })
    .await;
    let job = scene.submit("aragorn", lookup()).await;
    scene.accepted(&job, 1).await;
    // the replica has all of it by now, or the last second is what a failover may lose
    redis.fail_over().await.unwrap();
    scene.answer(&job).await.assert_success();
    // and the next one is taken as if nothing had happened
    let job = scene.submit("aragorn", lookup()).await;
    scene.answer(&job).await.assert_success();
}
