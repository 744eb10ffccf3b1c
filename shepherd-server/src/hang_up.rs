//! A client that hangs up frees everything of its query.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use state::QueryId;

use crate::admission::Place;
use crate::app::Gateway;

/// Cancels the query when it is dropped before the client has its answer.
pub(crate) struct HangUp {
    gateway: Arc<Gateway>,
    id: QueryId,
    answered: AtomicBool,
    /// The connection's place, which is free again when the query is.
    place: Option<Place>,
}

impl HangUp {
    /// From now on, dropping the result without an answer frees everything of the query.
    pub(crate) fn guard(gateway: &Arc<Gateway>, id: QueryId, place: Place) -> Self {
        let gateway = Arc::clone(gateway);
        Self { gateway, id, answered: AtomicBool::new(false), place: Some(place) }
    }

    /// The client gets its answer: there is nothing to free.
    pub(crate) fn answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

impl Drop for HangUp {
    fn drop(&mut self) {
        if self.answered.load(Ordering::Relaxed) {
            return;
        }
        let (gateway, id, place) = (Arc::clone(&self.gateway), self.id, self.place.take());
        tokio::spawn(async move {
            let _place = place;
            let now = gateway.clock.now();
            match gateway.store.cancel(id, "the client closed the connection", now).await {
                Ok(true) => {
                    tracing::info!(query = %id, "the client of query {id} hung up, the query is cancelled");
                }
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(query = %id, "could not cancel query {id}: {}", runtime::Causes(&error));
                }
            }
        });
    }
}
