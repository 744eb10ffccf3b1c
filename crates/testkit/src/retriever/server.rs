//! The routes of the double and the jobs behind them.

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Instant, UNIX_EPOCH};
use tokio::task::JoinSet;

use super::ack::{self, WhenSent};
use super::callback::{self, WireBody};
use super::job::{Job, Jobs, Work, time_limit};
use super::plan::{Ack, Behaviour, Payload, Plan, WorkStarts};
use super::record::{CallbackRecord, Submission};
use super::request::{Refusal, check_callback, parse_query, read_body};
use crate::answers::{self, AnswerSpec};
use crate::journal::{Journal, lock};
use crate::serve::HangUp;

/// What the handlers, the jobs and the test share.
#[derive(Debug)]
pub(super) struct Shared {
    client: reqwest::Client,
    answers: AnswerSpec,
    pub(super) plan: Mutex<Plan>,
    pub(super) submissions: Journal<Submission>,
    pub(super) sync_queries: Journal<Submission>,
    pub(super) rehydrations: Journal<()>,
    pub(super) refusals: Journal<String>,
    pub(super) lookups: Journal<String>,
    pub(super) callbacks: Journal<CallbackRecord>,
    pub(super) tasks: Mutex<JoinSet<()>>,
    jobs: Mutex<Jobs>,
    attempts: Mutex<HashMap<String, usize>>,
}

impl Shared {
    pub(super) fn new(client: reqwest::Client, plan: Plan, answers: AnswerSpec) -> Self {
        Self {
            client,
            answers,
            plan: Mutex::new(plan),
            submissions: Journal::default(),
            sync_queries: Journal::default(),
            rehydrations: Journal::default(),
            refusals: Journal::default(),
            lookups: Journal::default(),
            callbacks: Journal::default(),
            tasks: Mutex::default(),
            jobs: Mutex::default(),
            attempts: Mutex::default(),
        }
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

    fn record(
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
    async fn read(&self, request: Request, is_async: bool) -> Result<(HeaderMap, Bytes, Value), Refusal> {
        let (parts, body) = request.into_parts();
        let read = async {
            let body = read_body(&parts.headers, body).await?;
            let query = parse_query(&body)?;
            if is_async {
                check_callback(&query)?;
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
    fn start_job(
        self: &Arc<Self>,
        submission: Submission,
        behaviour: Behaviour,
        start: tokio::time::Instant,
        acknowledged: Option<WhenSent>,
    ) {
        let work = Work::of(&behaviour, time_limit(&submission));
        let mut job = Job { submission, payload: behaviour.payload.clone(), work, done: false };
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

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/asyncquery", post(asyncquery))
        .route("/query", post(query))
        .route("/rehydrate", post(rehydrate))
        .route("/asyncquery_status/{job_id}", get(status))
        .route("/response/{job_id}", get(response))
        .route("/stats", get(stats))
        .route("/readyz", get(|| async { "ready" }))
        // Bodies are bounded where they are read, before and after decompression.
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}

async fn asyncquery(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refusal> {
    let (headers, body, query) = shared.read(request, true).await?;
    let arrival = tokio::time::Instant::now();
    let submission = shared.record(&shared.submissions, headers, body, query);
    let behaviour = lock(&shared.plan).clone().behaviour(&submission);
    tracing::info!(order = submission.order, job_id = submission.job_id, "sub-query taken");
    let ack_at = arrival + behaviour.ack_delay;
    let job_id = submission.job_id.clone();
    let ack = behaviour.ack.clone();
    let (sent, when_sent) = ack::channel();
    if behaviour.runs() {
        let (start, acknowledged) = match (behaviour.starts, &ack) {
            (WorkStarts::OnArrival, _) | (_, Ack::Never) => (arrival, None),
            (WorkStarts::WithAck, _) => (ack_at, Some(when_sent)),
        };
        shared.start_job(submission, behaviour, start, acknowledged);
    }
    tokio::time::sleep_until(ack_at).await;
    Ok(match ack {
        Ack::Accept(status) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, ack::body(accepted(&job_id), sent)).into_response()
        }
        Ack::Refuse { status, headers, body } => (status, headers, body).into_response(),
        Ack::HangUp => HangUp.into_response(),
        // Ends when the client gives up, which drops this future.
        Ack::Never => std::future::pending().await,
    })
}

fn accepted(job_id: &str) -> String {
    let description = "Query has been queued for processing.";
    json!({ "status": "Accepted", "description": description, "job_id": job_id }).to_string()
}

async fn query(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refusal> {
    let (headers, body, query) = shared.read(request, false).await?;
    let submission = shared.record(&shared.sync_queries, headers, body, query);
    let behaviour = lock(&shared.plan).clone().behaviour(&submission);
    tokio::time::sleep(behaviour.ack_delay).await;
    match behaviour.ack {
        Ack::Accept(_) => {}
        Ack::Refuse { status, headers, body } => return Ok((status, headers, body).into_response()),
        Ack::HangUp => return Ok(HangUp.into_response()),
        Ack::Never => std::future::pending().await,
    }
    let work = Work::of(&behaviour, time_limit(&submission));
    tokio::time::sleep(work.takes).await;
    let plain = Behaviour { encoding: super::plan::Encoding::Identity, ..behaviour };
    let job = Job { submission, payload: plain.payload.clone(), work, done: true };
    let body = wire_body(&job, &plain, &shared.answers).map(|body| body.bytes);
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok(body.map_or_else(
        || StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        |body| (json, body).into_response(),
    ))
}

async fn rehydrate(State(shared): State<Arc<Shared>>, request: Request) -> Result<Json<Value>, Refusal> {
    let (parts, body) = request.into_parts();
    let body = read_body(&parts.headers, body).await?;
    let mut value: Value = serde_json::from_slice(&body).map_err(|_| Refusal::Unreadable)?;
    shared.rehydrations.push(());
    // A bare knowledge graph, or one inside a message, comes back the way it came.
    let places = ["/message/knowledge_graph", "/knowledge_graph", ""];
    let place = places.into_iter().find(|place| value.pointer(place).is_some());
    if let Some(graph) = place.and_then(|place| value.pointer_mut(place)) {
        answers::rehydrate(graph);
    }
    Ok(Json(value))
}

async fn status(
    State(shared): State<Arc<Shared>>,
    Path(job_id): Path<String>,
    headers: HeaderMap,
) -> Response {
    shared.lookups.push(job_id.clone());
    let Some(done) = lock(&shared.jobs).get(&job_id).map(|job| job.done) else { return unknown(&job_id) };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1");
    let (status, description) = state_of(done);
    Json(json!({
        "status": status,
        "description": description,
        "logs": [],
        "response_url": format!("http://{host}/response/{job_id}"),
    }))
    .into_response()
}

async fn response(State(shared): State<Arc<Shared>>, Path(job_id): Path<String>) -> Response {
    shared.lookups.push(job_id.clone());
    let Some(job) = lock(&shared.jobs).get(&job_id).cloned() else { return unknown(&job_id) };
    if !job.done {
        let (status, description) = state_of(false);
        return Json(json!({ "status": status, "description": description, "logs": [] })).into_response();
    }
    match job.response(&shared.answers) {
        Ok(response) => Json(response).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn state_of(done: bool) -> (&'static str, &'static str) {
    if done { ("Completed", "The job has finished.") } else { ("Running", "Job is running.") }
}

fn unknown(job_id: &str) -> Response {
    let description = format!("The job {job_id} was not found; it may have expired.");
    let body = json!({ "status": "Not Found", "description": description, "logs": [] });
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

async fn stats(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let callbacks = shared.callbacks.snapshot();
    let last = callbacks.iter().map(|record| record.ended_at).max();
    let last = last.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs_f64() * 1e3);
    for record in callbacks {
        let outcome = record.status().map_or_else(|| "failed".to_owned(), |status| status.to_string());
        *outcomes.entry(outcome).or_default() += 1;
    }
    Json(json!({
        "submissions": shared.submissions.total(),
        "sync_queries": shared.sync_queries.total(),
        "rehydrations": shared.rehydrations.total(),
        "refusals": shared.refusals.total(),
        "callbacks": shared.callbacks.total(),
        "callback_outcomes": outcomes,
        "last_callback_ended_ms": last,
    }))
}
