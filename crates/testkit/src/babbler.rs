//! A server that answers everything with one status and a body without end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::ports;
use crate::serve::ServeError;

/// Bytes said at once.
const CHUNK: usize = 64 * 1024;

/// A running server; its connections break when it is dropped.
#[derive(Debug)]
pub struct Babbler {
    addr: SocketAddr,
    said: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

impl Babbler {
    /// Starts one on a free loopback port.
    ///
    /// # Errors
    /// [`ServeError::Bind`] when no port can be had.
    pub async fn start(status: StatusCode) -> Result<Self, ServeError> {
        let addr = ports::loopback(0);
        let bind_error = |source| ServeError::Bind { addr, source };
        let listener = TcpListener::bind(addr).await.map_err(bind_error)?;
        let addr = listener.local_addr().map_err(bind_error)?;
        let said = Arc::new(AtomicU64::new(0));
        let accepting = tokio::spawn(accept(listener, status, Arc::clone(&said)));
        Ok(Self { addr, said, accepting })
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Bytes of bodies that were taken from it so far, what the kernel holds for readers included.
    pub fn said(&self) -> u64 {
        self.said.load(Ordering::Relaxed)
    }
}

impl Drop for Babbler {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, status: StatusCode, said: Arc<AtomicU64>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(babble(stream, status, Arc::clone(&said))); }
                Err(error) => tracing::warn!(%error, "a connection could not be accepted"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Talks until nobody listens any more.
async fn babble(stream: TcpStream, status: StatusCode, said: Arc<AtomicU64>) -> std::io::Result<()> {
    let (mut from, mut to) = stream.into_split();
    let mut request = vec![0; CHUNK];
    // a request begins with its first byte; the rest of it is taken while the answer goes out
    if from.read(&mut request).await? == 0 {
        return Ok(());
    }
    let listen = async {
        while from.read(&mut request).await? > 0 {}
        std::future::pending::<std::io::Result<()>>().await
    };
    let talk = async {
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n");
        to.write_all(head.as_bytes()).await?;
        let chunk = vec![b'x'; CHUNK];
        loop {
            to.write_all(&chunk).await?;
            said.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        }
    };
    tokio::select! {
        ended = listen => ended,
        ended = talk => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_talks_as_long_as_somebody_listens() {
        let babbler = Babbler::start(StatusCode::IM_A_TEAPOT).await.unwrap();
        let client = crate::http::plain_client().unwrap();
        let mut answer = client.post(babbler.url()).body("hello").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::IM_A_TEAPOT);
        let mut heard = 0;
        while heard < 32 << 20 {
            heard += answer.chunk().await.unwrap().unwrap().len();
        }
        assert!(babbler.said() >= 24 << 20);
    }
}
