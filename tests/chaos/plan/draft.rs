//! Four sequences of troubles, drawn one after the other.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Event, Fault, Link, Trouble};
use crate::cast::{self, CAST, GATEWAYS};

/// What no two troubles may have at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Victim {
    Process(&'static str),
    Link(Link),
}

/// A process that was down is given this long before it is the victim again.
const RECOVERY: Duration = Duration::from_secs(4);

/// A plan in the making.
pub(super) struct Draft {
    rng: StdRng,
    length: Duration,
    busy: HashMap<Victim, Duration>,
    events: Vec<Event>,
}

impl Draft {
    pub(super) fn new(rng: StdRng, length: Duration) -> Self {
        Self { rng, length, busy: HashMap::new(), events: Vec::new() }
    }

    /// The troubles in the order of their times.
    pub(super) fn events(mut self) -> Vec<Event> {
        self.processes();
        self.redis();
        self.links();
        self.client();
        self.events.sort_by_key(|event| event.at);
        self.events
    }

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

/// Who is in trouble.
pub(super) fn victims(trouble: Trouble) -> Vec<Victim> {
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
