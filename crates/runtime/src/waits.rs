//! Wakes whoever waits for an event about a query.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use state::{Event, Events, QueryId, Store};
use tokio::sync::{Notify, mpsc};

/// Those in this process who wait for events about queries.
#[derive(Clone, Default)]
pub struct Waits(Arc<Mutex<HashMap<QueryId, Arc<Notify>>>>);

/// A place among those who wait; given up when dropped.
pub struct Wait {
    waits: Waits,
    query: QueryId,
    woken: Arc<Notify>,
}

impl Waits {
    /// Wakes those whom `events` are about; runs as long as the process.
    pub async fn listen(self, store: Store, events: Events) {
        const BACKLOG: usize = 1024;
        let (sender, mut heard) = mpsc::channel(BACKLOG);
        tokio::spawn(async move { store.listen(events, sender).await });
        while let Some(event) = heard.recv().await {
            self.wake(event);
        }
    }

    /// Wakes whom `event` is about; everybody when events may have been missed.
    pub fn wake(&self, event: Event) {
        match event {
            Event::Returned(query) | Event::Finished(query) => {
                if let Some(woken) = self.waiting().get(&query) {
                    woken.notify_one();
                }
            }
            Event::Resumed => self.waiting().values().for_each(|woken| woken.notify_one()),
        }
    }

    /// Waits for events about `query` from now on.
    pub fn register(&self, query: QueryId) -> Wait {
        let woken = Arc::new(Notify::new());
        self.waiting().insert(query, Arc::clone(&woken));
        Wait { waits: self.clone(), query, woken }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<QueryId, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wait {
    /// Returns at the next event; at once when one came since the last call.
    pub async fn woken(&self) {
        self.woken.notified().await;
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut waiting = self.waits.waiting();
        // a later run of the same query has a place of its own
        if waiting.get(&self.query).is_some_and(|woken| Arc::ptr_eq(woken, &self.woken)) {
            waiting.remove(&self.query);
        }
    }
}
