//! What the client should know about what was done to a message.

use trapi::LogLevel;

/// A line for the client's log; the caller knows the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How grave.
    pub level: LogLevel,
    /// A stable name of what happened.
    pub code: &'static str,
    /// What happened.
    pub message: String,
}
