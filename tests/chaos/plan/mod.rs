//! The plan of a run: every trouble and its time, from a seed alone, before anything is started.
//!
//! Four kinds of trouble go on at the same time, each in a sequence of its own. A trouble lasts a few seconds, longer than
//! a lease and far shorter than a query, so that what is promised stays possible.

mod draft;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fmt;
use std::time::Duration;

use draft::Draft;

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

impl Plan {
    /// The plan that belongs to `seed`, whose troubles are over after `length`.
    pub(crate) fn of(seed: u64, length: Duration) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let partitions = if rng.random() { 4 } else { 1 };
        let divided = rng.random();
        Self { seed, partitions, divided, events: Draft::new(rng, length).events() }
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
mod tests;
