//! Redis away, slow, full, forgetful, or behind: nobody is told a false 200, and what was accepted and kept is
//! answered.

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::ars::{Policy, Reply};
use testkit::poll::eventually;
use testkit::proxy::{TcpProxy, Trouble};
use testkit::queries;
use testkit::retriever::{Behaviour, CallbackRecord, Plan};
use testkit::stack::{GATEWAY, REDIS};
use testkit::{PrivateRedis, RedisSentinel};

use crate::scene::{self, ARAGORN, DIABETES, LIMIT, Scene, lookup};

const SECOND: Duration = Duration::from_secs(1);

/// Asks both ways; each must be refused with a hint when to come again.
async fn assert_sheds(scene: &Scene) {
    let query = queries::with_callback(queries::treats(DIABETES), &scene.ars.callback_url("refused"));
    for path in ["/aragorn/asyncquery", "/aragorn/query"] {
        let reply = scene.post(path, &[], query.to_string()).await;
        assert_eq!(reply.status, 503, "{path}: {}", reply.json());
        assert!(reply.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0, "{path}");
    }
}

async fn redis_command(scene: &Scene, words: &[&str]) {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async::<()>(&mut scene.redis().await).await.unwrap();
}

#[tokio::test]
async fn refused_connections_for_ten_seconds_cost_nothing_that_was_accepted() {
    let plan = Plan::always(Behaviour::answer().callback_after(4 * SECOND));
    let scene = scene::aragorn(plan).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let query = queries::treats(DIABETES);
    let (held, ()) = tokio::join!(scene.ask_sync("aragorn", &query), async {
        scene.submissions(18).await;
        scene.accepted(&job, 9).await;
        scene.stack.kill(REDIS).await.unwrap();
        let down = Instant::now();
        while down.elapsed() < 10 * SECOND {
            assert_sheds(&scene).await;
        }
        scene.stack.restart(REDIS).await.unwrap();
    });
    assert_eq!((held.0, held.1.status()), (200, "Success"), "a held connection is held");
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 18, "nothing is asked twice");
    let callbacks = scene.retriever.wait_for_callbacks(18, LIMIT).await.unwrap();
    assert!(callbacks.iter().all(|callback| callback.status() == Some(200)), "{callbacks:?}");
    let log = scene.stack.logs("aragorn-lookup").unwrap();
    assert!(!log.contains("taken over"), "it kept its waits:\n{log}");
    let tries = log.matches("trying again in").count() + log.matches("listening again in").count();
    assert!((1..100).contains(&tries), "it backed off: {tries} tries");
    scene.ask("aragorn", lookup()).await.assert_success();
    assert!(scene.ars.received("refused").is_empty(), "what was refused is not done");
}

#[tokio::test]
async fn outcome_that_cannot_be_stored_at_once_does_not_deliver_the_response_again() {
    let scene = scene::aragorn(Plan::default()).await;
    scene.ars.set_policy(Policy::always(Reply::as_ars().after(2 * SECOND)));
    let job = scene.submit("aragorn", lookup()).await;
    scene.delivery(&job).await;
    scene.stack.kill(REDIS).await.unwrap();
    scene.logged("finish-query", "delivered, the client answered 201").await;
    scene.stack.restart(REDIS).await.unwrap();
    assert_eq!(scene.ended(&job.id).await["status"], "Completed");
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

/// A stack whose Redis is behind a proxy; the one that the stack brings is idle.
async fn behind_proxy(plan: Plan, variables: &[(&str, &str)]) -> (Scene, PrivateRedis, TcpProxy) {
    let redis = PrivateRedis::start().await.unwrap();
    let proxy = TcpProxy::start(([127, 0, 0, 1], redis.port()).into()).await.unwrap();
    let url = format!("redis://{}", proxy.addr());
    let scene =
        scene::start(plan, |stack| scene::with_env(stack.workers(ARAGORN).env("REDIS_URL", &url), variables))
            .await;
    (scene, redis, proxy)
}

#[tokio::test]
async fn slow_redis_makes_answers_late_and_nothing_else() {
    let (scene, _redis, proxy) = behind_proxy(Plan::default(), &[]).await;
    proxy.set(Trouble::Slow(100 * SECOND / 1000));
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.answer(&job).await.assert_success();
    assert_eq!(scene.ended(&job.id).await["status"], "Completed");
    assert_eq!((scene.retriever.submissions().len(), scene.ars.received(&job.key).len()), (9, 1));
}

#[tokio::test]
async fn redis_that_is_too_slow_is_as_good_as_away() {
    let plan = Plan::always(Behaviour::answer().callback_after(2 * SECOND));
    let limits = [("REDIS_TIMEOUT_SEC", "0.5"), ("REDIS_PAYLOAD_TIMEOUT_SEC", "0.5")];
    let (scene, _redis, proxy) = behind_proxy(plan, &limits).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    scene.accepted(&job, 9).await;
    proxy.set(Trouble::Slow(2 * SECOND));
    assert_sheds(&scene).await;
    proxy.set(Trouble::None);
    scene.answer(&job).await.assert_success();
    let callbacks = scene.retriever.wait_for_callbacks(9, LIMIT).await.unwrap();
    assert!(callbacks.iter().take(9).all(|callback| callback.status() == Some(200)), "{callbacks:?}");
}

#[tokio::test]
async fn connections_that_break_again_and_again_lose_nothing() {
    let plan = Plan::always(Behaviour::answer().callback_after(SECOND));
    let (scene, _redis, proxy) = behind_proxy(plan, &[]).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let cut = async {
        loop {
            tokio::time::sleep(SECOND / 4).await;
            proxy.cut();
        }
    };
    let answered = async {
        scene.answer(&job).await.assert_success();
    };
    tokio::select! {
        () = answered => {}
        () = cut => {}
    }
    scene.ended(&job.id).await;
    assert_eq!(scene.retriever.submissions().len(), 9, "nothing is asked twice");
}

#[tokio::test]
async fn full_redis_takes_nothing_new_and_lets_what_is_at_work_end() {
    let plan = Plan::choose(|submission| {
        let behaviour = Behaviour::answer();
        if submission.order < 3 { behaviour } else { behaviour.callback_after(3 * SECOND) }
    });
    let scene = scene::aragorn(plan).await;
    let job = scene.submit("aragorn", queries::with_timeout(queries::treats(DIABETES), 8)).await;
    scene.accepted(&job, 9).await;
    let three = |status: &Value| status["progress"]["sub_queries"]["returned"] == 3;
    scene.status_when(&job.id, "three callbacks", three).await;
    redis_command(&scene, &["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_sheds(&scene).await;
    let answer = scene.answer(&job).await;
    assert!(!answer.results().is_empty());
    answer.assert_logged("WARNING", "6 of 9 sub-queries are missing");
    assert_eq!(scene.ended(&job.id).await["status"], "Completed");
    let callbacks = scene.retriever.wait_for_callbacks(9, LIMIT).await.unwrap();
    let kept = callbacks.iter().filter(|callback| callback.status() == Some(200)).count();
    assert_eq!(kept, 3, "no callback was acknowledged that is not in the answer: {callbacks:?}");
    redis_command(&scene, &["CONFIG", "SET", "maxmemory", "0"]).await;
    let taken = || async {
        let query = queries::with_callback(lookup(), &scene.ars.callback_url("again"));
        (scene.post("/aragorn/asyncquery", &[], query.to_string()).await.status == 200).then_some(())
    };
    eventually("queries to be taken again", LIMIT, taken).await.unwrap();
    scene.ars.wait_for("again", LIMIT).await.unwrap();
}

#[tokio::test]
async fn scripts_that_redis_forgets_are_told_again() {
    let plan = Plan::always(Behaviour::answer().callback_after(SECOND));
    let scene = scene::aragorn(plan).await;
    let forget = async {
        loop {
            redis_command(&scene, &["SCRIPT", "FLUSH"]).await;
            tokio::time::sleep(SECOND / 20).await;
        }
    };
    let answered = async {
        let mut jobs = Vec::new();
        for _ in 0..5 {
            jobs.push(scene.submit("aragorn", queries::treats(DIABETES)).await);
        }
        for job in &jobs {
            scene.answer(job).await.assert_success();
            assert_eq!(scene.ended(&job.id).await["status"], "Completed");
            assert_eq!(scene.ars.received(&job.key).len(), 1);
        }
    };
    tokio::select! {
        () = answered => {}
        () = forget => {}
    }
    assert_eq!(scene.retriever.submissions().len(), 45, "nothing is asked twice");
}

#[tokio::test]
async fn failover_that_loses_the_last_second_answers_what_is_left_and_owns_up_to_the_rest() {
    let mut redis = RedisSentinel::start().await.unwrap();
    let plan = Plan::always(Behaviour::answer().callback_after(8 * SECOND));
    let scene = scene::start(plan, |stack| {
        stack.workers(ARAGORN).env("REDIS_URL", &redis.url()).env("LEASE_SEC", "2")
    })
    .await;
    let kept = scene.submit("aragorn", lookup()).await;
    scene.accepted(&kept, 1).await;
    redis.replicated().await.unwrap();
    redis.stop_replicating();
    let lost = scene.submit("aragorn", lookup()).await;
    scene.accepted(&lost, 1).await;
    let held = lookup().to_string();
    let held = scene.post("/aragorn/query", &[], held);
    let (held, failed_over) = tokio::join!(held, async {
        scene.submissions(3).await;
        redis.fail_over_as_it_is().await
    });
    failed_over.unwrap();
    let told = (held.status, held.json()["code"].as_str().unwrap_or_default().to_owned());
    assert_eq!(told, (503, "lost".to_owned()), "its client is told at once");
    assert!(held.headers.contains_key("retry-after"));
    assert_eq!(scene.get(&format!("/asyncquery_status/{}", lost.id)).await.status, 404);
    scene.answer(&kept).await.assert_success();
    // and the next one is taken as if nothing had happened
    let next = scene.submit("aragorn", lookup()).await;
    scene.answer(&next).await.assert_success();
    let callbacks = scene.retriever.wait_for_callbacks(4, LIMIT).await.unwrap();
    let statuses: Vec<_> = callbacks.iter().map(CallbackRecord::status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == Some(404)).count(), 2, "{statuses:?}");
    assert!(scene.ars.received(&lost.key).is_empty());
    for label in [GATEWAY].into_iter().chain(ARAGORN) {
        assert!(!scene.stack.logs(label).unwrap().contains("panicked"), "{label}");
        scene.stack.wait_ready(label).await.unwrap();
    }
}

#[tokio::test]
async fn outage_longer_than_a_lease_takes_no_wait_from_its_owner() {
    let plan = Plan::always(Behaviour::answer().callback_after(14 * SECOND));
    let scene = scene::start(plan, |stack| {
        stack.workers(ARAGORN).another_worker("other-lookup", "aragorn-lookup").env("LEASE_SEC", "6")
    })
    .await;
    let mut jobs = Vec::new();
    for _ in 0..8 {
        jobs.push(scene.submit("aragorn", lookup()).await);
    }
    for job in &jobs {
        scene.accepted(job, 1).await;
    }
    scene.stack.kill(REDIS).await.unwrap();
    let down = Instant::now();
    while down.elapsed() < 7 * SECOND {
        assert_sheds(&scene).await;
    }
    scene.stack.restart(REDIS).await.unwrap();
    for job in &jobs {
        scene.answer(job).await.assert_success();
    }
    for label in ["aragorn-lookup", "other-lookup"] {
        let log = scene.stack.logs(label).unwrap();
        assert!(!log.contains("took over") && !log.contains("was lost to another worker"), "{label}:\n{log}");
    }
    assert_eq!(scene.retriever.submissions().len(), jobs.len());
}
