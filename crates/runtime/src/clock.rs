//! The one place where wall time is read.

use std::time::{SystemTime, UNIX_EPOCH};

use budget::{Clock, EpochMillis};

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> EpochMillis {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        EpochMillis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}
