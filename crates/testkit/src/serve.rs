//! The HTTP server under both doubles.
//!
//! hyper is driven by hand, not through `axum::serve`, because a double must also be able to do what no well-behaved
//! server does: close a connection without an answer.

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tower::Service;

/// A double could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or may not be used.
    #[error("could not listen on {addr}")]
    Bind {
        /// The address that was asked for.
        addr: SocketAddr,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The client that sends the double's own requests could not be built.
    #[error("could not prepare the double's HTTP client")]
    Client(#[source] crate::http::ClientError),
}

/// Put into a response's extensions: the connection is closed instead of sending it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HangUp;

impl IntoResponse for HangUp {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(self);
        response
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the double hangs up")]
struct HungUp;

/// A router served until it is dropped.
#[derive(Debug)]
pub(crate) struct HttpServer {
    addr: SocketAddr,
    drop_next: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl HttpServer {
    /// Serves `router` at `addr`, whose port may be 0 for a free one.
    pub(crate) async fn start(addr: SocketAddr, router: Router) -> Result<Self, ServeError> {
        let bind_error = |source| ServeError::Bind { addr, source };
        let listener = TcpListener::bind(addr).await.map_err(bind_error)?;
        let addr = listener.local_addr().map_err(bind_error)?;
        let drop_next = Arc::new(AtomicUsize::new(0));
        let accepting = tokio::spawn(accept(listener, router, Arc::clone(&drop_next)));
        Ok(Self { addr, drop_next, accepting })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Closes the next `count` connections as soon as they are made, before anything is read from them.
    pub(crate) fn drop_next_connections(&self, count: usize) {
        self.drop_next.store(count, Ordering::SeqCst);
    }

    /// Stops listening and breaks every open connection; afterwards the port refuses connections.
    pub(crate) async fn stop(&mut self) {
        self.accepting.abort();
        // Its only possible error is the cancellation just asked for.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, router: Router, drop_next: Arc<AtomicUsize>) {
    // Dropped with this task, which ends every connection of a stopped double.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if takes_one(&drop_next) => drop(stream),
                Ok((stream, _)) => { connections.spawn(serve(stream, router.clone())); }
                // Out of file handles, for example: one connection is lost, the double lives on.
                Err(error) => tracing::warn!(%error, "a double could not accept a connection"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

fn takes_one(counter: &AtomicUsize) -> bool {
    counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

async fn serve(stream: TcpStream, router: Router) {
    // Small answers should not wait for the peer's delayed acknowledgement; without the option they are only slower.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut router = router.clone();
        async move {
            let answered: Result<Response, Infallible> = router.call(request.map(Body::new)).await;
            let Ok(response) = answered;
            if response.extensions().get::<HangUp>().is_some() { Err(HungUp) } else { Ok(response) }
        }
    });
    let served =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection to a double broke");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports;
    use axum::routing::get;
    use std::time::Duration;

    fn router() -> Router {
        Router::new().route("/fine", get(|| async { "fine" })).route("/gone", get(|| async { HangUp }))
    }

    #[tokio::test]
    async fn hanging_up_leaves_the_client_without_an_answer() {
        let server = HttpServer::start(ports::loopback(0), router()).await.unwrap();
        let client = crate::http::unpooled_client(Duration::from_secs(5)).unwrap();
        let base = format!("http://{}", server.addr());
        assert_eq!(client.get(format!("{base}/fine")).send().await.unwrap().status(), 200);
        let error = client.get(format!("{base}/gone")).send().await.unwrap_err();
        assert!(!error.is_connect() && !error.is_timeout(), "{error:?}");
    }

    #[tokio::test]
    async fn dropped_connections_are_counted_down() {
        let server = HttpServer::start(ports::loopback(0), router()).await.unwrap();
        let client = crate::http::unpooled_client(Duration::from_secs(5)).unwrap();
        let url = format!("http://{}/fine", server.addr());
        server.drop_next_connections(2);
        // POST bodies are not replayed by the client; a GET on a fresh connection is not either.
        assert!(client.get(&url).send().await.is_err());
        assert!(client.get(&url).send().await.is_err());
        assert!(client.get(&url).send().await.is_ok());
    }

    #[tokio::test]
    async fn a_stopped_server_refuses_connections() {
        let mut server = HttpServer::start(ports::loopback(0), router()).await.unwrap();
        let url = format!("http://{}/fine", server.addr());
        server.stop().await;
        let client = crate::http::unpooled_client(Duration::from_secs(5)).unwrap();
        assert!(client.get(&url).send().await.unwrap_err().is_connect());
    }
}
