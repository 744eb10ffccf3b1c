//! HTTP clients of the doubles.
//!
//! The workspace builds `reqwest` without a default crypto provider, so the first client of a process has to bring one,
//! even for plain http.

use std::time::Duration;

/// The client could not be built; only a broken TLS set-up causes this.
#[derive(Debug, thiserror::Error)]
#[error("could not build the HTTP client")]
pub struct ClientError(#[source] reqwest::Error);

/// Makes ring the process's crypto provider unless one is installed already.
pub fn install_crypto_provider() {
    // An error means that somebody installed one before, which serves us as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client that opens a new connection for every request, ignores proxy variables and gives up after `timeout`.
///
/// # Errors
/// [`ClientError`] when TLS cannot be set up.
pub fn unpooled_client(timeout: Duration) -> Result<reqwest::Client, ClientError> {
    install_crypto_provider();
    reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .timeout(timeout)
        .build()
        .map_err(ClientError)
}

/// A client that never follows redirects and has no total timeout; callers set one per request.
///
/// # Errors
/// [`ClientError`] when TLS cannot be set up.
pub fn plain_client() -> Result<reqwest::Client, ClientError> {
    install_crypto_provider();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(5))
        .build()
        .map_err(ClientError)
}
