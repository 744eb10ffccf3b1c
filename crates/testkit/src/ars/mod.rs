//! A double of the ARS, the client: it posts queries and takes the answers.
//!
//! Every query gets a callback URL with a key of its own; what arrives there is recorded and answered the way the ARS
//! answers, or the way a [`Policy`] says.

mod client;
mod policy;
mod server;

use axum::http::HeaderMap;
use bytes::Bytes;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::journal::{WaitError, lock};
use crate::ports;
use crate::serve::{HttpServer, ServeError};
pub use client::{Accepted, Answer, SubmitError};
pub use policy::{Policy, Reply};
use server::Shared;

/// One POST to a callback URL, complete.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Last segment of the callback URL.
    pub key: String,
    /// Which delivery for this key it is, from 1.
    pub nth: usize,
    /// When its body was complete.
    pub arrived: Instant,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, as it came.
    pub body: Bytes,
}

impl Delivery {
    /// The body as JSON; the ARS knows no `Content-Encoding`, so neither does this.
    ///
    /// # Errors
    /// The parser's error.
    pub fn json(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.body)
    }

    /// A header's value, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A running double of the ARS; gone when dropped.
#[derive(Debug)]
pub struct ArsDouble {
    shared: Arc<Shared>,
    server: HttpServer,
    http: reqwest::Client,
    /// Host and port in callback URLs.
    host: String,
}

impl ArsDouble {
    /// Starts one on a free port that answers as the ARS does.
    ///
    /// # Errors
    /// [`ServeError`] when no port can be had or the HTTP client cannot be built.
    pub async fn start() -> Result<Self, ServeError> {
        Self::start_with(0, Policy::default()).await
    }

    /// Starts one on `port` (0: a free one) that follows `policy`.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(port: u16, policy: Policy) -> Result<Self, ServeError> {
        Self::listen(ports::loopback(port), None, policy).await
    }

    /// Starts one that listens at `addr` and is called `public_host` (`host` or `host:port`) in callback URLs, for a
    /// Shepherd that reaches this machine by another name, from inside a container for example.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn listen(
        addr: SocketAddr,
        public_host: Option<&str>,
        policy: Policy,
    ) -> Result<Self, ServeError> {
        let http = crate::http::plain_client().map_err(ServeError::Client)?;
        let shared = Arc::new(Shared::new(policy));
        let server = HttpServer::start(addr, server::router(Arc::clone(&shared))).await?;
        let port = server.addr().port();
        let host = match public_host {
            None => server.addr().to_string(),
            Some(host) if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) => {
                host.to_owned()
            }
            Some(host) => format!("{host}:{port}"),
        };
        Ok(Self { shared, server, http, host })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The callback URL for `key`.
    pub fn callback_url(&self, key: &str) -> String {
        format!("http://{}/callback/{key}", self.host)
    }

    /// Answers by another policy from now on.
    pub fn set_policy(&self, policy: Policy) {
        *lock(&self.shared.policy) = policy;
    }

    /// Stops listening: connections are refused. Its records stay.
    pub async fn stop(&mut self) {
        self.server.stop().await;
    }

    /// Listens again on the same port after [`Self::stop`].
    ///
    /// # Errors
    /// [`ServeError`] when the port was taken meanwhile.
    pub async fn resume(&mut self) -> Result<(), ServeError> {
        let router = server::router(Arc::clone(&self.shared));
        self.server = HttpServer::start(self.addr(), router).await?;
        Ok(())
    }

    /// Everything delivered, in order of arrival.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared.deliveries.snapshot()
    }

    /// Everything delivered for `key`, in order of arrival.
    pub fn received(&self, key: &str) -> Vec<Delivery> {
        self.shared.deliveries.matching(|delivery| delivery.key == key)
    }

    /// The delivery for `key` that was kept, that is, answered with success.
    pub fn kept(&self, key: &str) -> Option<Delivery> {
        lock(&self.shared.kept).get(key).cloned()
    }

    /// Waits for the first delivery for `key`, however it was answered.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for(&self, key: &str, limit: Duration) -> Result<Delivery, WaitError> {
        self.wait_for_nth(key, 1, limit).await
    }

    /// Waits for the `nth` delivery (from 1) for `key`.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_nth(&self, key: &str, nth: usize, limit: Duration) -> Result<Delivery, WaitError> {
        let wanted = format!("delivery {nth} for {key}");
        let is_it = |delivery: &Delivery| delivery.key == key && delivery.nth == nth;
        self.shared.deliveries.wait_for(&wanted, limit, is_it).await
    }

    /// Waits for at least `count` deliveries for any keys and returns all there are then.
    ///
    /// # Errors
    /// [`WaitError`] after `limit`.
    pub async fn wait_for_count(&self, count: usize, limit: Duration) -> Result<Vec<Delivery>, WaitError> {
        self.shared.deliveries.wait_for_count(count, "deliveries", limit).await
    }
}

#[cfg(test)]
mod tests;
