//! A TCP proxy for trouble on the way: between a worker and Redis, or between Retriever and the gateway.
//!
//! It cannot tell protocols apart and need not: it passes bytes on, or holds them, or breaks the connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::ports;
use crate::serve::ServeError;

/// Bytes passed on at once.
const CHUNK: usize = 16 * 1024;

/// What the proxy does to connections and to what they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Everything passes.
    None,
    /// Every chunk of bytes is held back this long, in both directions.
    Slow(Duration),
    /// Nothing passes, and nothing is lost: what was sent meanwhile arrives when the trouble is over.
    Frozen,
    /// New connections are closed as soon as they are made, and those open are broken.
    Down,
}

/// A running proxy; its connections break when it is dropped.
#[derive(Debug)]
pub struct TcpProxy {
    addr: SocketAddr,
    trouble: watch::Sender<Trouble>,
    /// Counts up to break every connection that is open.
    cuts: watch::Sender<u64>,
    passed: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

#[derive(Clone)]
struct Control {
    trouble: watch::Receiver<Trouble>,
    cuts: watch::Receiver<u64>,
    passed: Arc<AtomicU64>,
}

impl TcpProxy {
    /// Starts one on a free loopback port in front of `upstream`.
    ///
    /// # Errors
    /// [`ServeError::Bind`] when no port can be had.
    pub async fn start(upstream: SocketAddr) -> Result<Self, ServeError> {
        let addr = ports::loopback(0);
        let bind_error = |source| ServeError::Bind { addr, source };
        let listener = TcpListener::bind(addr).await.map_err(bind_error)?;
        let addr = listener.local_addr().map_err(bind_error)?;
        let (trouble, cuts) = (watch::Sender::new(Trouble::None), watch::Sender::new(0));
        let passed = Arc::new(AtomicU64::new(0));
        let control =
            Control { trouble: trouble.subscribe(), cuts: cuts.subscribe(), passed: Arc::clone(&passed) };
        let accepting = tokio::spawn(accept(listener, upstream, control));
        Ok(Self { addr, trouble, cuts, passed, accepting })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Makes trouble, or ends it.
    pub fn set(&self, trouble: Trouble) {
        self.trouble.send_replace(trouble);
        if trouble == Trouble::Down {
            self.cut();
        }
    }

    /// Breaks every open connection; new ones are served.
    pub fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Bytes passed on so far, in both directions.
    pub fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, upstream: SocketAddr, control: Control) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if *control.trouble.borrow() == Trouble::Down => drop(stream),
                Ok((stream, _)) => { connections.spawn(connect(stream, upstream, control.clone())); }
                Err(error) => tracing::warn!(%error, "the proxy could not accept a connection"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connect(client: TcpStream, upstream: SocketAddr, mut control: Control) {
    // Cuts made before this connection do not concern it.
    control.cuts.borrow_and_update();
    // An upstream that refuses shows as a broken connection, as it does behind any proxy.
    let Ok(server) = TcpStream::connect(upstream).await else { return };
    for stream in [&client, &server] {
        // Without the option the proxy is slower than asked for, no more.
        let _ = stream.set_nodelay(true);
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut cuts = control.cuts.clone();
    tokio::select! {
        _ = cuts.changed() => {}
        _ = async {
            tokio::join!(pass(from_client, to_server, control.clone()), pass(from_server, to_client, control.clone()))
        } => {}
    }
}

/// Passes bytes on until either side ends.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut control: Control,
) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        let trouble = *control.trouble.borrow_and_update();
        match trouble {
            Trouble::Slow(delay) => tokio::time::sleep(delay).await,
            Trouble::Frozen => {
                // Ends with the proxy too: then there is nobody left to pass the bytes on for.
                // And what is held when everything breaks is lost.
                match control.trouble.wait_for(|now| *now != Trouble::Frozen).await.map(|now| *now) {
                    Err(_) | Ok(Trouble::Down) => return Ok(()),
                    Ok(_) => {}
                }
            }
            Trouble::None | Trouble::Down => {}
        }
        to.write_all(&chunk[..count]).await?;
        control.passed.fetch_add(count as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LIMIT: Duration = Duration::from_secs(10);

    /// A server that sends back whatever it gets, and a proxy in front of it.
    async fn echo_behind_proxy() -> TcpProxy {
        let listener = TcpListener::bind(ports::loopback(0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.into_split();
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
        TcpProxy::start(addr).await.unwrap()
    }

    async fn echo(stream: &mut TcpStream) -> std::io::Result<()> {
        stream.write_all(b"hello").await?;
        let mut back = [0; 5];
        tokio::time::timeout(LIMIT, stream.read_exact(&mut back)).await??;
        assert_eq!(&back, b"hello");
        Ok(())
    }

    #[tokio::test]
    async fn bytes_pass_both_ways_and_are_counted() {
        let proxy = echo_behind_proxy().await;
        let mut stream = TcpStream::connect(proxy.addr()).await.unwrap();
        echo(&mut stream).await.unwrap();
        assert_eq!(proxy.passed(), 10);
    }

    #[tokio::test]
    async fn a_cut_breaks_open_connections_and_lets_new_ones_in() {
        let proxy = echo_behind_proxy().await;
        let mut stream = TcpStream::connect(proxy.addr()).await.unwrap();
        echo(&mut stream).await.unwrap();
        proxy.cut();
        assert!(echo(&mut stream).await.is_err());
        echo(&mut TcpStream::connect(proxy.addr()).await.unwrap()).await.unwrap();
    }

    #[tokio::test]
    async fn while_it_is_down_nobody_gets_through() {
        let proxy = echo_behind_proxy().await;
        proxy.set(Trouble::Down);
        assert!(echo(&mut TcpStream::connect(proxy.addr()).await.unwrap()).await.is_err());
        proxy.set(Trouble::None);
        echo(&mut TcpStream::connect(proxy.addr()).await.unwrap()).await.unwrap();
    }

    #[tokio::test]
    async fn slow_bytes_are_late_and_frozen_ones_wait_for_the_thaw() {
        let proxy = echo_behind_proxy().await;
        let mut stream = TcpStream::connect(proxy.addr()).await.unwrap();
        proxy.set(Trouble::Slow(Duration::from_millis(50)));
        let sent = Instant::now();
        echo(&mut stream).await.unwrap();
        assert!(sent.elapsed() >= Duration::from_millis(100), "once each way");
        proxy.set(Trouble::Frozen);
        let mut waiting = std::pin::pin!(echo(&mut stream));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut waiting).await.is_err());
        proxy.set(Trouble::None);
        waiting.await.unwrap();
    }
}
