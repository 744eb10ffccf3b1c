//! Logs of the process: plain lines on standard error.

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging. Libraries speak up from WARN on, whatever the level of our own lines.
pub(crate) fn init(level: LevelFilter) {
    let ours = Targets::new().with_default(level.min(LevelFilter::WARN)).with_targets(
        [
            "aragorn",
            "bte",
            "example",
            "finish",
            "lookup",
            "operations",
            "retriever",
            "runtime",
            "shepherd",
            "state",
        ]
        .map(|prefix| (prefix, level)),
    );
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // a second call, as tests make it, changes nothing
    let _ = tracing_subscriber::registry().with(ours).with(lines).try_init();
}
