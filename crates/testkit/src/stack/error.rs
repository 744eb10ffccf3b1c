//! What can go wrong with a stack.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::http::ClientError;
use crate::process::ProcessError;
use crate::redis_server::RedisError;

/// The stack could not be started, or one of its processes could not be controlled.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// A program was not built.
    #[error("{name} is not in {dir}; build it with `cargo build --workspace --bins`")]
    MissingBinary {
        /// Name of the program.
        name: String,
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// The system does not say which program this is.
    #[error("could not find this program's own directory")]
    OwnPath(#[source] io::Error),
    /// A directory or the pid file could not be written.
    #[error("could not write {path}")]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// No free port was found.
    #[error("no free port on the loopback interface")]
    Port(#[source] io::Error),
    /// The private redis-server did not start.
    #[error("the private redis-server did not start")]
    Redis(#[source] RedisError),
    /// The client for readiness checks could not be built.
    #[error("could not prepare the readiness checks")]
    Client(#[source] ClientError),
    /// A process could not be started or signalled.
    #[error("trouble with a process of the stack")]
    Process(#[source] ProcessError),
    /// A process ended by itself.
    #[error(transparent)]
    Died(#[from] Death),
    /// A process runs but is not ready.
    #[error("{label} was not ready within {limit:?} ({url}); its log ends with:\n{log}")]
    NotReady {
        /// Label of the process.
        label: String,
        /// Where its readiness was asked for.
        url: String,
        /// How long was waited.
        limit: Duration,
        /// The end of its log.
        log: String,
    },
    /// No process has this label.
    #[error("no process of the stack is called {0}")]
    UnknownLabel(String),
}

/// A process ended that should run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{label} ended by itself ({status}); its log ends with:\n{log}")]
pub struct Death {
    /// Label of the process.
    pub label: String,
    /// How it ended.
    pub status: ExitStatus,
    /// The end of its log.
    pub log: String,
}

impl StackError {
    /// Whether another process had taken a port in the moment between choosing and using it.
    pub(super) fn is_lost_port(&self) -> bool {
        matches!(self, Self::Died(death) if death.log.to_lowercase().contains("in use"))
    }
}
