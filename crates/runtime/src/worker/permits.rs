//! Two bounds: how much a process works on, and how much it holds.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bounds what a process works on at once.
#[derive(Debug)]
pub struct WorkPermit(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl WorkPermit {
    /// A permit that bounds nothing, for handlers that are called directly.
    pub fn unbounded() -> Self {
        Self(None)
    }
}

/// Bounds what a process holds, waiting tasks included.
#[derive(Debug)]
pub struct WaitingPermit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

/// The two semaphores of a process.
#[derive(Clone)]
pub(super) struct Permits {
    work: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Permits {
    pub(super) fn new(task_limit: usize, max_waiting: usize) -> Self {
        let bounded = |count: usize| Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        Self { work: bounded(task_limit), waiting: bounded(max_waiting) }
    }

    /// Waits until there is room for one task and tells for how many, `most` at most. Nothing is held for
    /// them, so that a reader that waits for entries keeps nobody else from working.
    pub(super) async fn room(&self, most: usize) -> usize {
        drop(self.take().await);
        let free = self.waiting.available_permits().min(self.work.available_permits());
        free.clamp(1, most)
    }

    /// Takes the permit for one more try of a task that is held already.
    pub(super) async fn work_again(&self) -> Option<WorkPermit> {
        // never closed
        let work = Arc::clone(&self.work).acquire_owned().await.ok()?;
        Some(WorkPermit(Some(work)))
    }

    /// Takes the permits of one task.
    pub(super) async fn take(&self) -> Option<(WaitingPermit, WorkPermit)> {
        // neither semaphore is ever closed
        let waiting = Arc::clone(&self.waiting).acquire_owned().await.ok()?;
        let work = Arc::clone(&self.work).acquire_owned().await.ok()?;
        Some((WaitingPermit(waiting), WorkPermit(Some(work))))
    }
}
