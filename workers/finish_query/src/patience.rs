//! How long to wait before a client is tried again.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// The shortest pause; what is left after it is too little for another try.
const SHORTEST: Duration = Duration::from_millis(200);
/// The longest, before jitter.
const LONGEST: Duration = Duration::from_secs(5);
/// No pause is longer than this part of the time that is left, so that there are tries until the very end: a client
/// that is back a second before the deadline gets its response.
const PART: u32 = 4;

/// Growing pauses with jitter, none of which outlasts the deadline.
pub(crate) struct Patience(ExponentialBackoff);

impl Patience {
    pub(crate) fn new() -> Self {
        Self(
            ExponentialBuilder::new()
                .with_min_delay(SHORTEST)
                .with_max_delay(LONGEST)
                .with_jitter()
                .without_max_times()
                .build(),
        )
    }

    /// The next pause where `left` remains; `None` when it would leave nothing. A client that says itself after how
    /// long it wants to be asked is not asked before.
    pub(crate) fn pause(&mut self, wanted: Option<Duration>, left: Duration) -> Option<Duration> {
        let own = self.0.next().unwrap_or(LONGEST);
        let pause = wanted.unwrap_or_else(|| own.min(left / PART).max(SHORTEST));
        (pause < left).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_go_on_until_the_very_end_and_then_stop() {
        for whole in [1, 10, 60, 300].map(Duration::from_secs) {
            let (mut patience, mut left, mut tries) = (Patience::new(), whole, 0);
            while let Some(pause) = patience.pause(None, left) {
                assert!(pause >= SHORTEST && pause <= 2 * LONGEST, "{pause:?}");
                left = left.checked_sub(pause).unwrap();
                tries += 1;
                assert!(tries < 200, "{whole:?}");
            }
            assert!(left <= SHORTEST, "{left:?} of {whole:?} were given away");
        }
    }

    #[test]
    fn long_absence_is_no_long_pause_once_the_end_is_near() {
        let mut patience = Patience::new();
        for _ in 0..20 {
            patience.pause(None, Duration::from_secs(300));
        }
        assert!(patience.pause(None, Duration::from_secs(8)).unwrap() <= Duration::from_secs(2));
    }

    #[test]
    fn client_that_says_when_is_not_asked_before() {
        let mut patience = Patience::new();
        let (wanted, left) = (Duration::from_secs(30), Duration::from_secs(40));
        assert_eq!(patience.pause(Some(wanted), left), Some(wanted));
        assert_eq!(patience.pause(Some(wanted), wanted), None);
    }
}
