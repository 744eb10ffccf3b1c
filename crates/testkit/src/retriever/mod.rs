//! A double of Retriever, the knowledge-graph service: real HTTP, made-up answers, and every fault on demand.
//!
//! Left alone it behaves as the real one: it acknowledges a sub-query with a job id, honours `parameters.timeout` from
//! then on, posts the callback once, compressed only where the submission allows it, and keeps the answer for whoever
//! asks by job id. A [`Plan`] makes it misbehave for chosen sub-queries.

mod ack;
mod callback;
mod job;
mod plan;
mod record;
mod rehydration;
mod request;
mod server;
mod shared;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::answers::AnswerSpec;
use crate::http;
use crate::journal::{WaitError, lock};
use crate::knowledge::Knowledge;
use crate::serve::{HttpServer, ServeError};
pub use plan::{Ack, Behaviour, Encoding, Payload, Plan, WorkStarts};
pub use record::{CallbackOutcome, CallbackRecord, Submission};
pub use rehydration::Rehydration;
use shared::Shared;

/// How a double of Retriever is to be started.
#[derive(Debug)]
#[must_use]
pub struct RetrieverBuilder {
    bind: IpAddr,
    port: u16,
    callback_host: Option<String>,
    plan: Plan,
    answers: AnswerSpec,
}

impl Default for RetrieverBuilder {
    fn default() -> Self {
        Self {
            bind: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            callback_host: None,
            plan: Plan::default(),
            answers: AnswerSpec::default(),
        }
    }
}

impl RetrieverBuilder {
    /// Listens on this interface; otherwise on the loopback one.
    pub fn bind(mut self, interface: IpAddr) -> Self {
        self.bind = interface;
        self
    }

    /// Calls back this host too, beside those on the loopback interface.
    pub fn callback_host(mut self, host: impl Into<String>) -> Self {
        self.callback_host = Some(host.into());
        self
    }

    /// Listens on this port; otherwise, and for 0, on a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Follows this plan from the start.
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// What answers look like unless a behaviour says otherwise.
    pub fn answers(mut self, answers: AnswerSpec) -> Self {
        self.answers = answers;
        self
    }

    /// Answers from this knowledge graph, in place of inventions.
    pub fn knowledge(mut self, knowledge: impl Into<Arc<Knowledge>>) -> Self {
        self.answers.knowledge = Some(knowledge.into());
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// [`ServeError`] when the port is taken or the HTTP client cannot be built.
    pub async fn start(self) -> Result<RetrieverDouble, ServeError> {
        let client = http::unpooled_client(callback::TIMEOUT).map_err(ServeError::Client)?;
        let shared = Arc::new(Shared::new(client, self.plan, self.answers, self.callback_host));
        let address = SocketAddr::new(self.bind, self.port);
        let server = HttpServer::start(address, server::router(Arc::clone(&shared))).await?;
        Ok(RetrieverDouble { shared, server })
    }
}

/// A running double of Retriever; gone, with the jobs it still has, when dropped.
#[derive(Debug)]
pub struct RetrieverDouble {
    shared: Arc<Shared>,
    server: HttpServer,
}

impl RetrieverDouble {
    /// Starts one on a free port that answers everything at once.
    ///
    /// # Errors
    /// As [`RetrieverBuilder::start`].
    pub async fn start() -> Result<Self, ServeError> {
        Self::builder().start().await
    }

    /// One with chosen port, plan or answers.
    pub fn builder() -> RetrieverBuilder {
        RetrieverBuilder::default()
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// `http://127.0.0.1:port`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    /// Follows another plan from now on; submissions already taken go on as planned.
    pub fn set_plan(&self, plan: Plan) {
        *lock(&self.shared.plan) = plan;
    }

    /// Closes the next `count` connections as soon as they are made, before anything is read from them.
    pub fn drop_next_connections(&self, count: usize) {
        self.server.drop_next_connections(count);
    }

    /// Stops listening: connections are refused, and jobs still running never call back. Its records stay.
    pub async fn stop(&mut self) {
        self.server.stop().await;
        lock(&self.shared.tasks).abort_all();
    }

    /// Listens again on the same port after [`Self::stop`].
    ///
    /// # Errors
    /// [`ServeError`] when the port was taken meanwhile.
    pub async fn resume(&mut self) -> Result<(), ServeError> {
        let router = server::router(Arc::clone(&self.shared));
        self.server = HttpServer::start(self.addr(), router).await?;
        Ok(())
    }

    /// What came in at `/asyncquery`, in order of arrival.
    pub fn submissions(&self) -> Vec<Submission> {
        self.shared.submissions.snapshot()
    }

    /// What came in at `/query`.
    pub fn sync_queries(&self) -> Vec<Submission> {
        self.shared.sync_queries.snapshot()
    }

    /// What came in at `/arax/query`, where the double stands for the ARAX service.
    pub fn arax_queries(&self) -> Vec<Submission> {
        self.shared.arax_queries.snapshot()
    }

    /// What came in at `/rehydrate`.
    pub fn rehydrations(&self) -> Vec<Submission> {
        self.shared.rehydrations.snapshot()
    }

    /// Does this with messages that are to be filled, from now on.
    pub fn set_rehydration(&self, rehydration: Rehydration) {
        *lock(&self.shared.rehydration) = rehydration;
    }

    /// Waits for at least `count` requests at `/rehydrate` and returns all there are then.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_rehydrations(
        &self,
        count: usize,
        limit: Duration,
    ) -> Result<Vec<Submission>, WaitError> {
        self.shared.rehydrations.wait_for_count(count, "messages to fill", limit).await
    }

    /// How many requests came in at `/meta_knowledge_graph`.
    pub fn meta_requests(&self) -> usize {
        self.shared.meta_requests.total()
    }

    /// Why requests were refused as invalid, in order.
    pub fn refusals(&self) -> Vec<String> {
        self.shared.refusals.snapshot()
    }

    /// The job ids that were asked for at `/asyncquery_status/{job_id}` and `/response/{job_id}`.
    pub fn lookups_by_id(&self) -> Vec<String> {
        self.shared.lookups.snapshot()
    }

    /// The callbacks whose outcome is known, in that order.
    pub fn callbacks(&self) -> Vec<CallbackRecord> {
        self.shared.callbacks.snapshot()
    }

    /// Waits for at least `count` submissions and returns all there are then.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_submissions(
        &self,
        count: usize,
        limit: Duration,
    ) -> Result<Vec<Submission>, WaitError> {
        self.shared.submissions.wait_for_count(count, "submissions", limit).await
    }

    /// Waits for at least `count` requests to `/query` and returns all there are then.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_sync_queries(
        &self,
        count: usize,
        limit: Duration,
    ) -> Result<Vec<Submission>, WaitError> {
        self.shared.sync_queries.wait_for_count(count, "queries", limit).await
    }

    /// Waits for the first submission that matches, for example one that mentions an id.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_submission(
        &self,
        limit: Duration,
        matches: impl Fn(&Submission) -> bool,
    ) -> Result<Submission, WaitError> {
        self.shared.submissions.wait_for("a matching submission", limit, matches).await
    }

    /// Waits for the outcome of at least `count` callbacks and returns all there are then.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_callbacks(
        &self,
        count: usize,
        limit: Duration,
    ) -> Result<Vec<CallbackRecord>, WaitError> {
        self.shared.callbacks.wait_for_count(count, "callbacks", limit).await
    }
}

impl Drop for RetrieverDouble {
    fn drop(&mut self) {
        lock(&self.shared.tasks).abort_all();
    }
}

#[cfg(test)]
mod tests;
