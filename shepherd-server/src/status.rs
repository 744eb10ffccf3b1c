//! How far a query is, and its response.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use state::{JobState, Progress, QueryRecord, StoredResponse};
use utoipa::ToSchema;

use crate::app::Gateway;
use crate::ara::Ara;
use crate::error::{ApiError, ErrorBody};
use crate::openapi::schemas;

/// TRAPI `AsyncQueryStatusResponse`, and how far the sub-queries are.
#[derive(Serialize, ToSchema)]
#[schema(as = AsyncQueryStatusResponse)]
pub(crate) struct JobStatus {
    status: &'static str,
    description: String,
    #[schema(value_type = Vec<schemas::LogEntry>)]
    logs: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_url: Option<String>,
    progress: SubQueryProgress,
}

/// How far the sub-queries are.
#[derive(Serialize, ToSchema)]
struct SubQueryProgress {
    stage: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<u64>,
    sub_queries: Counts,
}

/// How many sub-queries fared how.
#[derive(Serialize, ToSchema)]
struct Counts {
    sent: u32,
    accepted: u32,
    returned: u32,
    failed: u32,
    removed: u32,
    outstanding: u32,
    late: u32,
}

/// How far a query is.
#[utoipa::path(
    get,
    path = "/asyncquery_status/{job_id}",
    tag = "jobs",
    params(("job_id" = String, Path, description = "as the acceptance told it")),
    responses(
        (status = 200, description = "how far it is", body = JobStatus),
        (status = 404, description = "unknown or expired", body = ErrorBody),
        (status = 503, description = "no Redis: see Retry-After", body = ErrorBody),
    )
)]
pub(crate) async fn status(
    State(gateway): State<Arc<Gateway>>,
    Path(job_id): Path<String>,
) -> Result<Json<JobStatus>, ApiError> {
    let record = find(&gateway, None, &job_id).await?;
    tell(&gateway, record).await
}

/// How far a query of a persona is.
#[utoipa::path(
    get,
    path = "/{ara}/asyncquery_status/{job_id}",
    tag = "jobs",
    params(
        ("ara" = Ara, Path, description = "the persona"),
        ("job_id" = String, Path, description = "as the acceptance told it"),
    ),
    responses(
        (status = 200, description = "how far it is", body = JobStatus),
        (status = 404, description = "unknown or expired", body = ErrorBody),
        (status = 503, description = "no Redis: see Retry-After", body = ErrorBody),
    )
)]
pub(crate) async fn ara_status(
    State(gateway): State<Arc<Gateway>>,
    Path((ara, job_id)): Path<(String, String)>,
) -> Result<Json<JobStatus>, ApiError> {
    let record = find(&gateway, Some(&ara), &job_id).await?;
    tell(&gateway, record).await
}

/// The response to a query.
#[utoipa::path(
    get,
    path = "/response/{job_id}",
    tag = "jobs",
    params(("job_id" = String, Path, description = "as the acceptance told it")),
    responses(
        (status = 200, description = "the response", body = schemas::Response),
        (status = 202, description = "there is none yet", body = Pending),
        (status = 404, description = "unknown or expired", body = ErrorBody),
        (status = 503, description = "no Redis: see Retry-After", body = ErrorBody),
    )
)]
pub(crate) async fn response(
    State(gateway): State<Arc<Gateway>>,
    Path(job_id): Path<String>,
) -> Result<Response, ApiError> {
    let record = find(&gateway, None, &job_id).await?;
    Ok(stored_or_pending(&gateway, &record))
}

/// The response to a query of a persona.
#[utoipa::path(
    get,
    path = "/{ara}/response/{job_id}",
    tag = "jobs",
    params(
        ("ara" = Ara, Path, description = "the persona"),
        ("job_id" = String, Path, description = "as the acceptance told it"),
    ),
    responses(
        (status = 200, description = "the response", body = schemas::Response),
        (status = 202, description = "there is none yet", body = Pending),
        (status = 404, description = "unknown or expired", body = ErrorBody),
        (status = 503, description = "no Redis: see Retry-After", body = ErrorBody),
    )
)]
pub(crate) async fn ara_response(
    State(gateway): State<Arc<Gateway>>,
    Path((ara, job_id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let record = find(&gateway, Some(&ara), &job_id).await?;
    Ok(stored_or_pending(&gateway, &record))
}

/// What `/query` answers with once the query has ended.
pub(crate) fn sync_response(gateway: &Gateway, record: &QueryRecord) -> Result<Response, ApiError> {
    let bytes = record.response_bytes.ok_or(ApiError::NotInTime)?;
    let status = record.http_status.and_then(|code| StatusCode::from_u16(code).ok());
    Ok(stored(gateway, record, bytes, status.unwrap_or(StatusCode::OK)))
}

async fn find(gateway: &Gateway, ara: Option<&str>, job_id: &str) -> Result<QueryRecord, ApiError> {
    let id = job_id.parse().map_err(|_| ApiError::NoSuchJob)?;
    let record = gateway.store.query(id).await.map_err(ApiError::State)?;
    record.filter(|record| ara.is_none_or(|ara| ara == record.ara)).ok_or(ApiError::NoSuchJob)
}

async fn tell(gateway: &Gateway, record: QueryRecord) -> Result<Json<JobStatus>, ApiError> {
    let logs = gateway.store.logs(record.id).await.map_err(ApiError::State)?;
    let logs = logs.into_iter().filter_map(|log| RawValue::from_string(log.0).ok()).collect();
    let status = match record.state {
        JobState::Queued => "Queued",
        JobState::Running => "Running",
        JobState::Completed => "Completed",
        JobState::Failed | JobState::Cancelled => "Failed",
    };
    let url = || format!("{}/{}/response/{}", gateway.server_url, record.ara, record.id);
    Ok(Json(JobStatus {
        status,
        description: describe(&record),
        logs,
        response_url: record.response_bytes.map(|_| url()),
        progress: SubQueryProgress {
            stage: record.stage,
            deadline_ms: record.lookup_deadline.map(|deadline| deadline.instant().0),
            sub_queries: counts(record.progress),
        },
    }))
}

fn describe(record: &QueryRecord) -> String {
    let Progress { sub_queries, outstanding, .. } = record.progress;
    match (record.state, &record.delivery_problem, &record.description) {
        (_, Some(problem), _) => problem.clone(),
        (_, None, Some(description)) => description.clone(),
        (JobState::Queued, None, None) => "waiting for a worker".to_owned(),
        (JobState::Running, None, None) if record.lookup_closed.is_none() => {
            format!("{outstanding} of {sub_queries} sub-queries are outstanding")
        }
        (JobState::Running, None, None) => format!("at {}", record.stage),
        (JobState::Completed | JobState::Failed | JobState::Cancelled, None, None) => "ended".to_owned(),
    }
}

fn counts(progress: Progress) -> Counts {
    let Progress { sub_queries, accepted, returned, failed, removed, outstanding, late } = progress;
    Counts { sent: sub_queries, accepted, returned, failed, removed, outstanding, late }
}

/// There is no response yet.
#[derive(Serialize, ToSchema)]
pub(crate) struct Pending {
    status: &'static str,
    description: &'static str,
}

fn stored_or_pending(gateway: &Gateway, record: &QueryRecord) -> Response {
    match record.response_bytes {
        Some(bytes) => stored(gateway, record, bytes, StatusCode::OK),
        None if record.state.is_over() => ApiError::NoSuchJob.into_response(),
        None => {
            let pending = Pending { status: "Running", description: "the response is not there yet" };
            (StatusCode::ACCEPTED, Json(pending)).into_response()
        }
    }
}

/// The stored response, chunk by chunk.
fn stored(gateway: &Gateway, record: &QueryRecord, bytes: u64, status: StatusCode) -> Response {
    let chunks = gateway.store.read_response(&StoredResponse { query: record.id, bytes });
    let mut response = (status, Body::from_stream(chunks)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    response
}
