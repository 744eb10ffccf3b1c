//! Why a command failed.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use testkit::ServeError;
use testkit::ars::SubmitError;
use testkit::stack::{Death, StackError};

/// A command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("could not read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not JSON")]
    NotJson {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("{path} holds no TRAPI query: a JSON object with a message is needed")]
    NotAQuery { path: PathBuf },
    #[error("could not write {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not find this program's own directory")]
    OwnPath(#[source] io::Error),
    #[error("no directory with {0} was found beside or above this program; say --bin-dir")]
    NoPrograms(&'static str),
    #[error("the stack could not be run")]
    Stack(#[source] StackError),
    #[error("a process of the stack failed")]
    Died(#[source] Death),
    #[error("could not listen")]
    Listen(#[source] ServeError),
    #[error("the query was not accepted")]
    Submit(#[source] SubmitError),
    #[error("no answer came within {0:?}")]
    NoAnswer(Duration),
    #[error("the answer is not JSON ({bytes} bytes)")]
    BadAnswer {
        bytes: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("the answer's status is {status}: {description}")]
    Failed { status: String, description: String },
    #[error("the rule pack cannot be used")]
    Rules(#[from] lookup::rules::RulesError),
    #[error("the settings cannot be used")]
    Settings(#[from] runtime::settings::SettingsError),
    #[error("Redis cannot be used")]
    State(#[from] state::StateError),
    #[error("there is no dead letter {0}")]
    NoDeadLetter(String),
    #[error("query {query} was not queued again: {why}")]
    NotRedriven { query: state::QueryId, why: &'static str },
    #[error("could not wait for signals")]
    Signals(#[source] io::Error),
    #[error("interrupted")]
    Interrupted,
}

/// Prints an error with all its causes in one line.
pub(crate) struct Chain<'a>(pub(crate) &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
