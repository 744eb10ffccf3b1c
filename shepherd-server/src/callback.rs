//! `POST /{ara}/callback/{callback_id}`: what Retriever has found.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use backon::{ExponentialBuilder, Retryable};
use budget::EpochMillis;
use meters::{BodyKind, CallbackOutcome};
use rand::Rng;
use runtime::{UnusableBody, body_work, usable_payload};
use serde::Serialize;
use state::{
    CallbackId, CallbackOwner, CallbackRefusal, CallbackReport, Kept, NewCallback, Payload, StateError,
};
use std::time::Duration;
use tracing::Instrument;
use utoipa::ToSchema;

use crate::app::Gateway;
use crate::ara::Ara;
use crate::body;
use crate::error::{ApiError, ErrorBody};
use crate::openapi::schemas;

/// The callback was taken.
#[derive(Serialize, ToSchema)]
pub(crate) struct Taken {
    status: &'static str,
    description: &'static str,
}

/// Takes a callback: 200 means that it is kept and will be in the answer.
#[utoipa::path(
    post,
    path = "/{ara}/callback/{callback_id}",
    tag = "retriever",
    params(
        ("ara" = Ara, Path, description = "the persona"),
        ("callback_id" = String, Path, description = "the one that the submission named"),
    ),
    request_body(content = schemas::Callback, description = "as JSON, also with Content-Encoding gzip or zstd"),
    responses(
        (status = 200, description = "it will be in the answer", body = Taken),
        (status = 400, description = "the body did not arrive whole", body = ErrorBody),
        (status = 404, description = "unknown or expired id", body = ErrorBody),
        (status = 408, description = "the body did not arrive in time", body = ErrorBody),
        (status = 410, description = "the lookup has closed", body = ErrorBody),
        (status = 413, description = "the body is too large", body = ErrorBody),
        (status = 415, description = "an unknown Content-Encoding", body = ErrorBody),
        (status = 422, description = "unusable: nobody waits for this sub-query any longer", body = ErrorBody),
        (status = 429, description = "too many callbacks at once: see Retry-After", body = ErrorBody),
        (status = 503, description = "no Redis: see Retry-After", body = ErrorBody),
    )
)]
pub(crate) async fn callback(
    State(gateway): State<Arc<Gateway>>,
    Path((ara, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Taken>, ApiError> {
    let taken = take(&gateway, &ara, &id, &headers, body).await;
    meters::callback(match &taken {
        Ok(Kept::Now { .. }) => CallbackOutcome::Kept,
        Ok(Kept::Before) => CallbackOutcome::Repeated,
        Err(error) => outcome(error),
    });
    let description = match taken? {
        Kept::Now { .. } => "the callback was kept",
        Kept::Before => "the callback had been kept before",
    };
    Ok(Json(Taken { status: "Success", description }))
}

async fn take(
    gateway: &Gateway,
    ara: &str,
    id: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<Kept, ApiError> {
    let _: Ara = ara.parse().map_err(|()| ApiError::NoSuchAra)?;
    let id: CallbackId = id.parse().map_err(|_| ApiError::NoSuchCallback)?;
    let now = gateway.clock.now();
    let found = patiently(gateway, || gateway.store.find_callback(id)).await?;
    let owner = found.map_err(|refusal| refused(refusal, now))?;
    if let Some(stop) = owner.retriever_stop {
        meters::callback_lateness(now.seconds_after(stop));
    }
    let span = tracing::info_span!(
        "callback.keep",
        query.id = %owner.query,
        sub_query = owner.index,
        trace_id = runtime::trace_id(&owner.traceparent),
    );
    // whatever trace the caller is in, this belongs to the query's
    runtime::join_trace(&span, &owner.traceparent);
    // held until the payload is kept, and no longer in our memory
    let _place = gateway.admission.callback().await?;
    let kept = async {
        match read(gateway, headers, body).await {
            Ok(payload) => keep(gateway, id, &owner, payload).await,
            Err(error) => {
                if let Some(reason) = unusable(&error) {
                    keep_failure(gateway, id, &owner, reason).await?;
                }
                Err(error)
            }
        }
    };
    kept.instrument(span).await
}

fn outcome(error: &ApiError) -> CallbackOutcome {
    match error {
        ApiError::NoSuchAra | ApiError::NoSuchCallback => CallbackOutcome::Unknown,
        ApiError::CallbackTooLate { .. } | ApiError::CallbackRemoved => CallbackOutcome::Late,
        ApiError::TooLarge { .. } | ApiError::UnusableBody(UnusableBody::TooLarge { .. }) => {
            CallbackOutcome::TooLarge
        }
        ApiError::UnusableBody(_) | ApiError::UnknownEncoding => CallbackOutcome::Unusable,
        _ => CallbackOutcome::Refused,
    }
}

async fn read(gateway: &Gateway, headers: &HeaderMap, body: Body) -> Result<Payload, ApiError> {
    let encoding = body::wire_encoding(headers)?;
    let limit = gateway.callback_max_bytes;
    let wire = body::read(headers, body, limit).await?;
    let (size, work) = (wire.len(), move || usable_payload(wire, encoding, limit));
    body_work(size, encoding, work).await.ok_or(ApiError::BrokenBody)?.map_err(ApiError::UnusableBody)
}

async fn keep(
    gateway: &Gateway,
    id: CallbackId,
    owner: &CallbackOwner,
    payload: Payload,
) -> Result<Kept, ApiError> {
    let (wire_bytes, bytes) = (payload.stored.len(), payload.decoded_bytes);
    let kept = report(gateway, id, owner, CallbackReport::Payload(payload)).await?;
    let (query, index) = (owner.query, owner.index);
    if let Kept::Now { outstanding } = kept {
        meters::body(BodyKind::Callback, bytes);
        tracing::info!(
            %query, index, bytes, wire_bytes, outstanding,
            "kept callback {index} of query {query}: {bytes} bytes, {outstanding} outstanding"
        );
    }
    Ok(kept)
}

/// Nobody waits any longer for a sub-query whose callback is of no use.
async fn keep_failure(
    gateway: &Gateway,
    id: CallbackId,
    owner: &CallbackOwner,
    reason: String,
) -> Result<(), ApiError> {
    let (query, index) = (owner.query, owner.index);
    tracing::warn!(%query, index, "callback {index} of query {query} is unusable: {reason}");
    report(gateway, id, owner, CallbackReport::Unusable(reason)).await.map(|_| ())
}

async fn report(
    gateway: &Gateway,
    id: CallbackId,
    owner: &CallbackOwner,
    report: CallbackReport,
) -> Result<Kept, ApiError> {
    let now = gateway.clock.now();
    // each try with a token of its own: one that seems to have failed may still be under way
    let keep = || async {
        let token = rand::rng().random();
        let callback = NewCallback { id, query: owner.query, report: report.clone(), now, token };
        match gateway.store.keep_callback(&callback).await {
            // a Redis that is full refuses it before it looks whether anybody waits for it
            Err(error) if error.is_transient() => match gateway.store.find_callback(id).await {
                Ok(Err(refusal)) => Ok(Err(refusal)),
                Ok(Ok(_)) | Err(_) => Err(error),
            },
            other => other,
        }
    };
    let kept = patiently(gateway, keep).await?;
    kept.map_err(|refusal| refused(refusal, gateway.clock.now()))
}

/// Whether a body that failed will never be usable, and why. A broken connection may be followed by
/// another try.
fn unusable(error: &ApiError) -> Option<String> {
    match error {
        ApiError::UnusableBody(_) | ApiError::TooLarge { .. } | ApiError::UnknownEncoding => {
            Some(error.to_string())
        }
        _ => None,
    }
}

fn refused(refusal: CallbackRefusal, now: EpochMillis) -> ApiError {
    match refusal {
        CallbackRefusal::Unknown => ApiError::NoSuchCallback,
        CallbackRefusal::Removed => ApiError::CallbackRemoved,
        CallbackRefusal::Closed(closed) => {
            ApiError::CallbackTooLate { late_ms: now.since(closed).as_millis() }
        }
    }
}

/// Rides out a short absence of Redis: Retriever posts a callback once and waits for the answer.
async fn patiently<T, F: Future<Output = Result<T, StateError>>>(
    gateway: &Gateway,
    call: impl FnMut() -> F,
) -> Result<T, ApiError> {
    let pauses = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(50))
        .with_max_delay(Duration::from_secs(2))
        .with_jitter()
        .with_total_delay(Some(gateway.callback_patience))
        .without_max_times();
    call.retry(pauses).when(StateError::is_transient).await.map_err(ApiError::State)
}
