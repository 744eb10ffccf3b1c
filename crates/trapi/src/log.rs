//! TRAPI log entries and their levels.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How much a log says; each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is missing or was corrected.
    Warning,
    /// What was done.
    Info,
    /// How it was done.
    Debug,
}

/// A text that names no log level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of ERROR, WARNING, INFO, DEBUG")]
pub struct UnknownLogLevel;

impl LogLevel {
    /// The name TRAPI gives it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warning => "WARNING",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLogLevel;

    // Names that other loggers use are taken for the nearest of TRAPI's four.
    fn from_str(text: &str) -> Result<Self, UnknownLogLevel> {
        match text.trim().to_ascii_uppercase().as_str() {
            "CRITICAL" | "FATAL" | "ERROR" => Ok(Self::Error),
            "WARNING" | "WARN" => Ok(Self::Warning),
            "INFO" | "SUCCESS" | "NOTICE" => Ok(Self::Info),
            "DEBUG" | "TRACE" => Ok(Self::Debug),
            _ => Err(UnknownLogLevel),
        }
    }
}

impl Serialize for LogLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for LogLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// One line of a message's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// When, RFC 3339.
    pub timestamp: String,
    /// How grave.
    pub level: LogLevel,
    /// A stable name of what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What happened.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_order_from_gravest_to_most_talkative() {
        assert!(LogLevel::Error < LogLevel::Warning && LogLevel::Info < LogLevel::Debug);
    }

    #[test]
    fn foreign_levels_are_taken_for_the_nearest() {
        assert_eq!("critical".parse(), Ok(LogLevel::Error));
        assert_eq!("TRACE".parse(), Ok(LogLevel::Debug));
        assert_eq!("loud".parse::<LogLevel>(), Err(UnknownLogLevel));
    }

    #[test]
    fn an_entry_never_writes_null() {
        let text = r#"{"timestamp":"2026-01-01T00:00:00Z","level":"INFO","code":null,"message":"m"}"#;
        let entry: LogEntry = serde_json::from_str(text).unwrap();
        assert_eq!(
            serde_json::to_string(&entry).unwrap(),
            r#"{"timestamp":"2026-01-01T00:00:00Z","level":"INFO","message":"m"}"#
        );
    }
}
