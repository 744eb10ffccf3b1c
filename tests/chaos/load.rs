//! Keeps queries in flight: a new one is asked as soon as an earlier one is answered.

use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use testkit::queries;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::cast::GATEWAYS;
use crate::question::{Question, WARM_UP};
use crate::settings::{GRACE, QUERY};
use crate::stage::Stage;

/// Accepted and not answered, at any time.
pub(crate) const IN_FLIGHT: usize = 240;
/// How long the gateway may take to accept a query, or to refuse it.
const ACCEPTANCE: Duration = Duration::from_secs(20);
/// Between two new queries, so that they do not come in one heap.
const PACE: Duration = Duration::from_millis(20);

/// A query that was posted, and what the gateway said.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) gateway: &'static str,
    pub(crate) sent: Instant,
    pub(crate) answered: Instant,
    /// The job's id, or why it was not accepted.
    pub(crate) accepted: Result<String, String>,
}

/// Everything that was asked.
pub(crate) struct Load {
    seed: u64,
    stage: Arc<Stage>,
    http: reqwest::Client,
    callbacks: String,
    next: AtomicUsize,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    asked: Mutex<Vec<Asked>>,
}

impl Load {
    pub(crate) async fn new(seed: u64, stage: &Arc<Stage>) -> Arc<Self> {
        Arc::new(Self {
            seed,
            stage: Arc::clone(stage),
            http: testkit::http::plain_client().unwrap(),
            callbacks: stage.ars.lock().await.callback_url(""),
            next: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            asked: Mutex::default(),
        })
    }

    /// Asks the first questions and waits for their answers.
    pub(crate) async fn warm_up(self: &Arc<Self>) {
        let mut asking = JoinSet::new();
        for _ in 0..WARM_UP {
            let load = Arc::clone(self);
            asking.spawn(async move { load.ask().await });
        }
        while let Some(answered) = asking.join_next().await {
            assert!(answered.unwrap(), "a query was lost before any trouble");
        }
    }

    /// Keeps queries in flight until `end`, then waits until none is.
    pub(crate) async fn keep_up(self: &Arc<Self>, end: Instant) {
        let room = Arc::new(Semaphore::new(IN_FLIGHT));
        let mut asking = JoinSet::new();
        while Instant::now() < end {
            let permit = Arc::clone(&room).acquire_owned().await.unwrap();
            let load = Arc::clone(self);
            asking.spawn(async move {
                load.ask().await;
                drop(permit);
            });
            while let Some(ended) = asking.try_join_next() {
                ended.unwrap();
            }
            tokio::time::sleep(PACE).await;
        }
        while let Some(ended) = asking.join_next().await {
            ended.unwrap();
        }
    }

    /// Everything asked so far, in the order of the gateways' answers.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.books().clone()
    }

    /// How many were accepted and unanswered at the same time.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.most_in_flight.load(Ordering::SeqCst)
    }

    /// Asks one question and waits for its answer; whether there was one, or was to be none.
    async fn ask(&self) -> bool {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let question = Question::of(self.seed, number);
        let gateway = GATEWAYS[number % GATEWAYS.len()];
        let expected = self.stage.arrivals.expect(&question.key());
        let sent = Instant::now();
        let accepted = self.post(question, gateway).await;
        let is_accepted = accepted.is_ok();
        self.books().push(Asked { question, gateway, sent, answered: Instant::now(), accepted });
        if !is_accepted {
            // as a client would: not at once
            tokio::time::sleep(Duration::from_secs(1)).await;
            return true;
        }
        let in_flight = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(in_flight, Ordering::SeqCst);
        let arrived = expected.within(QUERY + GRACE).await;
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        arrived
    }

    async fn post(&self, question: Question, gateway: &str) -> Result<String, String> {
        let query =
            queries::with_callback(question.query(), &format!("{}{}", self.callbacks, question.key()));
        let url = format!("{}/{}/asyncquery", self.stage.gateway(gateway), question.ara);
        let request = self.http.post(url).timeout(ACCEPTANCE).header("content-type", "application/json");
        let answer = request.body(query.to_string()).send().await.map_err(|error| format!("{error:?}"))?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await;
        if status != 200 {
            return Err(format!("status {status}: {}", String::from_utf8_lossy(&body.unwrap_or_default())));
        }
        // 200 is the promise, whatever becomes of the body
        let body: Option<Value> = body.ok().and_then(|body| serde_json::from_slice(&body).ok());
        Ok(body.and_then(|body| body["job_id"].as_str().map(str::to_owned)).unwrap_or_default())
    }

    fn books(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
