//! From a request body to a query that is stored and queued.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderMap;
use budget::{EpochMillis, TimeoutParameter};
use bytes::Bytes;
use rand::Rng;
use runtime::{CallbackPolicy, ForbiddenUrl, body_work, log_entry};
use state::{Delivery, NewQuery, QueryId, StoredLog};
use tracing::Instrument;
use trapi::{Invalid, LogLevel, Problem, Query};
use url::Url;

use crate::admission::Place;
use crate::app::Gateway;
use crate::ara::Ara;
use crate::body;
use crate::error::ApiError;
use crate::trace;

/// Where the response is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Async,
    Sync,
}

/// A query that has passed every check.
pub(crate) struct Examined {
    ara: Ara,
    plan: Vec<String>,
    delivery: Delivery,
    timeout: TimeoutParameter,
    body: Bytes,
    /// The body's place, which is free again when the query is stored.
    _place: Place,
}

/// Reads and examines a request.
pub(crate) async fn examine(
    gateway: &Gateway,
    ara: &str,
    headers: &HeaderMap,
    body: Body,
    mode: Mode,
) -> Result<Examined, ApiError> {
    let ara: Ara = ara.parse().map_err(|()| ApiError::NoSuchAra)?;
    body::check_content_type(headers)?;
    let encoding = body::wire_encoding(headers)?;
    let limit = gateway.query_max_bytes;
    let place = gateway.admission.query().await?;
    let wire = body::read(headers, body, limit).await?;
    let size = wire.len();
    let policy = gateway.callback_policy.clone();
    let examined = body_work(size, encoding, move || {
        let body = runtime::decode(&wire, encoding, limit).map_err(ApiError::UnusableBody)?;
        let query = Query::parse(&body)?;
        let question = query.query_graph.examine()?;
        let plan = ara.plan(&query, &question)?;
        // a plan without a merge works on the client's own message
        if !plan.iter().any(|operation| operation == "merge") {
            let text = std::str::from_utf8(&body).map_err(|_| Invalid::new("", Problem::NotUtf8))?;
            answers::message::check(text)?;
        }
        let delivery = match mode {
            Mode::Async => Delivery::Callback(callback_url(&query, &policy)?),
            Mode::Sync => Delivery::Connection,
        };
        let timeout = query.parameters.get("timeout").map(|raw| raw.get().to_owned());
        let timeout = TimeoutParameter::read(timeout.as_deref());
        Ok(Examined { ara, plan, delivery, timeout, body, _place: place })
    });
    examined.await.ok_or(ApiError::BrokenBody)?
}

fn callback_url(query: &Query, policy: &CallbackPolicy) -> Result<String, ApiError> {
    let field = "callback";
    let text = query.callback.as_deref().ok_or(ApiError::Field { field, problem: "is missing" })?;
    let url = Url::parse(text.trim()).map_err(|_| ApiError::CallbackUrl(ForbiddenUrl::Scheme))?;
    policy.check(&url).map_err(ApiError::CallbackUrl)?;
    Ok(url.into())
}

/// A fresh id for a query, so that a waiter can be registered before the query is stored.
pub(crate) fn new_id(gateway: &Gateway) -> QueryId {
    let mut rng = rand::rng();
    let partition = rng.random_range(0..gateway.partitions.max(1));
    QueryId::random(partition, &mut rng)
}

impl Examined {
    /// Stores and queues the query under `id`; on success it will be answered. Its body is not held any
    /// longer, however long the answer takes.
    pub(crate) async fn store(
        self,
        gateway: &Arc<Gateway>,
        id: QueryId,
        headers: &HeaderMap,
    ) -> Result<Option<budget::Deadline>, ApiError> {
        let intake = gateway.clock.now();
        let budget = match self.delivery {
            Delivery::Callback(_) => gateway.budgets.async_query(intake, self.timeout),
            Delivery::Connection => gateway.budgets.sync_query(intake, self.timeout),
        };
        let operation = self.plan.first().map(String::as_str).unwrap_or_default();
        let span = tracing::info_span!(
            "queue.send",
            otel.name = format!("send {operation}"),
            otel.kind = "producer",
            messaging.system = "redis",
            messaging.operation.type = "send",
            messaging.destination.name = operation,
            query.id = %id,
        );
        let traceparent = span.in_scope(|| trace::traceparent(headers));
        let query = NewQuery {
            id,
            ara: self.ara.as_str(),
            delivery: &self.delivery,
            body: &self.body,
            intake,
            budget,
            plan: &self.plan,
            traceparent: &traceparent,
            logs: &self.first_logs(id, intake),
        };
        // the id makes a second try harmless, and tells when the first one had succeeded after all
        let stored = async {
            match gateway.store.accept(&query).await {
                Err(error @ state::StateError::Redis { .. }) => {
                    tracing::warn!("storing a query failed, trying once more: {}", runtime::Causes(&error));
                    gateway.store.accept(&query).await
                }
                other => other,
            }
        };
        stored.instrument(span).await.map_err(ApiError::State)?;
        let mode = match self.delivery {
            Delivery::Callback(_) => meters::Mode::Async,
            Delivery::Connection => meters::Mode::Sync,
        };
        meters::query_accepted(self.ara.as_str(), mode);
        meters::body(meters::BodyKind::Query, self.body.len() as u64);
        tracing::info!(
            query = %id,
            ara = self.ara.as_str(),
            traceparent,
            "accepted query {id} for {}, {} bytes",
            self.ara.as_str(),
            self.body.len()
        );
        Ok(budget.deadline)
    }

    fn first_logs(&self, id: QueryId, now: EpochMillis) -> Vec<StoredLog> {
        let accepted = format!("Query {id} accepted for {}", self.ara.as_str());
        let mut logs = vec![log_entry(now, LogLevel::Info, accepted)];
        if let TimeoutParameter::Unusable(why) = self.timeout {
            logs.push(log_entry(now, LogLevel::Warning, format!("{why}; the default applies")));
        }
        logs
    }
}
