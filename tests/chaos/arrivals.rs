//! What the client says to deliveries, and who is waiting for one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use testkit::ars::{Delivery, Reply};
use tokio::sync::oneshot;

/// The client's behaviour while it is there.
#[derive(Default)]
pub(crate) struct Arrivals {
    refusing: AtomicBool,
    waiting: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Arrivals {
    /// Answers 500 from now on, or no longer.
    pub(crate) fn refuse(&self, refusing: bool) {
        self.refusing.store(refusing, Ordering::SeqCst);
    }

    /// Keeps a delivery, unless the client is refusing; whoever waits for it is told.
    pub(crate) fn reply(&self, delivery: &Delivery) -> Reply {
        if self.refusing.load(Ordering::SeqCst) {
            return Reply::status(500);
        }
        if let Some(waiting) = self.waiting().remove(&delivery.key) {
            // whoever waited has given up
            let _ = waiting.send(());
        }
        Reply::as_ars()
    }

    /// Resolves when the delivery for `key` is kept.
    pub(crate) fn expect(&self, key: &str) -> Expected {
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(key.to_owned(), sender);
        Expected(receiver)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A delivery to come.
pub(crate) struct Expected(oneshot::Receiver<()>);

impl Expected {
    /// Whether it came within `limit`.
    pub(crate) async fn within(self, limit: Duration) -> bool {
        matches!(tokio::time::timeout(limit, self.0).await, Ok(Ok(())))
    }
}
