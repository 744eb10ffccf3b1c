//! Asks the process that runs with these settings how it is. An image needs no HTTP client for its health check.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::StatusCode;

use crate::http::HttpClientError;

/// Longer than readiness waits for Redis, shorter than a container engine waits for a check.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a process is not well.
#[derive(Debug, thiserror::Error)]
pub enum Unhealthy {
    /// It cannot be asked.
    #[error("outgoing HTTP cannot be used")]
    Client(#[from] HttpClientError),
    /// It gives no answer.
    #[error("nothing answers at {url}")]
    Silent {
        /// What was asked.
        url: String,
        /// Why there was no answer.
        #[source]
        source: reqwest::Error,
    },
    /// It says so itself.
    #[error("{url} answers {status}")]
    Told {
        /// What was asked.
        url: String,
        /// What it answered.
        status: StatusCode,
    },
}

/// Asks for `path` of whoever listens on `address`.
///
/// # Errors
/// [`Unhealthy`] for every answer but a success.
pub(crate) async fn ask(address: SocketAddr, path: &str) -> Result<(), Unhealthy> {
    let url = format!("http://{}{path}", reachable(address));
    let answer = crate::http::http_client()?.get(&url).timeout(PATIENCE).send().await;
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(Unhealthy::Told { url, status: answer.status() }),
        Err(source) => Err(Unhealthy::Silent { url, source }),
    }
}

/// A process that listens on every interface is asked on the loopback one.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn only_a_success_is_healthy() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new()
            .route("/livez", get(|| async { "alive" }))
            .route("/readyz", get(|| async { StatusCode::SERVICE_UNAVAILABLE }));
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        let everywhere = SocketAddr::from(([0, 0, 0, 0], address.port()));
        ask(everywhere, "/livez").await.unwrap();
        let not_ready = ask(address, "/readyz").await.unwrap_err();
        assert!(matches!(not_ready, Unhealthy::Told { status: StatusCode::SERVICE_UNAVAILABLE, .. }));
        server.abort();
        // the listener is closed once the task has ended
        assert!(server.await.unwrap_err().is_cancelled());
        assert!(matches!(ask(address, "/livez").await.unwrap_err(), Unhealthy::Silent { .. }));
    }

    #[test]
    fn a_process_on_all_interfaces_is_asked_on_the_loopback_one() {
        for (listens, asked) in [
            ("0.0.0.0:5440", "127.0.0.1:5440"),
            ("[::]:5440", "[::1]:5440"),
            ("192.0.2.7:5440", "192.0.2.7:5440"),
        ] {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), asked);
        }
    }
}
