//! What can go wrong between us and Redis.

use std::time::Duration;

use crate::payload::PayloadError;

/// A state change or a read that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Redis refused a command, or did not answer it in time.
    #[error("Redis could not {action}")]
    Redis {
        /// What was to be done, as a phrase that follows "could not".
        action: &'static str,
        /// What the client reports.
        #[source]
        source: redis::RedisError,
    },
    /// A record lacks a field that every query has, or holds something else in it.
    #[error("the record of the query has no usable `{field}`")]
    Record {
        /// The field.
        field: &'static str,
    },
    /// A script answered what this version does not know.
    #[error("script `{script}` gave an unknown answer")]
    Answer {
        /// The script.
        script: &'static str,
    },
    /// More is queued than the operator allows.
    #[error("too many queries are waiting or at work")]
    QueueFull,
    /// A stored payload cannot be read back.
    #[error("a stored payload is unreadable")]
    Payload(#[from] PayloadError),
}

impl StateError {
    /// Whether the same call may succeed later with nothing changed on our side.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Redis { .. } | Self::QueueFull => true,
            Self::Record { .. } | Self::Answer { .. } | Self::Payload(_) => false,
        }
    }

    /// How long a caller should wait before it tries again.
    pub fn retry_after(&self) -> Duration {
        Duration::from_secs(5)
    }
}

/// Names what was to be done when a command fails.
pub(crate) trait Action<T> {
    /// Turns a client error into a [`StateError`] that says what could not be done.
    fn action(self, action: &'static str) -> Result<T, StateError>;
}

impl<T> Action<T> for redis::RedisResult<T> {
    fn action(self, action: &'static str) -> Result<T, StateError> {
        self.map_err(|source| StateError::Redis { action, source })
    }
}
