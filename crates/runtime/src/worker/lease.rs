//! The leases this process holds, and what happens when one is lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use state::EntryId;
use tokio_util::sync::CancellationToken;

/// The entries of one queue that this process is handling.
#[derive(Clone, Default)]
pub(super) struct Leases(Arc<Mutex<HashMap<EntryId, CancellationToken>>>);

/// Takes its entry out of the leases when the task ends, however it ends.
pub(super) struct Lease {
    leases: Leases,
    entry: EntryId,
    /// Cancelled when another worker has taken over.
    pub(super) lost: CancellationToken,
}

impl Leases {
    fn held(&self) -> MutexGuard<'_, HashMap<EntryId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an entry; `None` when this process is handling it already.
    pub(super) fn hold(&self, entry: &EntryId) -> Option<Lease> {
        let lost = CancellationToken::new();
        match self.held().entry(entry.clone()) {
            std::collections::hash_map::Entry::Occupied(_) => None,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(lost.clone());
                Some(Lease { leases: self.clone(), entry: entry.clone(), lost })
            }
        }
    }

    pub(super) fn entries(&self) -> Vec<EntryId> {
        self.held().keys().cloned().collect()
    }

    /// Ends the task of an entry that another worker has taken over.
    pub(super) fn lose(&self, entry: &EntryId) {
        if let Some(lost) = self.held().get(entry) {
            lost.cancel();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.held().remove(&self.entry);
    }
}
