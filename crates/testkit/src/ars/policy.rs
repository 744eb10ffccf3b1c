//! How the double answers what is delivered to it.

use axum::http::StatusCode;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Delivery;

/// The answer to one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Reply {
    pub(super) status: Option<StatusCode>,
    pub(super) delay: Duration,
    pub(super) hangs: bool,
    pub(super) keeps: bool,
    pub(super) location: Option<String>,
}

impl Reply {
    /// As the ARS does: 201 for the first delivery of a key that is JSON, 409 for one with results, 200 for any other
    /// repetition, 422 for a body without a message, 500 for one that is not JSON.
    pub fn as_ars() -> Self {
        Self { status: None, delay: Duration::ZERO, hangs: false, keeps: true, location: None }
    }

    /// This status, and nothing is kept unless it is one of success. An invalid status becomes 500.
    pub fn status(status: u16) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status: Some(status), keeps: status.is_success(), ..Self::as_ars() }
    }

    /// No answer while the other side waits.
    pub fn hang() -> Self {
        Self { hangs: true, ..Self::as_ars() }
    }

    /// The same with a `Location`, for a redirect.
    pub fn with_location(mut self, url: &str) -> Self {
        self.location = Some(url.to_owned());
        self
    }

    /// The same, this much later.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

type Chooser = Arc<dyn Fn(&Delivery) -> Reply + Send + Sync>;

/// Picks a [`Reply`] for every delivery.
#[derive(Clone)]
#[must_use]
pub struct Policy(Chooser);

impl Default for Policy {
    fn default() -> Self {
        Self::always(Reply::as_ars())
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Policy(..)")
    }
}

impl Policy {
    /// The same reply to everything.
    pub fn always(reply: Reply) -> Self {
        Self::choose(move |_| reply.clone())
    }

    /// Whatever `choose` says.
    pub fn choose(choose: impl Fn(&Delivery) -> Reply + Send + Sync + 'static) -> Self {
        Self(Arc::new(choose))
    }

    /// `first` for the first `count` deliveries of each key, then as the ARS does: `refuse_first(2, Reply::status(503))`.
    pub fn refuse_first(count: usize, first: Reply) -> Self {
        Self::choose(move |delivery| if delivery.nth <= count { first.clone() } else { Reply::as_ars() })
    }

    pub(super) fn reply(&self, delivery: &Delivery) -> Reply {
        (self.0)(delivery)
    }
}
