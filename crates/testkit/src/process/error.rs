//! What can go wrong with a child process.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// A child process could not be started, signalled or ended.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program is missing, or the system refused to start it.
    #[error("could not start {label} ({program})")]
    Spawn {
        /// The process's label.
        label: String,
        /// What was to be run.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The log file could not be opened.
    #[error("could not open the log file {path} of {label}")]
    Log {
        /// The process's label.
        label: String,
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The process has ended already.
    #[error("{label} is not running ({status})")]
    NotRunning {
        /// The process's label.
        label: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The system refused the signal.
    #[error("could not signal {label} (pid {pid})")]
    Signal {
        /// The process's label.
        label: String,
        /// Its process id.
        pid: u32,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// It did not end in time.
    #[error("{label} (pid {pid}) did not end within {limit:?}")]
    StillRunning {
        /// The process's label.
        label: String,
        /// Its process id.
        pid: u32,
        /// How long was waited.
        limit: Duration,
    },
}
