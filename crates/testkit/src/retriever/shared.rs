//! What the routes, the jobs and the test share: the plan, the books, and the jobs under way.

use axum::extract::Request;
use axum::http::HeaderMap;
use bytes::Bytes;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::task::JoinSet;

use super::ack::WhenSent;
use super::callback::{self, WireBody};
use super::job::{Job, Jobs, Work, time_limit};
use super::plan::{Behaviour, Encoding, Payload, Plan};
use super::record::{CallbackRecord, Submission};
use super::rehydration::Rehydration;
use super::request::{Refusal, check_callback, parse_query, read_body};
use crate::answers::AnswerSpec;
use crate::journal::{Journal, lock};

/// What the handlers, the jobs and the test share.
#[derive(Debug)]
pub(super) struct Shared {
    client: reqwest::Client,
    callback_host: Option<String>,
    pub(super) answers: AnswerSpec,
    pub(super) plan: Mutex<Plan>,
    pub(super) rehydration: Mutex<Rehydration>,
    pub(super) submissions: Journal<Submission>,
    pub(super) sync_queries: Journal<Submission>,
    pub(super) arax_queries: Journal<Submission>,
    pub(super) rehydrations: Journal<Submission>,
    pub(super) meta_requests: Journal<()>,
    pub(super) refusals: Journal<String>,
    pub(super) lookups: Journal<String>,
    pub(super) callbacks: Journal<CallbackRecord>,
    pub(super) tasks: Mutex<JoinSet<()>>,
    jobs: Mutex<Jobs>,
    attempts: Mutex<HashMap<String, usize>>,
}

impl Shared {
    pub(super) fn new(
        client: reqwest::Client,
        plan: Plan,
        answers: AnswerSpec,
        callback_host: Option<String>,
    ) -> Self {
        Self {
            client,
            callback_host,
            answers,
            plan: Mutex::new(plan),
            rehydration: Mutex::default(),
            submissions: Journal::default(),
            sync_queries: Journal::default(),
            arax_queries: Journal::default(),
            rehydrations: Journal::default(),
            meta_requests: Journal::default(),
            refusals: Journal::default(),
            lookups: Journal::default(),
            callbacks: Journal::default(),
            tasks: Mutex::default(),
            jobs: Mutex::default(),
            attempts: Mutex::default(),
        }
    }

    pub(super) fn behaviour(&self, submission: &Submission) -> Behaviour {
        // Cloned, so that a rule that takes its time does not hold up the others.
        let plan = lock(&self.plan).clone();
        plan.behaviour(submission)
    }

    pub(super) fn job(&self, id: &str) -> Option<Job> {
        lock(&self.jobs).get(id).cloned()
    }

    /// Does the work at once and returns the answer's body; `None` when none can be made.
    pub(super) async fn answer_in_place(
        &self,
        submission: Submission,
        behaviour: Behaviour,
    ) -> Option<Bytes> {
        let work = Work::of(&behaviour, time_limit(&submission));
        tokio::time::sleep(work.takes).await;
        let plain = Behaviour { encoding: Encoding::Identity, ..behaviour };
        let payload = plain.payload.clone();
        let job = Job { submission, payload, traced: plain.traced, work, done: true };
        wire_body(&job, &plain, &self.answers).map(|body| body.bytes)
    }

    /// Counts the tries for a callback URL; forgets them all once there are very many.
    fn attempt(&self, callback: Option<&str>) -> usize {
        const KEPT: usize = 100_000;
        let Some(callback) = callback else { return 1 };
        let mut attempts = lock(&self.attempts);
        if attempts.len() >= KEPT {
            attempts.clear();
        }
        let attempt = attempts.entry(callback.to_owned()).or_default();
        *attempt += 1;
        *attempt
    }

    pub(super) fn record(
        &self,
        journal: &Journal<Submission>,
        headers: HeaderMap,
        body: Bytes,
        query: Value,
    ) -> Submission {
        let attempt = self.attempt(query.get("callback").and_then(Value::as_str));
        let job_id = format!("{:032x}", rand::random::<u128>());
        let query = Arc::new(query);
        journal.push_with(|order| Submission {
            order,
            attempt,
            arrived: Instant::now(),
            headers,
            body,
            query,
            job_id,
        })
    }

    /// Reads and checks a query; a refusal is recorded.
    pub(super) async fn read(
        &self,
        request: Request,
        is_async: bool,
    ) -> Result<(HeaderMap, Bytes, Value), Refusal> {
        let (parts, body) = request.into_parts();
        let read = async {
            let body = read_body(&parts.headers, body).await?;
            let query = parse_query(&body)?;
            if is_async {
                check_callback(&query, self.callback_host.as_deref())?;
            }
            Ok((body, query))
        };
        match read.await {
            Ok((body, query)) => Ok((parts.headers, body, query)),
            Err(refusal) => {
                self.refusals.push(format!("{refusal}"));
                Err(refusal)
            }
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Runs a job from `start`, or from the moment its ACK is out where that comes later.
    pub(super) fn start_job(
        self: &Arc<Self>,
        submission: Submission,
        behaviour: Behaviour,
        start: tokio::time::Instant,
        acknowledged: Option<WhenSent>,
    ) {
        let work = Work::of(&behaviour, time_limit(&submission));
        let payload = behaviour.payload.clone();
        let mut job = Job { submission, payload, traced: behaviour.traced, work, done: false };
        lock(&self.jobs).add(job.clone());
        let shared = Arc::clone(self);
        self.spawn(async move {
            tokio::time::sleep_until(start).await;
            if let Some(acknowledged) = acknowledged {
                // Its only outcome is the sender's end.
                let _ = acknowledged.await;
            }
            tokio::time::sleep(work.takes).await;
            job.done = true;
            lock(&shared.jobs).finish(&job.submission.job_id);
            shared.call_back(job, behaviour).await;
        });
    }

    async fn call_back(self: Arc<Self>, job: Job, behaviour: Behaviour) {
        if behaviour.callbacks == 0 {
            return;
        }
        let times = behaviour.callbacks;
        let submission = job.submission.clone();
        let answers = self.answers.clone();
        // A thousand results take a while to make, which must not delay anybody's ACK.
        let made = tokio::task::spawn_blocking(move || wire_body(&job, &behaviour, &answers)).await;
        let Ok(Some(body)) = made else {
            tracing::warn!(
                job_id = submission.job_id,
                "no callback could be made for job {}",
                submission.job_id
            );
            return;
        };
        for _ in 0..times {
            let record = callback::post(&self.client, &submission, &body).await;
            tracing::info!(
                order = record.order,
                bytes = record.wire_bytes,
                "callback sent: {:?}",
                record.outcome
            );
            self.callbacks.push(record);
        }
    }
}

fn wire_body(job: &Job, behaviour: &Behaviour, answers: &AnswerSpec) -> Option<WireBody> {
    let response = || Some(Bytes::from(job.response(answers).ok()?.to_string()));
    let body = match &behaviour.payload {
        Payload::Answer(_) | Payload::Status(..) => response()?,
        Payload::Truncated => {
            let whole = response()?;
            whole.slice(..whole.len() / 2)
        }
        Payload::Garbage => Bytes::from_static(b"<html><body>502 Bad Gateway</body></html>"),
        Payload::Bytes(bytes) => bytes.clone(),
    };
    let encoded = callback::encode(body, behaviour.encoding, &job.submission).ok()?;
    Some(WireBody { breaks_off: behaviour.breaks_off, ..encoded })
}
