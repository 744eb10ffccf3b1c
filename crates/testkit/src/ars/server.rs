//! The callback server.

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::Delivery;
use super::policy::{Policy, Reply};
use crate::journal::{Journal, lock};

/// The ARS takes up to this much.
const MAX_BODY: usize = 1 << 30;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) policy: Mutex<Policy>,
    pub(super) deliveries: Journal<Delivery>,
    pub(super) kept: Mutex<HashMap<String, Delivery>>,
    counts: Mutex<HashMap<String, usize>>,
}

impl Shared {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy: Mutex::new(policy),
            deliveries: Journal::default(),
            kept: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    fn count(&self, key: &str) -> usize {
        let mut counts = lock(&self.counts);
        let count = counts.entry(key.to_owned()).or_default();
        *count += 1;
        *count
    }
}

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/callback/{key}", post(deliver))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}

async fn deliver(State(shared): State<Arc<Shared>>, Path(key): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY).await else { return StatusCode::BAD_REQUEST.into_response() };
    let nth = shared.count(&key);
    let delivery = shared.deliveries.push_with(|_| Delivery {
        key,
        nth,
        arrived: Instant::now(),
        headers: parts.headers,
        body,
    });
    let reply = lock(&shared.policy).clone().reply(&delivery);
    answer(&shared, delivery, reply).await
}

async fn answer(shared: &Shared, delivery: Delivery, reply: Reply) -> Response {
    // Judged before any delay: of two deliveries at once, the first one is kept.
    let (status, text) = match reply.status {
        Some(status) => (status, "the policy says so"),
        None => judge(lock(&shared.kept).get(&delivery.key), &delivery),
    };
    if reply.keeps && status.is_success() {
        lock(&shared.kept).entry(delivery.key.clone()).or_insert(delivery);
    }
    tokio::time::sleep(reply.delay).await;
    if reply.hangs {
        // Ends when the other side gives up, which drops this future.
        std::future::pending::<()>().await;
    }
    match reply.location {
        Some(location) => (status, [(LOCATION, location)], text).into_response(),
        None => (status, text).into_response(),
    }
}

/// What the ARS says to a delivery, given what it has.
fn judge(kept: Option<&Delivery>, delivery: &Delivery) -> (StatusCode, &'static str) {
    if let Some(kept) = kept {
        return if has_results(kept) {
            (StatusCode::CONFLICT, "results exist")
        } else {
            (StatusCode::OK, "already received")
        };
    }
    match delivery.json() {
        Ok(answer) if answer.get("message").is_some_and(Value::is_object) => (StatusCode::CREATED, "stored"),
        Ok(_) => (StatusCode::UNPROCESSABLE_ENTITY, "not a TRAPI response"),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "not JSON"),
    }
}

fn has_results(delivery: &Delivery) -> bool {
    let results = delivery.json().ok();
    results.is_some_and(|answer| answer["message"]["results"].as_array().is_some_and(|list| !list.is_empty()))
}
