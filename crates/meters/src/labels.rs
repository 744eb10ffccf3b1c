//! The values that labels may have.

/// A label with a fixed set of values.
pub trait Label: Copy + 'static {
    /// All values, for counters that begin at zero: an increase from nothing is seen by nobody.
    const ALL: &'static [Self];

    /// The value as it is exported.
    fn as_str(self) -> &'static str;
}

macro_rules! labels {
    ($($(#[$about:meta])* $name:ident { $($(#[$value_about:meta])* $value:ident = $text:literal,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$value_about])* $value,)+
        }

        impl Label for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }
        }
    )+};
}

labels! {
    /// How a client waits for its response.
    Mode {
        /// At its callback.
        Async = "async",
        /// On its connection.
        Sync = "sync",
    }

    /// What a query asks for.
    QueryKind {
        /// What is known.
        Lookup = "lookup",
        /// What may be inferred.
        Inferred = "inferred",
        /// Paths between two nodes.
        Pathfinder = "pathfinder",
        /// Nothing: the client brought the results.
        None = "none",
    }

    /// What became of a submission.
    SubmissionOutcome {
        /// Retriever will call back.
        Accepted = "accepted",
        /// Retriever refused it.
        Rejected = "rejected",
        /// It never reached Retriever.
        Unreached = "unreached",
        /// It went out, or may have, without an acknowledgement.
        InFlight = "in_flight",
    }

    /// What became of a question to a service that answers on the connection.
    ServiceOutcome {
        /// Here is the answer.
        Answered = "answered",
        /// The service refused it.
        Refused = "refused",
        /// The service was not reached, or too busy.
        Unreached = "unreached",
        /// No answer came in time.
        Late = "late",
        /// The connection broke, or what came is of no use.
        Unusable = "unusable",
    }

    /// What became of a callback.
    CallbackOutcome {
        /// It will be in the answer.
        Kept = "kept",
        /// It had been kept before.
        Repeated = "repeated",
        /// Nobody knows its id.
        Unknown = "unknown",
        /// Its lookup had closed.
        Late = "late",
        /// Its body is of no use.
        Unusable = "unusable",
        /// Its body is too large.
        TooLarge = "too_large",
        /// It could not be taken: no room, no Redis, no whole body.
        Refused = "refused",
    }

    /// Why a lookup closed.
    CloseReason {
        /// Nothing was outstanding.
        Complete = "complete",
        /// Its deadline passed.
        Deadline = "deadline",
        /// The watchdog closed it, as its worker was gone or late.
        TakenOver = "taken_over",
    }

    /// Why a sub-query has no answer when its lookup closes.
    MissingReason {
        /// It was sent, or may have been, and no callback came in time.
        Late = "late",
        /// Retriever refused it or was not reached.
        Refused = "refused",
        /// Its callback was unusable.
        Unusable = "unusable",
    }

    /// What became of a second pass over a message.
    Rehydration {
        /// Nodes and edges have their content.
        Filled = "filled",
        /// It was not tried: no time was left, or too many were under way.
        NotTried = "not_tried",
        /// Retriever was not reached, or too busy.
        Unreached = "unreached",
        /// Retriever refused it.
        Refused = "refused",
        /// No answer came in time.
        Late = "late",
        /// The connection broke, or what came is of no use.
        Unusable = "unusable",
    }

    /// How one attempt at a delivery ended.
    DeliveryOutcome {
        /// The client has the response.
        Delivered = "delivered",
        /// The client does not want it.
        Refused = "refused",
        /// It is tried again.
        Retried = "retried",
        /// No time is left for another try.
        GaveUp = "gave_up",
    }

    /// Whose body is measured.
    BodyKind {
        /// A client's query.
        Query = "query",
        /// A callback of Retriever's, decoded.
        Callback = "callback",
        /// A final response.
        Response = "response",
    }

    /// What a command to Redis carries.
    CommandKind {
        /// A state change or a question.
        Command = "command",
        /// A payload.
        Payload = "payload",
    }
}
