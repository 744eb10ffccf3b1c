//! What the runner needs of Redis and of Retriever, as traits, so that its decisions on time can be
//! tested on paused time.

use budget::EpochMillis;
use bytes::Bytes;
use retriever::{Recovered, Retriever, SubmissionMetadata, SubmissionOutcome};
use state::{
    Begun, CallbackId, CallbackRecord, CallbackRefusal, Close, Closing, ConsumerName, FanOut, Kept,
    LookupTimes, NewCallback, NewSubQuery, QueryId, Recorded, Standing, StateError, StepEntry, Store,
    SubmissionRecord,
};
use std::sync::Arc;
use std::time::Duration;

type Answer<T> = Result<T, StateError>;

/// The state changes of a lookup; see the methods of the same names of [`Store`].
#[expect(missing_docs, reason = "documented where they are implemented")]
pub trait LookupStore: Send + Sync + 'static {
    fn begin(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        now: EpochMillis,
    ) -> impl Future<Output = Answer<Result<Begun, Standing>>> + Send;
    fn register(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        times: LookupTimes,
        sub_queries: &[NewSubQuery],
    ) -> impl Future<Output = Answer<Result<FanOut, Standing>>> + Send;
    fn record_submission(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        callback: CallbackId,
        outcome: &SubmissionRecord,
        now: EpochMillis,
    ) -> impl Future<Output = Answer<Result<Recorded, Standing>>> + Send;
    fn keep_callback(
        &self,
        callback: &NewCallback,
    ) -> impl Future<Output = Answer<Result<Kept, CallbackRefusal>>> + Send;
    fn close_lookup(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        close: &Close<'_>,
        now: EpochMillis,
    ) -> impl Future<Output = Answer<Closing>> + Send;
    fn hand_back(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
    ) -> impl Future<Output = Answer<Result<(), Standing>>> + Send;
    fn discard(&self, entry: &StepEntry) -> impl Future<Output = Answer<()>> + Send;
    fn callbacks(&self, query: QueryId) -> impl Future<Output = Answer<Vec<CallbackRecord>>> + Send;
    fn discard_payloads(&self, query: QueryId) -> impl Future<Output = Answer<()>> + Send;
}

impl LookupStore for Store {
    async fn begin(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        now: EpochMillis,
    ) -> Answer<Result<Begun, Standing>> {
        Self::begin(self, entry, owner, now).await
    }

    async fn register(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        times: LookupTimes,
        sub_queries: &[NewSubQuery],
    ) -> Answer<Result<FanOut, Standing>> {
        Self::register(self, entry, owner, times, sub_queries).await
    }

    async fn record_submission(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        callback: CallbackId,
        outcome: &SubmissionRecord,
        now: EpochMillis,
    ) -> Answer<Result<Recorded, Standing>> {
        Self::record_submission(self, entry, owner, callback, outcome, now).await
    }

    async fn keep_callback(&self, callback: &NewCallback) -> Answer<Result<Kept, CallbackRefusal>> {
        Self::keep_callback(self, callback).await
    }

    async fn close_lookup(
        &self,
        entry: &StepEntry,
        owner: &ConsumerName,
        close: &Close<'_>,
        now: EpochMillis,
    ) -> Answer<Closing> {
        Self::close_lookup(self, entry, owner, close, now).await
    }

    async fn hand_back(&self, entry: &StepEntry, owner: &ConsumerName) -> Answer<Result<(), Standing>> {
        Self::hand_back(self, entry, owner).await
    }

    async fn discard(&self, entry: &StepEntry) -> Answer<()> {
        self.settle(&entry.operation, entry.query.partition(), &entry.id).await
    }

    async fn callbacks(&self, query: QueryId) -> Answer<Vec<CallbackRecord>> {
        Self::callbacks(self, query).await
    }

    async fn discard_payloads(&self, query: QueryId) -> Answer<()> {
        Self::discard_payloads(self, query).await
    }
}

/// Submits sub-queries.
pub trait Submit: Send + Sync + 'static {
    /// Submits one sub-query and waits at most `ack_timeout` for the acknowledgement.
    fn submit(
        &self,
        body: Bytes,
        metadata: &SubmissionMetadata,
        ack_timeout: Duration,
    ) -> impl Future<Output = SubmissionOutcome> + Send;

    /// Asks for the answer of a job whose callback has not come.
    fn recover(
        &self,
        job_id: &str,
        limit: usize,
        timeout: Duration,
    ) -> impl Future<Output = Recovered> + Send;
}

impl Submit for Retriever {
    async fn submit(
        &self,
        body: Bytes,
        metadata: &SubmissionMetadata,
        ack_timeout: Duration,
    ) -> SubmissionOutcome {
        Self::submit(self, body, metadata, ack_timeout).await
    }

    async fn recover(&self, job_id: &str, limit: usize, timeout: Duration) -> Recovered {
        Self::recover(self, job_id, limit, timeout).await
    }
}

impl<R: Submit> Submit for Arc<R> {
    async fn submit(
        &self,
        body: Bytes,
        metadata: &SubmissionMetadata,
        ack_timeout: Duration,
    ) -> SubmissionOutcome {
        (**self).submit(body, metadata, ack_timeout).await
    }

    async fn recover(&self, job_id: &str, limit: usize, timeout: Duration) -> Recovered {
        (**self).recover(job_id, limit, timeout).await
    }
}
