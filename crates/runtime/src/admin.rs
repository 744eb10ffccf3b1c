//! Endpoints for operators: is this process alive, can it do its work, and what has it done?

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use meters::Exposition;
use state::Store;
use tokio::net::TcpListener;

use crate::process::Startup;
use crate::serve::serve;
use crate::shutdown::Shutdown;

/// Only probes and operators come here.
const MAX_CONNECTIONS: usize = 100;

/// What the health of a process depends on.
#[derive(Clone)]
pub struct Health {
    /// Where its state is.
    pub store: Store,
    /// Whether it is stopping.
    pub shutdown: Shutdown,
    /// What it has counted and timed.
    pub metrics: Exposition,
}

impl Health {
    /// That of the process that `startup` describes.
    pub fn of(startup: &Startup) -> Self {
        Self {
            store: startup.store.clone(),
            shutdown: startup.shutdown.clone(),
            metrics: startup.metrics.clone(),
        }
    }
}

/// `/livez` tells that the process runs, whatever Redis does: a restart would not bring Redis back.
/// `/readyz` tells whether it can take work, `/metrics` what it has done, in Prometheus' text format.
pub fn health_router(health: Health) -> Router {
    Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(Arc::new(health))
}

async fn readyz(State(health): State<Arc<Health>>) -> (StatusCode, &'static str) {
    const PATIENCE: Duration = Duration::from_secs(1);
    if health.shutdown.drain.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match tokio::time::timeout(PATIENCE, health.store.ping()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n"),
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "Redis does not answer\n"),
    }
}

async fn metrics(State(health): State<Arc<Health>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], health.metrics.render())
}

/// Serves the health endpoints of a worker until it aborts.
pub(crate) async fn serve_health(address: SocketAddr, health: Health) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let end = health.shutdown.abort.clone();
    let app = health_router(health);
    tokio::spawn(async move { serve(listener, app, MAX_CONNECTIONS, &end, &end).await });
    Ok(())
}
