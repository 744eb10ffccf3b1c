//! A store and a Retriever in memory, and a clock that follows tokio's paused time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use answers::expand::SubQuery;
use budget::{Budgets, ClientBudget, Clock, Deadline, EpochMillis, QueryBudget};
use bytes::Bytes;
use rand::SeedableRng;
use rand::rngs::StdRng;
use retriever::{Recovered, SubmissionMetadata, SubmissionOutcome};
use runtime::{Task, TaskError, Waits, WorkPermit};
use shepherd_lookup::ports::{LookupStore, Submit};
use shepherd_lookup::{Expand, Expansion, ExpansionError, Runner, RunnerSettings};
use state::{
    Begun, CallbackId, CallbackRecord, CallbackRefusal, CallbackReport, CallbackStatus, Close, Closing,
    ConsumerName, Delivery, Event, FanOut, JobState, Kept, LookupTimes, NewCallback, NewSubQuery, Progress,
    QueryId, QueryRecord, Recorded, Standing, StateError, StepEntry, SubmissionRecord,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trapi::{Query, Question};

/// Wall time that moves with tokio's.
#[derive(Clone, Copy)]
pub(crate) struct PausedClock {
    start: Instant,
}

impl PausedClock {
    pub(crate) const EPOCH: EpochMillis = EpochMillis(1_790_000_000_000);

    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Clock for PausedClock {
    fn now(&self) -> EpochMillis {
        Deadline::after(Self::EPOCH, self.elapsed()).instant()
    }
}

/// What the store holds of the one query.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) owner: Option<ConsumerName>,
    pub(crate) fan_out: Option<FanOut>,
    pub(crate) closed: Option<(EpochMillis, u32, Vec<String>)>,
    pub(crate) handed_back: bool,
    /// Why answers were of no use.
    pub(crate) unusable: Vec<String>,
    /// Redis does not answer.
    pub(crate) away: bool,
}

/// The store's side of one query, with the rules of the real scripts.
#[derive(Clone)]
pub(crate) struct MemoryStore {
    held: Arc<Mutex<Held>>,
    waits: Waits,
    query: QueryId,
    body: Bytes,
    budget: QueryBudget,
}

impl MemoryStore {
    pub(crate) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap()
    }

    fn standing(&self, owner: &ConsumerName) -> Result<MutexGuard<'_, Held>, Standing> {
        let held = self.held();
        if held.closed.is_some() {
            return Err(Standing::Past);
        }
        if held.owner.as_ref() == Some(owner) { Ok(held) } else { Err(Standing::Lost) }
    }

    fn outstanding(held: &Held) -> u32 {
        let open = |callback: &&CallbackRecord| {
            matches!(
                callback.status,
                CallbackStatus::Registered | CallbackStatus::Accepted | CallbackStatus::InFlight
            )
        };
        let count = held.fan_out.iter().flat_map(|fan_out| &fan_out.callbacks).filter(open).count();
        u32::try_from(count).unwrap()
    }

    /// A callback arrives; true when it was kept.
    pub(crate) fn callback(&self, label: &str) -> bool {
        let mut held = self.held();
        if held.closed.is_some() {
            return false;
        }
        let callbacks = &mut held.fan_out.as_mut().unwrap().callbacks;
        let callback = callbacks.iter_mut().find(|callback| callback.label == label).unwrap();
        callback.status = CallbackStatus::Returned;
        let outstanding = Self::outstanding(&held);
        drop(held);
        if outstanding == 0 {
            self.waits.wake(Event::Returned(self.query));
        }
        true
    }
}

type Answer<T> = Result<T, StateError>;

impl LookupStore for MemoryStore {
    async fn begin(
        &self,
        _: &StepEntry,
        owner: &ConsumerName,
        _: EpochMillis,
    ) -> Answer<Result<Begun, Standing>> {
        let mut held = self.held();
        if held.closed.is_some() {
            return Ok(Err(Standing::Past));
        }
        held.owner = Some(owner.clone());
        let record = QueryRecord {
            message_bytes: None,
            message_note: None,
            id: self.query,
            ara: "aragorn".to_owned(),
            state: JobState::Running,
            stage: "test.lookup".to_owned(),
            plan: ["test.lookup", "merge", "finish_query"].map(str::to_owned).to_vec(),
            step: 0,
            delivery: Delivery::Connection,
            intake: PausedClock::EPOCH,
            budget: self.budget,
            traceparent: String::new(),
            lookup_deadline: None,
            lookup_closed: None,
            failure: None,
            progress: Progress::default(),
            finished: None,
            status: None,
            description: None,
            delivery_problem: None,
            http_status: None,
            response_bytes: None,
        };
        Ok(Ok(Begun { record, body: self.body.clone() }))
    }

    async fn register(
        &self,
        _: &StepEntry,
        owner: &ConsumerName,
        times: LookupTimes,
        sub_queries: &[NewSubQuery],
    ) -> Answer<Result<FanOut, Standing>> {
        let mut held = match self.standing(owner) {
            Ok(held) => held,
            Err(standing) => return Ok(Err(standing)),
        };
        if let Some(fan_out) = &held.fan_out {
            return Ok(Ok(FanOut { resumed: true, ..fan_out.clone() }));
        }
        let fresh = |sub_query: &NewSubQuery| CallbackRecord {
            id: sub_query.callback,
            label: sub_query.label.clone(),
            query_graph: sub_query.query_graph.clone(),
            status: CallbackStatus::Registered,
            job_id: None,
            reason: None,
            encoding: None,
            bytes: 0,
        };
        let fan_out = FanOut {
            deadline: times.deadline,
            callbacks: sub_queries.iter().map(fresh).collect(),
            resumed: false,
        };
        held.fan_out = Some(fan_out.clone());
        Ok(Ok(fan_out))
    }

    async fn record_submission(
        &self,
        _: &StepEntry,
        owner: &ConsumerName,
        id: CallbackId,
        outcome: &SubmissionRecord,
        _: EpochMillis,
    ) -> Answer<Result<Recorded, Standing>> {
        if self.held().away {
            // any error that another try may not have
            return Err(StateError::QueueFull);
        }
        let mut held = match self.standing(owner) {
            Ok(held) => held,
            Err(standing) => return Ok(Err(standing)),
        };
        let callbacks = &mut held.fan_out.as_mut().unwrap().callbacks;
        let callback = callbacks.iter_mut().find(|callback| callback.id == id).unwrap();
        if matches!(callback.status, CallbackStatus::Registered | CallbackStatus::InFlight) {
            if let SubmissionRecord::Accepted { job_id } = outcome {
                callback.job_id.clone_from(job_id);
            }
            callback.status = match outcome {
                SubmissionRecord::Accepted { .. } => CallbackStatus::Accepted,
                SubmissionRecord::InFlight => CallbackStatus::InFlight,
                SubmissionRecord::Removed { .. } => CallbackStatus::Removed,
            };
        }
        Ok(Ok(Recorded { outstanding: Self::outstanding(&held) }))
    }

    async fn keep_callback(&self, new: &NewCallback) -> Answer<Result<Kept, CallbackRefusal>> {
        let label = self
            .held()
            .fan_out
            .as_ref()
            .unwrap()
            .callbacks
            .iter()
            .find(|c| c.id == new.id)
            .unwrap()
            .label
            .clone();
        let kept = self.callback(&label);
        if let CallbackReport::Unusable(reason) = &new.report {
            self.held().unusable.push(reason.clone());
        }
        Ok(if kept { Ok(Kept::Now { outstanding: 0 }) } else { Err(CallbackRefusal::Closed(new.now)) })
    }

    async fn callbacks(&self, _: QueryId) -> Answer<Vec<CallbackRecord>> {
        Ok(self.held().fan_out.as_ref().unwrap().callbacks.clone())
    }

    async fn close_lookup(
        &self,
        _: &StepEntry,
        owner: &ConsumerName,
        close: &Close<'_>,
        now: EpochMillis,
    ) -> Answer<Closing> {
        let mut held = match self.standing(owner) {
            Ok(held) => held,
            Err(standing) => return Ok(Closing::Not(standing)),
        };
        let outstanding = Self::outstanding(&held);
        if outstanding > 0 && !close.force {
            return Ok(Closing::Open { outstanding });
        }
        assert_eq!(close.next_operation, "merge");
        held.closed = Some((now, outstanding, close.logs.iter().map(|log| log.0.clone()).collect()));
        Ok(Closing::Closed { missing: outstanding })
    }

    async fn hand_back(&self, _: &StepEntry, owner: &ConsumerName) -> Answer<Result<(), Standing>> {
        match self.standing(owner) {
            Ok(mut held) => {
                held.owner = None;
                held.handed_back = true;
                Ok(Ok(()))
            }
            Err(standing) => Ok(Err(standing)),
        }
    }

    async fn discard(&self, _: &StepEntry) -> Answer<()> {
        Ok(())
    }

    async fn discard_payloads(&self, _: QueryId) -> Answer<()> {
        Ok(())
    }
}

/// What Retriever does with one sub-query.
#[derive(Clone)]
pub(crate) struct Behaviour {
    /// After how long it answers the submission, and how; never for `None`.
    pub(crate) ack: Option<(Duration, SubmissionOutcome)>,
    /// After how long it calls back, from the arrival of the submission; never for `None`.
    pub(crate) callback: Option<Duration>,
}

impl Behaviour {
    pub(crate) fn accepted() -> SubmissionOutcome {
        SubmissionOutcome::Accepted { job_id: Some("job".to_owned()) }
    }

    pub(crate) fn ack_at_once(callback: Option<Duration>) -> Self {
        Self { ack: Some((Duration::ZERO, Self::accepted())), callback }
    }
}

/// A Retriever in memory; sub-queries are told apart by their label, which is their node's name.
#[derive(Clone)]
pub(crate) struct MemoryRetriever {
    store: MemoryStore,
    behaviours: BTreeMap<String, Behaviour>,
    /// What it says of jobs it is asked for.
    pub(crate) found: Arc<Mutex<Vec<Recovered>>>,
    pub(crate) submitted: Arc<Mutex<Vec<(String, Duration)>>>,
}

impl Submit for MemoryRetriever {
    async fn submit(&self, body: Bytes, _: &SubmissionMetadata, ack_timeout: Duration) -> SubmissionOutcome {
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let label =
            body.pointer("/message/query_graph/nodes").unwrap().as_object().unwrap().keys().next().unwrap();
        self.submitted.lock().unwrap().push((label.clone(), ack_timeout));
        let behaviour = self.behaviours[label].clone();
        if let Some(after) = behaviour.callback {
            let (store, label) = (self.store.clone(), label.clone());
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                store.callback(&label);
            });
        }
        let acknowledged = async {
            match behaviour.ack {
                Some((after, outcome)) => {
                    tokio::time::sleep(after).await;
                    outcome
                }
                None => std::future::pending().await,
            }
        };
        // as the real client does it
        tokio::time::timeout(ack_timeout, acknowledged).await.unwrap_or_else(|_| {
            SubmissionOutcome::InFlight {
                reason: format!("no ACK within {:.1} s", ack_timeout.as_secs_f64()),
            }
        })
    }

    async fn recover(&self, _: &str, _: usize, _: Duration) -> Recovered {
        self.found.lock().unwrap().pop().unwrap_or(Recovered::Pending)
    }
}

/// Expands into one sub-query per label.
pub(crate) struct Labels(Vec<String>);

impl Expand for Labels {
    const OPERATION: &'static str = "test.lookup";

    fn expand(&self, query: &Query, _: &Question) -> Result<Expansion, ExpansionError> {
        let sub_queries = self.0.iter().map(|label| {
            let mut query_graph = query.query_graph.clone();
            query_graph.edges.clear();
            query_graph.nodes =
                query_graph.nodes.into_iter().take(1).map(|(_, node)| (label.clone(), node)).collect();
            SubQuery { label: label.clone(), query_graph }
        });
        Ok(Expansion::of_retriever(sub_queries, query))
    }
}

/// A lookup under test.
pub(crate) struct Scene {
    pub(crate) store: MemoryStore,
    pub(crate) retriever: MemoryRetriever,
    pub(crate) clock: PausedClock,
    pub(crate) draining: CancellationToken,
    labels: Vec<String>,
    budgets: Budgets,
    waits: Waits,
}

impl Scene {
    /// A query whose client waits `client_seconds`, with one sub-query per behaviour, named a, b, c...
    pub(crate) fn new(client_seconds: u64, budgets: Budgets, behaviours: &[Behaviour]) -> Self {
        let waits = Waits::default();
        let clock = PausedClock::new();
        let client = ClientBudget::Limited { budget: Duration::from_secs(client_seconds), named: true };
        let deadline = Deadline::after(PausedClock::EPOCH, budgets.query.max(client.bound()));
        let body = r#"{"message":{"query_graph":{"nodes":{"n":{"ids":["X:1"]}},"edges":{"e":{"subject":"n","object":"n"}}}}}"#;
        let store = MemoryStore {
            held: Arc::default(),
            waits: waits.clone(),
            query: QueryId::random(0, &mut StdRng::seed_from_u64(1)),
            body: Bytes::from_static(body.as_bytes()),
            budget: QueryBudget { client, deadline: Some(deadline) },
        };
        let labels: Vec<String> = ('a'..='z').take(behaviours.len()).map(String::from).collect();
        let behaviours = labels.iter().cloned().zip(behaviours.iter().cloned()).collect();
        let retriever = MemoryRetriever {
            store: store.clone(),
            behaviours,
            found: Arc::default(),
            submitted: Arc::default(),
        };
        Self { store, retriever, clock, draining: CancellationToken::new(), labels, budgets, waits }
    }

    pub(crate) fn runner(&self, seed: u64) -> Runner<MemoryStore, MemoryRetriever, PausedClock, Labels> {
        self.runner_with(seed, Labels(self.labels.clone()))
    }

    pub(crate) fn runner_with<E: Expand>(
        &self,
        seed: u64,
        expand: E,
    ) -> Runner<MemoryStore, MemoryRetriever, PausedClock, E> {
        let settings = RunnerSettings {
            budgets: self.budgets,
            dialect: trapi::Dialect::V1,
            default_tier: 0,
            submitter: "infores:shepherd-{ara}".to_owned(),
            callback_host: "http://localhost:5439".to_owned(),
            max_concurrent_submissions: 100,
            max_recovered_bytes: 1000,
        };
        let owner = ConsumerName::random("test", &mut StdRng::seed_from_u64(seed));
        let (store, retriever) = (self.store.clone(), self.retriever.clone());
        Runner::new(store, retriever, self.clock, expand, owner, settings, self.waits.clone())
    }

    pub(crate) fn task(&self) -> Task {
        let entry: StepEntry = StepEntry {
            id: state::EntryId::from("1-0"),
            operation: "test.lookup".to_owned(),
            query: self.store.query,
            step: 0,
            traceparent: String::new(),
        };
        Task { entry, deliveries: 1, work: WorkPermit::unbounded(), draining: self.draining.clone() }
    }

    /// Runs the lookup to its end.
    pub(crate) async fn run(&self) -> Result<(), TaskError> {
        self.runner(1).run(self.task()).await
    }

    /// When the lookup closed, counted from its start, how many callbacks were missing, and its log.
    pub(crate) fn closed(&self) -> (Duration, u32, String) {
        let held = self.store.held();
        let (at, missing, logs) = held.closed.as_ref().expect("the lookup is closed");
        (at.since(PausedClock::EPOCH), *missing, logs.join("\n"))
    }

    pub(crate) fn submitted(&self) -> Vec<String> {
        self.retriever.submitted.lock().unwrap().iter().map(|(label, _)| label.clone()).collect()
    }
}
