//! Connections: accepted while there is room, closed when they are slow, drained at the end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use runtime::Shutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections open at once; more wait in the listener's backlog.
const MAX_CONNECTIONS: usize = 20_000;
/// A client that has not sent its headers by then is cut off; the usual server has no such limit.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);
/// When no descriptor is free, accepting pauses instead of spinning.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until the process drains, then lets open requests end until it aborts.
pub(crate) async fn serve(listener: TcpListener, app: Router, shutdown: &Shutdown) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // the semaphore is never closed
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
        let accepted = tokio::select! {
            () = shutdown.drain.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => connection(stream, app.clone(), &graceful, permit),
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = shutdown.abort.cancelled() => tracing::warn!("open connections are cut off"),
    }
}

fn connection(stream: TcpStream, app: Router, graceful: &GracefulShutdown, permit: OwnedSemaphorePermit) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY not set: {error}");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        let _permit = permit;
        if let Err(error) = connection.await {
            tracing::debug!("a connection ended early: {error}");
        }
    });
}
