//! The routes of the double.

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::ack;
use super::plan::{Ack, WorkStarts};
use super::record::Submission;
use super::rehydration::rehydrate;
use super::request::Refusal;
use super::shared::Shared;
use crate::serve::HangUp;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/asyncquery", post(asyncquery))
        .route("/query", post(query))
        .route("/arax/query", post(arax_query))
        .route("/rehydrate", post(rehydrate))
        .route("/asyncquery_status/{job_id}", get(status))
        .route("/response/{job_id}", get(response))
        .route("/meta_knowledge_graph", get(meta_knowledge_graph))
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
    let behaviour = shared.behaviour(&submission);
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

async fn meta_knowledge_graph(State(shared): State<Arc<Shared>>) -> Json<Value> {
    shared.meta_requests.push(());
    Json(json!({
        "nodes": {
            "biolink:SmallMolecule": { "id_prefixes": ["CHEBI"] },
            "biolink:Disease": { "id_prefixes": ["MONDO"] },
        },
        "edges": [{
            "subject": "biolink:SmallMolecule",
            "predicate": "biolink:treats",
            "object": "biolink:Disease",
        }],
    }))
}

async fn query(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refusal> {
    let (headers, body, query) = shared.read(request, false).await?;
    let submission = shared.record(&shared.sync_queries, headers, body, query);
    Ok(answer_on_connection(&shared, submission, |response| response).await)
}

/// The ARAX service in the same place, which scores its answers itself.
async fn arax_query(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refusal> {
    let (headers, body, query) = shared.read(request, false).await?;
    let submission = shared.record(&shared.arax_queries, headers, body, query);
    Ok(answer_on_connection(&shared, submission, scored).await)
}

/// An answer whose results score less and less.
fn scored(response: Bytes) -> Bytes {
    let Ok(mut response) = serde_json::from_slice::<Value>(&response) else { return response };
    let results = response.pointer_mut("/message/results").and_then(Value::as_array_mut);
    for (nth, result) in (1_u32..).zip(results.into_iter().flatten()) {
        if let Some(analysis) = result.pointer_mut("/analyses/0") {
            analysis["score"] = json!(1.0 / f64::from(nth));
            analysis["resource_id"] = json!("infores:arax");
        }
    }
    response.to_string().into()
}

async fn answer_on_connection(
    shared: &Shared,
    submission: Submission,
    adapt: impl FnOnce(Bytes) -> Bytes,
) -> Response {
    let behaviour = shared.behaviour(&submission);
    tokio::time::sleep(behaviour.ack_delay).await;
    match behaviour.ack {
        Ack::Accept(_) => {}
        Ack::Refuse { status, headers, body } => return (status, headers, body).into_response(),
        Ack::HangUp => return HangUp.into_response(),
        Ack::Never => std::future::pending().await,
    }
    let body = shared.answer_in_place(submission, behaviour).await;
    let json = [(header::CONTENT_TYPE, "application/json")];
    body.map_or_else(
        || StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        |body| (json, adapt(body)).into_response(),
    )
}

async fn status(
    State(shared): State<Arc<Shared>>,
    Path(job_id): Path<String>,
    headers: HeaderMap,
) -> Response {
    shared.lookups.push(job_id.clone());
    let Some(done) = shared.job(&job_id).map(|job| job.done) else { return unknown(&job_id) };
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
    let Some(job) = shared.job(&job_id) else { return unknown(&job_id) };
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
