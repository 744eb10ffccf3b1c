//! What is found at the end of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use testkit::poll::eventually;

use crate::cast::{self, CAST};
use crate::checks::{Broken, Journals};
use crate::load::{IN_FLIGHT, Load};
use crate::memory;
use crate::plan::Plan;
use crate::redis_view::RedisView;
use crate::settings::{QUERY, TTL};
use crate::stage::Stage;
use crate::story::{self, WallClock};

/// Longest wait for anything that must come to rest.
const LIMIT: Duration = Duration::from_secs(30);
/// How much more Redis may use than when it was empty: buffers of connections, scripts, streams.
const REDIS_BYTES: u64 = 3 << 20;
/// How much more a process may use than after the first queries, in kilobytes.
const PROCESS_KILOBYTES: u64 = 20 << 10;
/// How many queries must have been in flight at once, or the run shows little.
const LEAST_IN_FLIGHT: usize = 200;
/// How many stories are told.
const STORIES: usize = 8;

/// What was measured before, and what is wrong.
pub(crate) struct Verdict {
    empty: u64,
    warm: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

impl Verdict {
    /// Redis used `empty` bytes before anything was asked, each process `warm` kilobytes after the first answers.
    pub(crate) fn new(empty: u64, warm: BTreeMap<&'static str, u64>) -> Self {
        Self { empty, warm, wrong: Vec::new() }
    }

    fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.push(what.into());
    }

    /// Keys that there should never have been.
    pub(crate) fn seen(&mut self, keys: &BTreeSet<String>) {
        if !keys.is_empty() {
            self.wrong(format!("keys without an expiry, or notes of steps that were given up: {keys:?}"));
        }
    }

    /// Everything is finished, expired and given back, and nobody who has gone is still known.
    pub(crate) async fn at_rest(&mut self, stage: &Stage, redis: &RedisView, load: &Load) {
        if load.most_in_flight() < LEAST_IN_FLIGHT {
            self.wrong(format!("only {} of {IN_FLIGHT} queries were in flight", load.most_in_flight()));
        }
        let none_unfinished = || async { redis.unfinished().await.ok()?.is_empty().then_some(()) };
        if eventually("finished steps", LIMIT, none_unfinished).await.is_err() {
            self.wrong(format!("unfinished: {:?}", redis.unfinished().await));
        }
        self.seen(&redis.without_ttl().await.unwrap().into_iter().collect());
        let only_living = || async {
            let consumers = redis.consumers().await.ok()?;
            consumers.values().all(|names| are_living(names)).then_some(())
        };
        if eventually("no dead consumers", LIMIT, only_living).await.is_err() {
            self.wrong(format!("more consumers than processes: {:?}", redis.consumers().await));
        }
        let all_expired = || async {
            let keys = redis.keys().await.ok()?;
            // what living workers keep
            let stays = |key: &String| key.contains(":stream:") || key.contains(":workers:");
            keys.iter().all(stays).then_some(())
        };
        if eventually("expired keys", QUERY + TTL + LIMIT, all_expired).await.is_err() {
            self.wrong(format!("keys that should have expired: {:?}", redis.keys().await));
        }
        self.memory(stage, redis).await;
        self.silence(stage);
        for (label, _) in CAST {
            stage.stack.terminate(label).await.unwrap();
        }
        let left = redis.consumers().await.unwrap();
        if !left.is_empty() {
            self.wrong(format!("consumers of processes that ended in order: {left:?}"));
        }
    }

    async fn memory(&mut self, stage: &Stage, redis: &RedisView) {
        let used = redis.used_memory().await.unwrap();
        println!("redis: {} kB when empty, {} kB at the end", self.empty >> 10, used >> 10);
        if used > self.empty + REDIS_BYTES {
            self.wrong(format!("Redis uses {used} bytes, {} when it was empty", self.empty));
        }
        for (label, kilobytes) in memory::of_all(stage) {
            let warm = self.warm.get(label).copied().unwrap_or_default();
            println!("{label}: {warm} kB after the first queries, {kilobytes} kB at the end");
            if kilobytes > warm + PROCESS_KILOBYTES {
                self.wrong(format!("{label} uses {kilobytes} kB, {warm} kB after the first queries"));
            }
        }
    }

    /// No process may have panicked.
    fn silence(&mut self, stage: &Stage) {
        for (label, _) in CAST {
            let log = stage.stack.logs(label).unwrap();
            if let Some(line) = log.lines().find(|line| line.contains("panicked")) {
                self.wrong(format!("{label}: {line}"));
            }
        }
    }

    /// Prints the figures and, where something is wrong, the plan and what happened; returns what is wrong.
    pub(crate) async fn told(mut self, plan: &Plan, stage: &Stage, load: &Load) -> Vec<String> {
        let ars = stage.ars.lock().await;
        let asked = load.asked();
        let keys = asked.iter().map(|asked| asked.question.key());
        let journals = Journals {
            kept: keys.filter_map(|key| Some((key.clone(), ars.kept(&key)?))).collect(),
            submissions: stage.retriever.submissions(),
            callbacks: stage.retriever.callbacks(),
            deliveries: ars.deliveries(),
            asked,
        };
        figures(&journals, load);
        let clock = WallClock::now();
        if let Some((number, took)) = journals.slowest() {
            println!("the slowest, question {number}, took {took:.1?}:");
            println!("{}", story::of(number, &journals, stage.logs(), clock));
        }
        let broken = journals.broken();
        if broken.is_empty() && self.wrong.is_empty() {
            return self.wrong;
        }
        println!("{plan}");
        let mut told = Vec::new();
        for Broken { number, .. } in &broken {
            if told.len() < STORIES && !told.contains(number) {
                println!("question {number}:\n{}", story::of(*number, &journals, stage.logs(), clock));
                told.push(*number);
            }
        }
        self.wrong.extend(broken.iter().map(|Broken { number, what }| format!("question {number}: {what}")));
        self.wrong.iter().for_each(|wrong| println!("{wrong}"));
        self.wrong
    }
}

/// Whether a stream has no more consumers than there are processes that read it.
fn are_living(consumers: &[String]) -> bool {
    cast::programs().iter().all(|program| {
        // a consumer's name begins with its program's
        let prefix = format!("{program}@");
        let named = consumers.iter().filter(|name| name.starts_with(&prefix)).count();
        named <= cast::of(program).count()
    })
}

fn figures(journals: &Journals, load: &Load) {
    let asked = journals.asked.len();
    let accepted = journals.asked.iter().filter(|asked| asked.accepted.is_ok()).count();
    println!("{asked} queries asked, {accepted} accepted, at most {} in flight", load.most_in_flight());
    println!("{} answers kept of {} deliveries", journals.kept.len(), journals.deliveries.len());
    println!("{} submissions, callbacks: {:?}", journals.submissions.len(), journals.callback_outcomes());
    println!("answers: {:?}", journals.statuses());
    let mut took: Vec<Duration> = journals.took().map(|(_, took)| took).collect();
    took.sort();
    if let (Some(middle), Some(longest)) = (took.get(took.len() / 2), took.last()) {
        println!("half of the answers came within {middle:.1?}, all within {longest:.1?}");
    }
}
