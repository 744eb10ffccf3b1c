//! Routes and what their handlers share.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::get;
use axum::{Json, Router};
use budget::{Budgets, Clock};
use runtime::{CallbackPolicy, Health, Settings, Startup, SystemClock, Waits, health_router};
use state::{Events, Store};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::admission::Admission;
use crate::meta_knowledge_graph::{self, MetaKnowledgeGraph};
use crate::openapi::{self, Documents};
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
    pub(crate) meta_knowledge_graph: MetaKnowledgeGraph,
    health: Health,
}

impl Gateway {
    pub(crate) fn new(startup: &Startup) -> Self {
        let settings = &startup.settings;
        meters::callbacks_started();
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
            meta_knowledge_graph: MetaKnowledgeGraph::new(
                startup.http.clone(),
                &settings.sync_kg_retrieval_url,
            ),
            health: Health::of(startup),
        }
    }
}

/// The routes that the service is used by, and what they are for.
fn routes() -> OpenApiRouter<Arc<Gateway>> {
    OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(query::asyncquery))
        .routes(routes!(query::query))
        .routes(routes!(callback::callback))
        .routes(routes!(status::ara_status))
        .routes(routes!(status::ara_response))
        .routes(routes!(status::status))
        .routes(routes!(status::response))
        .routes(routes!(meta_knowledge_graph::whole))
        .routes(routes!(meta_knowledge_graph::of_ara))
}

/// The description of all routes.
#[cfg(test)]
pub(crate) fn described() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

/// All routes of the service.
pub(crate) fn router(gateway: Gateway, settings: &Settings) -> Router {
    let health = health_router(gateway.health.clone());
    let (routes, paths) = routes().split_for_parts();
    routes
        .merge(Documents::new(&paths, settings).ui())
        .route("/test_data.json", get(|| async { Json(openapi::test_data()) }))
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
