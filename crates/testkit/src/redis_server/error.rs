//! What can go wrong with a private redis-server.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::ProcessError;

/// The private redis-server could not be started or controlled.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// There is no `redis-server` to run.
    #[error("redis-server is not on PATH; install it (Debian: apt-get install redis-server)")]
    NotInstalled,
    /// The data directory could not be made.
    #[error("could not use {path} as data directory")]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// No free port was found.
    #[error("no free port on the loopback interface")]
    Port(#[source] io::Error),
    /// It ended before it answered.
    #[error("redis-server ended at once; its log ends with:\n{log}")]
    Died {
        /// The end of its log.
        log: String,
    },
    /// It runs but does not answer.
    #[error("redis-server did not answer PING on port {port} within {limit:?}; its log ends with:\n{log}")]
    NotReady {
        /// The port.
        port: u16,
        /// How long was waited.
        limit: Duration,
        /// The end of its log.
        log: String,
    },
    /// The process could not be started or signalled.
    #[error("trouble with the redis-server process")]
    Process(#[source] ProcessError),
}
