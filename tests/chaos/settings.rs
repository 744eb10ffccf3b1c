//! How long a run is, and the times that the processes are told.
//!
//! A query has a minute; its lookup half of that. No trouble is longer than a few seconds, so there is time to recover
//! from several of them.

use std::time::Duration;

/// `LEASE_SEC`.
const LEASE: Duration = Duration::from_secs(2);
/// `QUERY_TIMEOUT_SEC`: how long a query may take from its acceptance to its delivery.
pub(crate) const QUERY: Duration = Duration::from_secs(60);
/// How much later than its deadline a query may be delivered.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// `REDIS_TTL`: so short that everything has expired at the end of the run.
pub(crate) const TTL: Duration = Duration::from_secs(10);

/// `LOOKUP_TIMEOUT`.
const LOOKUP: Duration = Duration::from_secs(30);

/// What every process is told. Steps are handed out as often as it takes: how often workers die is the plan's doing.
pub(crate) fn environment() -> [(&'static str, String); 9] {
    let seconds = |duration: Duration| duration.as_secs().to_string();
    [
        ("LEASE_SEC", seconds(LEASE)),
        ("QUERY_TIMEOUT_SEC", seconds(QUERY)),
        ("LOOKUP_TIMEOUT", seconds(LOOKUP)),
        ("REDIS_TTL", seconds(TTL)),
        ("FINISH_RESERVE_SEC", "15".to_owned()),
        ("RETRIEVER_TIMEOUT_MARGIN", "4".to_owned()),
        ("KG_RETRIEVAL_SUBMIT_TIMEOUT", "8".to_owned()),
        ("MAX_TASK_DELIVERIES", "0".to_owned()),
        ("WORKER_DRAIN_TIMEOUT_SEC", "5".to_owned()),
    ]
}

/// Starting, the first queries, and the looks at the end.
const AROUND: Duration = Duration::from_secs(25);
/// The last query is asked so long before the last trouble is over.
pub(crate) const UNTROUBLED: Duration = Duration::from_secs(15);

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    /// How long there are troubles.
    pub(crate) troubled: Duration,
}

impl Settings {
    /// `CHAOS_SECONDS` (180) and `CHAOS_SEED` (any).
    pub(crate) fn from_env() -> Self {
        let seconds = number("CHAOS_SECONDS").unwrap_or(180);
        // what was asked last must have ended and expired
        let after = (QUERY + TTL).saturating_sub(UNTROUBLED);
        let troubled = Duration::from_secs(seconds).saturating_sub(AROUND + after);
        let seed = number("CHAOS_SEED").unwrap_or_else(|| u64::from(rand::random::<u32>()));
        Self { seed, troubled: troubled.max(Duration::from_secs(30)) }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: `{text}` is no whole number")))
}
