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
use utoipa::{IntoResponses, ToSchema};

use crate::app::Gateway;
use crate::ara::Ara;
use crate::error::{ApiError, ErrorBody};
use crate::hang_up::HangUp;
use crate::intake::{self, Mode};
use crate::openapi::{self, schemas};
use crate::status;

/// TRAPI `AsyncQueryResponse`.
#[derive(Serialize, ToSchema)]
#[schema(as = AsyncQueryResponse)]
pub(crate) struct Accepted {
    status: &'static str,
    description: &'static str,
    job_id: String,
}

/// How a query can be refused.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "described, never made")]
enum Refused {
    #[response(status = 400, description = "a field of the query is wrong, or the body is broken")]
    Invalid(ErrorBody),
    #[response(status = 404, description = "no such persona")]
    NoSuchAra(ErrorBody),
    #[response(status = 408, description = "the body did not arrive in time")]
    Slow(ErrorBody),
    #[response(status = 413, description = "the body is too large")]
    TooLarge(ErrorBody),
    #[response(status = 415, description = "neither JSON nor a known Content-Encoding")]
    WrongType(ErrorBody),
    #[response(status = 422, description = "no JSON, nested too deeply, or an unusable callback")]
    NotAQuery(ErrorBody),
    #[response(status = 429, description = "too many requests at once: see Retry-After")]
    TooMany(ErrorBody),
    #[response(status = 503, description = "no room or no Redis: see Retry-After")]
    Unavailable(ErrorBody),
}

/// Takes a query whose response is posted to the client's callback.
#[utoipa::path(
    post,
    path = "/{ara}/asyncquery",
    tag = "translator",
    params(("ara" = Ara, Path, description = "the persona")),
    request_body(content = schemas::AsyncQuery, example = json!(openapi::example_async_query())),
    responses(
        (status = 200, description = "the query is stored and will be answered", body = Accepted),
        Refused,
    )
)]
pub(crate) async fn asyncquery(
    State(gateway): State<Arc<Gateway>>,
    Path(ara): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Accepted>, ApiError> {
    let id = intake::new_id(&gateway);
    counted(&ara, accept(&gateway, &ara, &headers, body, id).await)?;
    Ok(Json(Accepted {
        status: "Accepted",
        description: "The query was accepted; its response will be posted to the callback",
        job_id: id.to_string(),
    }))
}

async fn accept(
    gateway: &Arc<Gateway>,
    ara: &str,
    headers: &HeaderMap,
    body: Body,
    id: QueryId,
) -> Result<(), ApiError> {
    let query = intake::examine(gateway, ara, headers, body, Mode::Async).await?;
    query.store(gateway, id, headers).await?;
    Ok(())
}

/// Counts a query that is refused.
fn counted<T>(ara: &str, outcome: Result<T, ApiError>) -> Result<T, ApiError> {
    if let Err(error) = &outcome {
        meters::query_refused(ara.parse().map_or("", Ara::as_str), error.code());
    }
    outcome
}

/// Takes a query whose client holds the connection until the response is there.
#[utoipa::path(
    post,
    path = "/{ara}/query",
    tag = "translator",
    params(("ara" = Ara, Path, description = "the persona")),
    request_body(content = schemas::Query, example = json!(openapi::example_query())),
    responses(
        (status = 200, description = "the answer, or the reason why there is none", body = schemas::Response),
        Refused,
        (status = 500, description = "an operation failed; with what was gathered", body = schemas::Response),
        (status = 502, description = "Retriever cannot be asked; in TRAPI", body = schemas::Response),
        (status = 504, description = "nothing came in time; in TRAPI where there was time for it", body = schemas::Response),
    )
)]
pub(crate) async fn query(
    State(gateway): State<Arc<Gateway>>,
    Path(ara): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let place = counted(&ara, gateway.admission.held_connection())?;
    let query = counted(&ara, intake::examine(&gateway, &ara, &headers, body, Mode::Sync).await)?;
    let id = intake::new_id(&gateway);
    // an event that comes before the wait must not be missed
    let wait = gateway.waits.register(id);
    let hang_up = HangUp::guard(&gateway, id, place);
    let deadline = counted(&ara, query.store(&gateway, id, &headers).await)?;
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
