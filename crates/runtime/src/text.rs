//! Small texts: error chains and TRAPI log entries.

use std::error::Error;
use std::fmt;

use budget::EpochMillis;
use state::StoredLog;
use time::OffsetDateTime;
use time::macros::format_description;
use trapi::{LogEntry, LogLevel};

/// Shows an error and all its causes in one line.
pub struct Causes<'a, E: ?Sized>(pub &'a E);

impl<E: Error + ?Sized> fmt::Display for Causes<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// An instant as TRAPI wants it in log entries: RFC 3339, UTC, milliseconds.
pub fn rfc3339(instant: EpochMillis) -> String {
    const FORMAT: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(instant.0) * 1_000_000)
        .ok()
        .and_then(|moment| moment.format(FORMAT).ok())
        // no clock shows an instant past the year 9999
        .unwrap_or_else(|| "9999-12-31T23:59:59.999Z".to_owned())
}

/// A line for a query's log.
pub fn log_entry(now: EpochMillis, level: LogLevel, message: impl Into<String>) -> StoredLog {
    let entry = LogEntry { timestamp: rfc3339(now), level, code: None, message: message.into() };
    // an entry of strings is always written
    StoredLog(serde_json::to_string(&entry).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_utc_with_milliseconds() {
        assert_eq!(rfc3339(EpochMillis(1_767_225_600_007)), "2026-01-01T00:00:00.007Z");
        assert_eq!(rfc3339(EpochMillis(u64::MAX)), "9999-12-31T23:59:59.999Z");
    }
}
