//! Routes and what their handlers share.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};
use budget::{Budgets, Clock};
use runtime::{CallbackPolicy, Health, Startup, SystemClock, Waits, health_router};
use state::{Events, Store};

use crate::admission::Admission;
use crate::{access, callback, framing, linger, query, status};

/// What all handlers share.
pub(crate) struct Gateway {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) budgets: Budgets,
    /// Connections that are held for an answer.
    pub(crate) waits: Waits,
    pub(crate) admission: Arc<Admission>,
    pub(crate) callback_policy: CallbackPolicy,
    /// Where this service can be found, without a slash at its end.
    pub(crate) server_url: String,
    pub(crate) partitions: u16,
    pub(crate) query_max_bytes: usize,
    pub(crate) callback_max_bytes: usize,
    /// How long a callback is held while Redis is away; Retriever hangs up after 60 s.
    pub(crate) callback_patience: Duration,
    health: Health,
}

impl Gateway {
    pub(crate) fn new(startup: &Startup) -> Self {
        let settings = &startup.settings;
        let waits = Waits::default();
        tokio::spawn(waits.clone().listen(startup.store.clone(), Events::Finished));
        let admission = Arc::new(Admission::new(settings));
        tokio::spawn(Arc::clone(&admission).watch_memory(startup.store.clone()));
        Self {
            store: startup.store.clone(),
            clock: Arc::new(SystemClock),
            budgets: settings.budgets,
            waits,
            admission,
            callback_policy: settings.callback_policy.clone(),
            server_url: settings.server_url.trim_end_matches('/').to_owned(),
            partitions: settings.redis.partitions,
            query_max_bytes: settings.query_max_request_bytes,
            callback_max_bytes: settings.callback_max_request_bytes,
            callback_patience: Duration::from_secs(45),
            health: Health { store: startup.store.clone(), shutdown: startup.shutdown.clone() },
        }
    }
}

/// All routes of the service.
pub(crate) fn router(gateway: Gateway) -> Router {
    let health = health_router(gateway.health.clone());
    Router::new()
        .route("/{ara}/asyncquery", post(query::asyncquery))
        .route("/{ara}/query", post(query::query))
        .route("/{ara}/callback/{callback_id}", post(callback::callback))
        .route("/{ara}/asyncquery_status/{job_id}", get(status::ara_status))
        .route("/{ara}/response/{job_id}", get(status::ara_response))
        .route("/asyncquery_status/{job_id}", get(status::status))
        .route("/response/{job_id}", get(status::response))
        .fallback(crate::error::no_such_route)
        .method_not_allowed_fallback(crate::error::no_such_method)
        // each handler bounds what it reads
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::new(gateway))
        .merge(health)
        .layer(middleware::from_fn(linger::take_rest))
        .layer(middleware::from_fn(framing::check))
        .layer(middleware::from_fn(access::log))
}
