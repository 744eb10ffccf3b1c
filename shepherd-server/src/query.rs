//! `POST /{ara}/asyncquery` and `POST /{ara}/query`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use budget::Deadline;
use runtime::Wait;
use serde::Serialize;
use state::{JobState, QueryId, QueryRecord};

use crate::app::Gateway;
use crate::error::ApiError;
use crate::hang_up::HangUp;
use crate::intake::{self, Mode};
use crate::status;

/// TRAPI `AsyncQueryResponse`.
#[derive(Serialize)]
pub(crate) struct Accepted {
    status: &'static str,
    description: &'static str,
    job_id: String,
}

/// Takes a query whose response is posted to the client's callback.
pub(crate) async fn asyncquery(
    State(gateway): State<Arc<Gateway>>,
    Path(ara): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Accepted>, ApiError> {
    let query = intake::examine(&gateway, &ara, &headers, body, Mode::Async).await?;
    let id = intake::new_id(&gateway);
    query.store(&gateway, id, &headers).await?;
    Ok(Json(Accepted {
        status: "Accepted",
        description: "The query was accepted; its response will be posted to the callback",
        job_id: id.to_string(),
    }))
}

/// Takes a query whose client holds the connection until the response is there.
pub(crate) async fn query(
    State(gateway): State<Arc<Gateway>>,
    Path(ara): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let place = gateway.admission.held_connection()?;
    let query = intake::examine(&gateway, &ara, &headers, body, Mode::Sync).await?;
    let id = intake::new_id(&gateway);
    // an event that comes before the wait must not be missed
    let wait = gateway.waits.register(id);
    let hang_up = HangUp::guard(&gateway, id, place);
    let deadline = query.store(&gateway, id, &headers).await?;
    drop(headers);
    let record = until_ended(&gateway, id, deadline, &wait).await?;
    let response = status::sync_response(&gateway, &record)?;
    hang_up.answered();
    Ok(response)
}

/// Waits for the event that the query has ended, at most until its deadline. That Redis is away for a while
/// ends no wait: the query was accepted.
async fn until_ended(
    gateway: &Gateway,
    id: QueryId,
    deadline: Option<Deadline>,
    wait: &Wait,
) -> Result<QueryRecord, ApiError> {
    /// A lost event costs at most this long.
    const RECHECK: Duration = Duration::from_secs(20);
    loop {
        let left = deadline.map_or(RECHECK, |deadline| deadline.remaining(gateway.clock.now()));
        if left.is_zero() {
            return ended(gateway, id).await?.ok_or(ApiError::NotInTime);
        }
        let woken = tokio::time::timeout(left.min(RECHECK), wait.woken()).await;
        match ended(gateway, id).await {
            Ok(Some(record)) => return Ok(record),
            Ok(None) => {}
            // an event follows when it is back
            Err(ApiError::State(error)) if error.is_transient() => {
                tracing::warn!(query = %id, "cannot look at query {id}: {}", runtime::Causes(&error));
            }
            Err(error) => return Err(error),
        }
        if woken.is_ok() {
            tracing::debug!(query = %id, "woken for query {id}, which goes on");
        }
    }
}

async fn ended(gateway: &Gateway, id: QueryId) -> Result<Option<QueryRecord>, ApiError> {
    let record = gateway.store.query(id).await.map_err(ApiError::State)?.ok_or(ApiError::Lost)?;
    match record.state {
        JobState::Queued | JobState::Running => Ok(None),
        JobState::Completed | JobState::Failed | JobState::Cancelled => Ok(Some(record)),
    }
}
