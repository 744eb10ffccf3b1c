//! The log that goes out with the response.

use budget::EpochMillis;
use runtime::rfc3339;
use state::StoredLog;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use trapi::{LogEntry, LogLevel};

/// How much log is told when the client does not say.
pub(crate) const DEFAULT_LEVEL: LogLevel = LogLevel::Info;
/// How many entries a response carries at most; the gravest stay.
const MAX_ENTRIES: usize = 5000;

/// An entry of our own.
pub(crate) fn own(now: EpochMillis, level: LogLevel, message: impl Into<String>) -> LogEntry {
    LogEntry { timestamp: rfc3339(now), level, code: None, message: message.into() }
}

/// Entries from the store.
pub(crate) fn stored(texts: &[StoredLog]) -> impl Iterator<Item = LogEntry> {
    texts.iter().filter_map(|text| serde_json::from_str(&text.0).ok())
}

/// All entries that the client wants, oldest first.
pub(crate) fn arrange(entries: impl IntoIterator<Item = LogEntry>, least: LogLevel) -> Vec<LogEntry> {
    let wanted = entries.into_iter().filter(|entry| entry.level <= least);
    let mut timed: Vec<(Option<OffsetDateTime>, LogEntry)> =
        wanted.map(|entry| (OffsetDateTime::parse(&entry.timestamp, &Rfc3339).ok(), entry)).collect();
    if timed.len() > MAX_ENTRIES {
        timed.sort_by_key(|(_, entry)| entry.level);
        timed.truncate(MAX_ENTRIES);
    }
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(timestamp: &str, level: LogLevel) -> LogEntry {
        LogEntry { timestamp: timestamp.to_owned(), level, code: None, message: timestamp.to_owned() }
    }

    #[test]
    fn entries_are_told_oldest_first_whatever_their_offset() {
        let arranged = arrange(
            [
                entry("2026-01-01T12:00:00Z", LogLevel::Info),
                entry("2026-01-01T12:30:00+01:00", LogLevel::Info),
                entry("2026-01-01T11:45:00.5Z", LogLevel::Debug),
            ],
            LogLevel::Debug,
        );
        let times: Vec<&str> = arranged.iter().map(|entry| entry.timestamp.as_str()).collect();
        assert_eq!(times, ["2026-01-01T12:30:00+01:00", "2026-01-01T11:45:00.5Z", "2026-01-01T12:00:00Z"]);
    }

    #[test]
    fn only_what_the_client_wants_is_told() {
        let time = "2026-01-01T12:00:00Z";
        let all =
            [LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error].map(|l| entry(time, l));
        let arranged = arrange(all, LogLevel::Warning);
        let levels: Vec<LogLevel> = arranged.iter().map(|entry| entry.level).collect();
        assert_eq!(levels, [LogLevel::Warning, LogLevel::Error]);
    }
}
