//! What became of a callback.

/// What became of one callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the merged message.
    Answered {
        /// How many results it brought.
        results: usize,
    },
    /// The knowledge graph cannot answer such a question.
    NotTraversable,
    /// It could not be used.
    Failed {
        /// Why not.
        reason: Failure,
    },
}

/// Why a callback could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Not JSON, or a member of another type than TRAPI's.
    #[error("not a TRAPI response: {0}")]
    Unreadable(String),
    /// There is no message in it.
    #[error("no message in it (status {status})")]
    NoMessage {
        /// The status it came with.
        status: String,
    },
    /// The sender says that it failed, and sent no results.
    #[error("status {status}: {description}")]
    Reported {
        /// The status it came with.
        status: String,
        /// The description it came with.
        description: String,
    },
}
