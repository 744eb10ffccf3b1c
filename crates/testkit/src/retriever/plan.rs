//! What the double does with a sub-query: a plan picks a [`Behaviour`] for each one.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::record::Submission;

/// How the double answers the submission itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Ack {
    /// A status of success and the ACK's body with the `job_id`; the job runs.
    Accept(StatusCode),
    /// No answer while the client waits; the job runs nevertheless.
    Never,
    /// This answer instead; no job runs, unless [`Behaviour::callback_despite_refusal`].
    Refuse {
        /// Status of the answer.
        status: StatusCode,
        /// Further headers, such as `Retry-After`.
        headers: HeaderMap,
        /// Its body.
        body: Bytes,
    },
    /// The connection is closed without an answer, after the request was read; the job runs nevertheless.
    HangUp,
}

/// From when on a job's time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStarts {
    /// Once the ACK has gone out, as with the real Retriever; without an ACK, on arrival.
    WithAck,
    /// When the submission arrives, however late its ACK is.
    OnArrival,
}

/// What the callback carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// A made-up answer with this many results; `None` takes the double's default.
    Answer(Option<usize>),
    /// No results, with this TRAPI status and description.
    Status(String, String),
    /// A made-up answer, cut in the middle of its JSON.
    Truncated,
    /// Bytes that are not JSON at all.
    Garbage,
    /// Exactly these bytes.
    Bytes(Bytes),
}

/// How the callback's body is encoded on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// zstd if the submission's `Callback-Accept-Encoding` allows it, else plain.
    Negotiated,
    /// Plain, whatever the submission allows.
    Identity,
    /// zstd, whatever the submission allows.
    Zstd,
    /// gzip.
    Gzip,
    /// `Content-Encoding: zstd` on a body that is not.
    MislabelledZstd,
}

/// What happens to one submission, from its ACK to its callback.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "faults that have nothing to do with each other")]
pub struct Behaviour {
    pub(super) ack: Ack,
    pub(super) ack_delay: Duration,
    pub(super) work: Duration,
    pub(super) starts: WorkStarts,
    pub(super) obeys_timeout: bool,
    pub(super) despite_refusal: bool,
    pub(super) callbacks: usize,
    pub(super) payload: Payload,
    pub(super) encoding: Encoding,
    pub(super) breaks_off: bool,
    pub(super) traced: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            ack: Ack::Accept(StatusCode::OK),
            ack_delay: Duration::ZERO,
            work: Duration::ZERO,
            starts: WorkStarts::WithAck,
            obeys_timeout: true,
            despite_refusal: false,
            callbacks: 1,
            payload: Payload::Answer(None),
            encoding: Encoding::Negotiated,
            breaks_off: false,
            traced: false,
        }
    }
}

impl Behaviour {
    /// ACK at once, one good callback at once.
    pub fn answer() -> Self {
        Self::default()
    }

    /// The ACK, or what takes its place, comes this much later.
    pub fn ack_after(mut self, delay: Duration) -> Self {
        self.ack_delay = delay;
        self
    }

    /// The ACK has this status of success, 202 for example.
    pub fn ack_status(mut self, status: StatusCode) -> Self {
        self.ack = Ack::Accept(status);
        self
    }

    /// The ACK never comes.
    pub fn ack_never(mut self) -> Self {
        self.ack = Ack::Never;
        self
    }

    /// The connection is closed in place of the ACK.
    pub fn hang_up(mut self) -> Self {
        self.ack = Ack::HangUp;
        self
    }

    /// This status and body in place of the ACK, and no callback.
    pub fn refuse(mut self, status: StatusCode, body: impl Into<Bytes>) -> Self {
        self.ack = Ack::Refuse { status, headers: HeaderMap::new(), body: body.into() };
        self
    }

    /// Adds a header to a refusal, for example `Retry-After`; without a refusal it does nothing.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        if let Ack::Refuse { headers, .. } = &mut self.ack {
            headers.insert(name, value);
        }
        self
    }

    /// The callback comes although the submission was refused.
    pub fn callback_despite_refusal(mut self) -> Self {
        self.despite_refusal = true;
        self
    }

    /// The job takes this long.
    pub fn callback_after(mut self, work: Duration) -> Self {
        self.work = work;
        self
    }

    /// The job's time counts from the submission's arrival, not from its ACK.
    pub fn counted_from_arrival(mut self) -> Self {
        self.starts = WorkStarts::OnArrival;
        self
    }

    /// The job takes its time whatever `parameters.timeout` says, so its callback may be late.
    pub fn ignoring_timeout(mut self) -> Self {
        self.obeys_timeout = false;
        self
    }

    /// The callback is lost; the answer can still be fetched by `job_id`.
    pub fn no_callback(self) -> Self {
        self.callbacks(0)
    }

    /// The callback is sent this many times, one after the other.
    pub fn callbacks(mut self, times: usize) -> Self {
        self.callbacks = times;
        self
    }

    /// The answer has this many results.
    pub fn results(self, results: usize) -> Self {
        self.payload(Payload::Answer(Some(results)))
    }

    /// The answer is empty, with this status: `QueryNotTraversable` for example.
    pub fn status(self, status: &str, description: &str) -> Self {
        self.payload(Payload::Status(status.to_owned(), description.to_owned()))
    }

    /// The callback carries this.
    pub fn payload(mut self, payload: Payload) -> Self {
        self.payload = payload;
        self
    }

    /// The callback's body is encoded this way.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// The connection breaks in the middle of the callback's body.
    pub fn breaking_off(mut self) -> Self {
        self.breaks_off = true;
        self
    }

    /// The answer has one more result, known by [`Submission::trace`] wherever it goes.
    pub fn traced(mut self) -> Self {
        self.traced = true;
        self
    }

    /// Whether a job runs behind the ACK.
    pub(super) fn runs(&self) -> bool {
        self.despite_refusal || !matches!(self.ack, Ack::Refuse { .. })
    }
}

type Predicate = Arc<dyn Fn(&Submission) -> bool + Send + Sync>;
type Chooser = Arc<dyn Fn(&Submission) -> Behaviour + Send + Sync>;

/// Picks a [`Behaviour`] for every submission: the first rule that matches, else the fallback.
#[derive(Clone)]
#[must_use]
pub struct Plan {
    rules: Vec<(Predicate, Behaviour)>,
    fallback: Chooser,
}

impl Default for Plan {
    fn default() -> Self {
        Self::always(Behaviour::answer())
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let behaviours: Vec<_> = self.rules.iter().map(|(_, behaviour)| behaviour).collect();
        f.debug_struct("Plan").field("rules", &behaviours).finish_non_exhaustive()
    }
}

impl Plan {
    /// The same for every submission that no rule matches.
    pub fn always(behaviour: Behaviour) -> Self {
        Self::choose(move |_| behaviour.clone())
    }

    /// Whatever `choose` says for every submission that no rule matches.
    pub fn choose(choose: impl Fn(&Submission) -> Behaviour + Send + Sync + 'static) -> Self {
        Self { rules: Vec::new(), fallback: Arc::new(choose) }
    }

    /// Adds a rule behind those there are.
    pub fn when(
        mut self,
        matches: impl Fn(&Submission) -> bool + Send + Sync + 'static,
        behaviour: Behaviour,
    ) -> Self {
        self.rules.push((Arc::new(matches), behaviour));
        self
    }

    /// Adds a rule for the submission with this position in the order of arrival, counted from 0.
    pub fn nth(self, order: usize, behaviour: Behaviour) -> Self {
        self.when(move |submission| submission.order == order, behaviour)
    }

    /// Adds a rule for the first `tries` submissions of each sub-query (told by its callback), so that later ones pass.
    pub fn first_tries(self, tries: usize, behaviour: Behaviour) -> Self {
        self.when(move |submission| submission.attempt <= tries, behaviour)
    }

    pub(super) fn behaviour(&self, submission: &Submission) -> Behaviour {
        let rule = self.rules.iter().find(|(matches, _)| matches(submission));
        rule.map_or_else(|| (self.fallback)(submission), |(_, behaviour)| behaviour.clone())
    }
}
