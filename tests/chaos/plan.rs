//! The plan of a run: every trouble and its time, from a seed alone, before anything is started.
//!
//! Four kinds of trouble go on at the same time, each in a sequence of its own. A trouble lasts a few seconds, longer than
//! a lease and far shorter than a query, so that what is promised stays possible.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::cast::{self, CAST, GATEWAYS};

/// What a run does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// `PARTITIONS` of every process.
    pub(crate) partitions: u16,
    /// Whether the operations are divided among their processes.
    pub(crate) divided: bool,
    /// In the order of their times.
    pub(crate) events: Vec<Event>,
}

/// One trouble.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// When it begins, counted from the first trouble's earliest time.
    pub(crate) at: Duration,
    /// How long it lasts; what is needed to recover comes on top.
    pub(crate) lasts: Duration,
    pub(crate) trouble: Trouble,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// SIGKILL; it is started anew at the end.
    Kill(&'static str),
    /// SIGSTOP; SIGCONT at the end.
    Pause(&'static str),
    /// SIGTERM and a new start, one process of this program after the other.
    Roll(&'static str),
    /// SIGKILL for Redis; it is started anew at the end.
    RedisKilled,
    /// SIGTERM for Redis, and a new start at the end.
    RedisRestarted,
    /// SIGSTOP for Redis; SIGCONT at the end.
    RedisPaused,
    /// Connections are in trouble.
    Link(Link, Fault),
    /// The client answers 500.
    ClientRefuses,
    /// The client's port is closed.
    ClientGone,
}

/// Where connections can be in trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Link {
    /// From this process to Redis.
    Redis(&'static str),
    /// From Retriever to this gateway.
    Callbacks(&'static str),
    /// From the lookups to Retriever.
    Retriever,
}

/// What is wrong with connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Those that are open break, once.
    Cut,
    /// Everything is late.
    Slow,
    /// Nothing passes.
    Frozen,
    /// Those that are open break, and new ones do too.
    Down,
}

/// What no two troubles may have at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Victim {
    Process(&'static str),
    Link(Link),
}

/// A process that was down is given this long before it is the victim again.
const RECOVERY: Duration = Duration::from_secs(4);

impl Plan {
    /// The plan that belongs to `seed`, whose troubles are over after `length`.
    pub(crate) fn of(seed: u64, length: Duration) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let partitions = if rng.random() { 4 } else { 1 };
        let divided = rng.random();
        let mut draft = Draft { rng, length, busy: HashMap::new(), events: Vec::new() };
        draft.processes();
        draft.redis();
        draft.links();
        draft.client();
        let mut events = draft.events;
        events.sort_by_key(|event| event.at);
        Self { seed, partitions, divided, events }
    }
}

struct Draft {
    rng: StdRng,
    length: Duration,
    busy: HashMap<Victim, Duration>,
    events: Vec<Event>,
}

impl Draft {
    fn millis(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.rng.random_range(range))
    }

    /// Adds a trouble unless it would last too long, or its victims are in trouble already.
    fn add(&mut self, at: Duration, lasts: Duration, trouble: Trouble) {
        let victims = victims(trouble);
        let is_free = |victim| self.busy.get(victim).is_none_or(|until| *until <= at);
        if at + lasts > self.length || !victims.iter().all(is_free) {
            return;
        }
        for victim in victims {
            self.busy.insert(victim, at + lasts + RECOVERY);
        }
        self.events.push(Event { at, lasts, trouble });
    }

    /// Every process is killed once, in any order; then anything happens to anyone.
    fn processes(&mut self) {
        let mut first: Vec<_> = CAST.iter().map(|(label, _)| *label).collect();
        first.shuffle(&mut self.rng);
        let programs = cast::programs();
        let mut at = Duration::from_secs(1);
        while at < self.length {
            let any = CAST.choose(&mut self.rng).map_or(GATEWAYS[0], |(label, _)| *label);
            let roll = self.rng.random_range(0..10);
            let (trouble, lasts) = match (first.pop(), roll) {
                (Some(label), _) => (Trouble::Kill(label), self.millis(0..=2500)),
                (None, 0..4) => (Trouble::Kill(any), self.millis(0..=3000)),
                (None, 4..8) => (Trouble::Pause(any), self.millis(2500..=5000)),
                (None, _) => {
                    let program = programs.choose(&mut self.rng).copied().unwrap_or(GATEWAYS[0]);
                    (Trouble::Roll(program), Duration::ZERO)
                }
            };
            self.add(at, lasts, trouble);
            at += self.millis(1500..=4000);
        }
    }

    fn redis(&mut self) {
        let mut first = vec![Trouble::RedisKilled, Trouble::RedisRestarted, Trouble::RedisPaused];
        let all = first.clone();
        first.shuffle(&mut self.rng);
        let mut at = self.millis(6000..=12_000);
        while at < self.length {
            let any = all.choose(&mut self.rng).copied();
            let Some(trouble) = first.pop().or(any) else { return };
            let lasts = match trouble {
                Trouble::RedisPaused => self.millis(1000..=4000),
                _ => self.millis(0..=2000),
            };
            self.add(at, lasts, trouble);
            at += self.millis(16_000..=26_000);
        }
    }

    fn links(&mut self) {
        let to_redis = CAST.iter().map(|(label, _)| Link::Redis(label));
        let callbacks = GATEWAYS.map(Link::Callbacks);
        let mut links: Vec<Link> = to_redis.chain(callbacks).chain([Link::Retriever; 2]).collect();
        links.shuffle(&mut self.rng);
        let mut faults = [Fault::Cut, Fault::Slow, Fault::Frozen, Fault::Down].into_iter().cycle();
        let mut at = self.millis(2000..=5000);
        let mut turn = links.iter().cycle();
        while at < self.length {
            let (Some(&link), Some(fault)) = (turn.next(), faults.next()) else { return };
            let lasts = match fault {
                Fault::Cut => Duration::ZERO,
                Fault::Slow | Fault::Frozen | Fault::Down => self.millis(1000..=5000),
            };
            self.add(at, lasts, Trouble::Link(link, fault));
            at += self.millis(3000..=6000);
        }
    }

    fn client(&mut self) {
        let mut turn = [Trouble::ClientRefuses, Trouble::ClientGone].into_iter().cycle();
        let mut at = self.millis(8000..=16_000);
        while at < self.length {
            let Some(trouble) = turn.next() else { return };
            let lasts = self.millis(3000..=8000);
            self.add(at, lasts, trouble);
            at += self.millis(14_000..=24_000);
        }
    }
}

fn victims(trouble: Trouble) -> Vec<Victim> {
    match trouble {
        Trouble::Kill(label) | Trouble::Pause(label) => vec![Victim::Process(label)],
        Trouble::Roll(program) => cast::of(program).map(Victim::Process).collect(),
        Trouble::RedisKilled | Trouble::RedisRestarted | Trouble::RedisPaused => {
            vec![Victim::Process(testkit::stack::REDIS)]
        }
        Trouble::Link(link, _) => vec![Victim::Link(link)],
        Trouble::ClientRefuses | Trouble::ClientGone => vec![Victim::Process("client")],
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, partitions, divided, events } = self;
        writeln!(f, "CHAOS_SEED={seed}: {partitions} partition(s), operations divided: {divided}")?;
        events.iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, lasts, trouble } = self;
        write!(f, "{:7.2} s  {trouble}, {:.2} s", at.as_secs_f64(), lasts.as_secs_f64())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(label) => write!(f, "kill -9 {label}"),
            Self::Pause(label) => write!(f, "pause {label}"),
            Self::Roll(program) => write!(f, "restart every {program} in order"),
            Self::RedisKilled => f.write_str("kill -9 redis"),
            Self::RedisRestarted => f.write_str("restart redis in order"),
            Self::RedisPaused => f.write_str("pause redis"),
            Self::Link(Link::Redis(label), fault) => write!(f, "{label} to redis: {fault:?}"),
            Self::Link(Link::Callbacks(label), fault) => write!(f, "callbacks to {label}: {fault:?}"),
            Self::Link(Link::Retriever, fault) => write!(f, "lookups to retriever: {fault:?}"),
            Self::ClientRefuses => f.write_str("the client answers 500"),
            Self::ClientGone => f.write_str("the client's port is closed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(100);

    #[test]
    fn seed_alone_makes_the_plan() {
        assert_eq!(Plan::of(7, LENGTH), Plan::of(7, LENGTH));
        assert_ne!(Plan::of(7, LENGTH).events, Plan::of(8, LENGTH).events);
    }

    #[test]
    fn troubles_come_in_order_and_end_in_time() {
        for seed in 0..200 {
            let plan = Plan::of(seed, LENGTH);
            assert!(plan.events.is_sorted_by_key(|event| event.at));
            assert!(plan.events.iter().all(|event| event.at + event.lasts <= LENGTH), "{plan}");
        }
    }

    #[test]
    fn every_process_and_redis_are_killed_and_every_kind_of_trouble_is_made() {
        for seed in 0..200 {
            let plan = Plan::of(seed, LENGTH);
            let has =
                |wanted: &dyn Fn(Trouble) -> bool| plan.events.iter().any(|event| wanted(event.trouble));
            for (label, _) in CAST {
                assert!(has(&|trouble| trouble == Trouble::Kill(label)), "{label}: {plan}");
            }
            for wanted in [
                Trouble::RedisKilled,
                Trouble::RedisRestarted,
                Trouble::RedisPaused,
                Trouble::ClientRefuses,
                Trouble::ClientGone,
            ] {
                assert!(has(&|trouble| trouble == wanted), "{wanted}: {plan}");
            }
            for fault in [Fault::Cut, Fault::Slow, Fault::Frozen, Fault::Down] {
                assert!(has(&|trouble| matches!(trouble, Trouble::Link(_, made) if made == fault)), "{plan}");
            }
        }
    }

    #[test]
    fn nobody_is_in_two_troubles_at_once() {
        for seed in 0..200 {
            let plan = Plan::of(seed, LENGTH);
            let mut until: HashMap<Victim, Duration> = HashMap::new();
            for event in &plan.events {
                for victim in victims(event.trouble) {
                    let before = until.insert(victim, event.at + event.lasts);
                    assert!(before.is_none_or(|before| before < event.at), "{event}: {plan}");
                }
            }
        }
    }

    #[test]
    fn seeds_differ_in_what_they_run_on() {
        let plans: Vec<_> = (0..40).map(|seed| Plan::of(seed, LENGTH)).collect();
        for partitions in [1, 4] {
            assert!(plans.iter().any(|plan| plan.partitions == partitions));
        }
        assert!(plans.iter().any(|plan| plan.divided) && plans.iter().any(|plan| !plan.divided));
    }
}
