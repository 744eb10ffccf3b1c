//! Callbacks that were lost on the way: asked for by job id, shortly before the lookup's own deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use budget::{Clock, Deadline};
use rand::Rng;
use retriever::Recovered;
use runtime::{WireEncoding, body_work, usable_payload};
use state::{CallbackId, CallbackRecord, CallbackReport, CallbackStatus, NewCallback, QueryId};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::ports::{LookupStore, Submit};

/// How many jobs are asked for at once, per lookup.
const AT_ONCE: usize = 4;

/// Fetches what Retriever has found for the callbacks that have not come, and keeps it as if it had come
/// by itself. Errors cost only the attempt: the next one, or the deadline, follows.
#[derive(Clone)]
pub(crate) struct Recovery<S, R, C> {
    pub(crate) store: S,
    pub(crate) retriever: R,
    pub(crate) clock: C,
    pub(crate) query: QueryId,
    pub(crate) deadline: Deadline,
    /// Largest body, also decoded.
    pub(crate) max_bytes: usize,
    /// How many answers were recovered: counted before the last one ends the wait.
    pub(crate) recovered: Arc<AtomicUsize>,
    /// Bounds the answers that all lookups of this process fetch at once.
    pub(crate) places: Arc<Semaphore>,
}

impl<S, R, C> Recovery<S, R, C>
where
    S: LookupStore + Clone,
    R: Submit + Clone,
    C: Clock + Clone,
{
    /// Asks once for everything that is missing.
    pub(crate) async fn ask(self) {
        let Ok(records) = self.store.callbacks(self.query).await else { return };
        let mut missing = records.into_iter().filter_map(missing_job);
        let mut asking = JoinSet::new();
        loop {
            while asking.len() < AT_ONCE
                && let Some((callback, job_id)) = missing.next()
            {
                let this = self.clone();
                asking.spawn(async move { this.recover(callback, &job_id).await });
            }
            if asking.join_next().await.is_none() {
                return;
            }
        }
    }

    async fn recover(&self, callback: CallbackId, job_id: &str) {
        // the semaphore is never closed; the wait ends with the lookup
        let _place = self.places.acquire().await;
        let left = self.deadline.remaining(self.clock.now());
        let (query, limit) = (self.query, self.max_bytes);
        let (body, encoding) = match self.retriever.recover(job_id, limit, left).await {
            Recovered::Response { body, encoding } => (body, encoding),
            Recovered::Pending => return,
            Recovered::Lost { reason } => {
                tracing::warn!(%query, "query {query}: job {job_id} cannot be recovered: {reason}");
                return;
            }
        };
        let Some(encoding) = WireEncoding::parse(&encoding) else { return };
        let size = body.len();
        let usable = body_work(size, encoding, move || usable_payload(body, encoding, limit)).await;
        let Some(Ok(payload)) = usable else { return };
        let report = CallbackReport::Payload(payload);
        let now = self.clock.now();
        let new = NewCallback { id: callback, query, report, now, token: rand::rng().random() };
        self.recovered.fetch_add(1, Ordering::Relaxed);
        if !matches!(self.store.keep_callback(&new).await, Ok(Ok(_))) {
            self.recovered.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A job that Retriever has accepted and not called back for.
fn missing_job(record: CallbackRecord) -> Option<(CallbackId, String)> {
    match record.status {
        CallbackStatus::Accepted => Some((record.id, record.job_id?)),
        CallbackStatus::Registered
        | CallbackStatus::InFlight
        | CallbackStatus::Returned
        | CallbackStatus::Failed
        | CallbackStatus::Removed => None,
    }
}
