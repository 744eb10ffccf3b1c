//! The HTTP client that calls Retriever and the clients' callbacks.

use std::time::Duration;

/// No HTTP client could be made.
#[derive(Debug, thiserror::Error)]
#[error("no HTTP client could be made")]
pub struct HttpClientError(#[source] pub(crate) reqwest::Error);

/// A client that follows no redirect (a body must not wander), uses no proxy from the environment, and
/// keeps idle connections for less long than the usual server does, so that none is closed under a
/// request.
///
/// # Errors
/// When TLS cannot be set up.
pub fn http_client() -> Result<reqwest::Client, HttpClientError> {
    builder().build().map_err(HttpClientError)
}

pub(crate) fn builder() -> reqwest::ClientBuilder {
    // an error only says that a provider was installed before
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(Duration::from_secs(5))
        .pool_idle_timeout(Duration::from_secs(4))
        .tcp_nodelay(true)
        .user_agent(concat!("shepherd/", env!("CARGO_PKG_VERSION")))
}
