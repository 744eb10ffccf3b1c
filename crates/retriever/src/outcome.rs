//! How a submission can end.

use std::error::Error;
use std::fmt::Write as _;

/// How many characters of an error body are told.
pub(crate) const BODY_START_CHARS: usize = 500;

/// How a submission ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmissionOutcome {
    /// Retriever acknowledged it and will call back.
    Accepted {
        /// Retriever's name for the job; with it a lost callback can be asked for.
        job_id: Option<String>,
    },
    /// Retriever refused it; no callback will come.
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The first 500 characters of the body.
        body_start: String,
    },
    /// It never reached Retriever, or Retriever was too busy to take it until the ACK timeout ended; no
    /// callback will come.
    NeverReached {
        /// What was in the way.
        reason: String,
    },
    /// It went out, or may have, but no acknowledgement came: Retriever may be working on it.
    InFlight {
        /// What came instead.
        reason: String,
    },
}

impl SubmissionOutcome {
    /// A stable name, for spans and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "accepted",
            Self::Rejected { .. } => "rejected",
            Self::NeverReached { .. } => "never_reached",
            Self::InFlight { .. } => "in_flight",
        }
    }
}

/// An error and its causes in one line, without the URL, which holds nothing that the reader lacks.
pub(crate) fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(line, ": {cause}");
        source = cause.source();
    }
    line
}
