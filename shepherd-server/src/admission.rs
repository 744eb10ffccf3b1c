//! What is let in: new queries only while there is room for them, callbacks always in their turn.
//!
//! Callbacks belong to queries that were accepted, so they wait for a place where a new query is soon sent
//! away with a hint when to come again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use runtime::{Causes, Settings};
use state::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// How often the memory of Redis is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a new query waits for its turn: its client can come again.
const QUERY_TURN: Duration = Duration::from_secs(10);
/// How long a callback waits for its turn; Retriever hangs up after 60 s.
const CALLBACK_TURN: Duration = Duration::from_secs(30);

/// The bounds of one gateway.
pub(crate) struct Admission {
    memory_is_short: AtomicBool,
    most_memory_pct: f64,
    query_bodies: Arc<Semaphore>,
    callback_bodies: Arc<Semaphore>,
    held_connections: Arc<Semaphore>,
}

/// A place that is free again when this is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

impl Admission {
    pub(crate) fn new(settings: &Settings) -> Self {
        let places = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self {
            memory_is_short: AtomicBool::new(false),
            most_memory_pct: f64::from(settings.admission_memory_pct),
            query_bodies: places(settings.max_bodies),
            callback_bodies: places(settings.max_bodies),
            held_connections: places(settings.max_held_connections),
        }
    }

    /// Looks at the memory of Redis for as long as the process runs. While Redis does not answer, its own
    /// errors decide.
    pub(crate) async fn watch_memory(self: Arc<Self>, store: Store) {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            match store.memory().await {
                Ok(memory) => self.note_memory(memory.used_pct()),
                Err(error) => tracing::debug!("memory of Redis unknown: {}", Causes(&error)),
            }
        }
    }

    /// `used` is `None` where Redis has no limit of its own.
    fn note_memory(&self, used: Option<f64>) {
        let short = used.is_some_and(|used| used >= self.most_memory_pct);
        if self.memory_is_short.swap(short, Ordering::Relaxed) != short {
            let used = used.unwrap_or_default();
            if short {
                tracing::warn!("new queries are refused: Redis uses {used:.0} % of its memory");
            } else {
                tracing::info!("new queries are taken again: Redis uses {used:.0} % of its memory");
            }
        }
    }

    /// A place for reading a new query. A burst of small ones is through in no time, so it waits for a moment.
    pub(crate) async fn query(&self) -> Result<Place, ApiError> {
        if self.memory_is_short.load(Ordering::Relaxed) {
            return Err(ApiError::MemoryIsShort);
        }
        turn(&self.query_bodies, QUERY_TURN).await
    }

    /// A place for a connection that is held for its answer.
    pub(crate) fn held_connection(&self) -> Result<Place, ApiError> {
        Arc::clone(&self.held_connections).try_acquire_owned().map_err(|_| ApiError::TooManyRequests)
    }

    /// A place for reading a callback, when its turn comes.
    pub(crate) async fn callback(&self) -> Result<Place, ApiError> {
        turn(&self.callback_bodies, CALLBACK_TURN).await
    }
}

async fn turn(places: &Arc<Semaphore>, patience: Duration) -> Result<Place, ApiError> {
    match tokio::time::timeout(patience, Arc::clone(places).acquire_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) | Err(_) => Err(ApiError::TooManyRequests),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission() -> Admission {
        let variables = [("MAX_BODIES", "1"), ("MAX_HELD_CONNECTIONS", "1"), ("ADMISSION_MEMORY_PCT", "80")];
        Admission::new(&Settings::from_variables(variables).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn new_query_is_sent_away_when_all_places_are_taken() {
        let admission = admission();
        let place = admission.query().await.unwrap();
        assert!(matches!(admission.query().await, Err(ApiError::TooManyRequests)));
        let admission = Arc::new(admission);
        let waiting = Arc::clone(&admission);
        let second = tokio::spawn(async move { waiting.query().await });
        tokio::time::sleep(QUERY_TURN / 2).await;
        drop(place);
        assert!(second.await.unwrap().is_ok(), "a burst has its turn");
    }

    #[tokio::test(start_paused = true)]
    async fn short_memory_stops_new_queries_only() {
        let admission = admission();
        admission.note_memory(Some(80.0));
        assert!(matches!(admission.query().await, Err(ApiError::MemoryIsShort)));
        assert!(admission.held_connection().is_ok());
        admission.note_memory(Some(79.0));
        assert!(admission.query().await.is_ok());
        admission.note_memory(None);
        assert!(admission.query().await.is_ok(), "no limit, nothing to run short of");
    }

    #[tokio::test(start_paused = true)]
    async fn callback_waits_for_its_turn() {
        let admission = Arc::new(admission());
        let first = admission.callback().await.unwrap();
        let waiting = Arc::clone(&admission);
        let second = tokio::spawn(async move { waiting.callback().await });
        tokio::time::sleep(Duration::from_secs(10)).await;
        drop(first);
        assert!(second.await.unwrap().is_ok());
    }
}
