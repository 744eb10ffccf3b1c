//! Instants that every process agrees on, and the clock that tells them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EpochMillis(pub u64);

impl EpochMillis {
    /// How long ago `earlier` was; zero when it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// How many seconds after `other` this is; negative when it is before.
    pub fn seconds_after(self, other: Self) -> f64 {
        if self >= other { self.since(other).as_secs_f64() } else { -other.since(self).as_secs_f64() }
    }
}

impl fmt::Display for EpochMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Tells the time to code that decides on it.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> EpochMillis;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> EpochMillis {
        (**self).now()
    }
}

/// The instant after which nobody waits any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Deadline(EpochMillis);

impl Deadline {
    /// The deadline at `instant`.
    pub fn at(instant: EpochMillis) -> Self {
        Self(instant)
    }

    /// The deadline `budget` after `start`, rounded down to whole milliseconds.
    pub fn after(start: EpochMillis, budget: Duration) -> Self {
        let budget_ms = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
        Self(EpochMillis(start.0.saturating_add(budget_ms)))
    }

    /// This deadline moved forward in time by `reserve`.
    #[must_use]
    pub fn earlier_by(self, reserve: Duration) -> Self {
        let reserve_ms = u64::try_from(reserve.as_millis()).unwrap_or(u64::MAX);
        Self(EpochMillis(self.0.0.saturating_sub(reserve_ms)))
    }

    /// Time left at `now`; zero once the deadline has passed.
    pub fn remaining(self, now: EpochMillis) -> Duration {
        self.0.since(now)
    }

    /// Whether nothing is left at `now`.
    pub fn has_passed(self, now: EpochMillis) -> bool {
        now >= self.0
    }

    /// The instant itself.
    pub fn instant(self) -> EpochMillis {
        self.0
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
