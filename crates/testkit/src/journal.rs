//! An append-only list that tests can wait on.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// What was waited for did not happen in time.
#[derive(Debug, thiserror::Error)]
#[error("waited {limit:?} for {wanted} in vain ({seen} seen)")]
pub struct WaitError {
    /// What the caller wanted to see.
    pub wanted: String,
    /// How long it waited.
    pub limit: Duration,
    /// How many entries there were, or looks were taken, when it gave up.
    pub seen: usize,
}

/// Entries kept before the oldest go; far more than a test makes, few enough for a double that runs for days.
const KEPT: usize = 50_000;

/// Entries in order of arrival; every push wakes those who wait.
#[derive(Debug)]
pub(crate) struct Journal<T> {
    entries: Mutex<Entries<T>>,
    version: watch::Sender<u64>,
}

#[derive(Debug)]
struct Entries<T> {
    forgotten: usize,
    kept: Vec<T>,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        let entries = Entries { forgotten: 0, kept: Vec::new() };
        Self { entries: Mutex::new(entries), version: watch::Sender::new(0) }
    }
}

impl<T: Clone> Journal<T> {
    /// Appends what `make` builds from the new entry's position, and returns it.
    pub(crate) fn push_with(&self, make: impl FnOnce(usize) -> T) -> T {
        let entry = {
            let mut entries = lock(&self.entries);
            if entries.kept.len() >= 2 * KEPT {
                entries.kept.drain(..KEPT);
                entries.forgotten += KEPT;
            }
            let entry = make(entries.forgotten + entries.kept.len());
            entries.kept.push(entry.clone());
            entry
        };
        self.version.send_modify(|version| *version += 1);
        entry
    }

    pub(crate) fn push(&self, entry: T) {
        self.push_with(|_| entry);
    }

    /// How many there have been.
    pub(crate) fn total(&self) -> usize {
        let entries = lock(&self.entries);
        entries.forgotten + entries.kept.len()
    }

    pub(crate) fn snapshot(&self) -> Vec<T> {
        lock(&self.entries).kept.clone()
    }

    /// The entries that match.
    pub(crate) fn matching(&self, matches: impl Fn(&T) -> bool) -> Vec<T> {
        lock(&self.entries).kept.iter().filter(|entry| matches(entry)).cloned().collect()
    }

    /// Waits for the first entry that matches.
    ///
    /// Every entry is looked at once: thousands may wait for theirs at the same time.
    pub(crate) async fn wait_for(
        &self,
        wanted: &str,
        limit: Duration,
        matches: impl Fn(&T) -> bool,
    ) -> Result<T, WaitError> {
        let mut looked_at = 0_usize;
        let first_match = |entries: &Entries<T>| {
            let fresh = &entries.kept[looked_at.saturating_sub(entries.forgotten).min(entries.kept.len())..];
            let found = fresh.iter().find(|entry| matches(entry)).cloned();
            looked_at = entries.forgotten + entries.kept.len();
            found
        };
        self.wait(wanted, limit, first_match).await
    }

    /// Waits for at least `count` entries and returns all there are then.
    pub(crate) async fn wait_for_count(
        &self,
        count: usize,
        what: &str,
        limit: Duration,
    ) -> Result<Vec<T>, WaitError> {
        let wanted = format!("{count} {what}");
        let enough = |entries: &Entries<T>| {
            (entries.forgotten + entries.kept.len() >= count).then(|| entries.kept.clone())
        };
        self.wait(&wanted, limit, enough).await
    }

    /// Looks after every push until `look` finds something.
    async fn wait<R>(
        &self,
        wanted: &str,
        limit: Duration,
        mut look: impl FnMut(&Entries<T>) -> Option<R>,
    ) -> Result<R, WaitError> {
        let mut changes = self.version.subscribe();
        let search = async {
            loop {
                changes.borrow_and_update();
                if let Some(found) = look(&lock(&self.entries)) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    // The sender lives in `self`, which we borrow; without it nothing more can come.
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::time::timeout(limit, search).await.map_err(|_| WaitError {
            wanted: wanted.to_owned(),
            limit,
            seen: self.total(),
        })
    }
}

/// A double goes on after a panic elsewhere: its books are plain lists that cannot be left half-written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_wait_ends_with_the_push_that_satisfies_it() {
        let journal = Arc::new(Journal::default());
        let waiter = {
            let journal = Arc::clone(&journal);
            tokio::spawn(async move { journal.wait_for_count(2, "numbers", Duration::from_secs(5)).await })
        };
        journal.push(1);
        journal.push(2);
        assert_eq!(waiter.await.unwrap().unwrap(), vec![1, 2]);
    }

    #[tokio::test]
    async fn each_waiter_finds_its_own_entry_whenever_it_comes() {
        let journal = Arc::new(Journal::default());
        journal.push(0);
        let waiters: Vec<_> = (0..50)
            .map(|wanted| {
                let journal = Arc::clone(&journal);
                let limit = Duration::from_secs(5);
                tokio::spawn(async move { journal.wait_for("mine", limit, |entry| *entry == wanted).await })
            })
            .collect();
        for entry in 1..50 {
            tokio::task::yield_now().await;
            journal.push(entry);
        }
        for (wanted, waiter) in waiters.into_iter().enumerate() {
            assert_eq!(waiter.await.unwrap().unwrap(), wanted);
        }
    }

    #[tokio::test]
    async fn the_oldest_entries_are_forgotten_but_counted() {
        let journal = Journal::default();
        for entry in 0..=2 * KEPT {
            journal.push(entry);
        }
        assert_eq!((journal.total(), journal.snapshot()[0]), (2 * KEPT + 1, KEPT));
        let last = journal.wait_for("the last", Duration::from_secs(5), |entry| *entry == 2 * KEPT).await;
        assert!(last.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_says_what_it_missed() {
        let journal = Journal::default();
        journal.push('a');
        let err = journal.wait_for_count(2, "letters", Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(err.to_string(), "waited 1s for 2 letters in vain (1 seen)");
    }
}
