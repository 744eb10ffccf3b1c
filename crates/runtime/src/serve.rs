//! Connections: accepted while there is room, closed when they are slow, drained at the end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// A client that has not sent its headers by then is cut off; the usual server has no such limit.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);
/// What headers may take of memory per connection, give or take a reallocation; more are refused with 431.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// When no descriptor is free, accepting pauses instead of spinning.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop`, then lets open requests end until `abort`. At most `connections` are open at once; more
/// wait in the listener's backlog.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    connections: usize,
    stop: &CancellationToken,
    abort: &CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(connections));
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accepted => accepted,
        };
        match accepted {
            // the semaphore is never closed
            (Err(_), _) => break,
            (Ok(permit), Ok((stream, _))) => connection(stream, app.clone(), &graceful, permit),
            (Ok(_), Err(error)) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = abort.cancelled() => tracing::warn!("open connections are cut off"),
    }
}

fn connection(stream: TcpStream, app: Router, graceful: &GracefulShutdown, permit: OwnedSemaphorePermit) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY not set: {error}");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        let _permit = permit;
        if let Err(error) = connection.await {
            tracing::debug!("a connection ended early: {error}");
        }
    });
}
