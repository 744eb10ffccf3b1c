//! Request ids and the access log.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use rand::Rng;
use tracing::Instrument;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives every request an id, and logs how it was answered. Paths are logged as patterns: a callback id
/// is a capability.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let path = path.unwrap_or_else(|| "(no such path)".to_owned());
    let sent = request.headers().get("traceparent").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let span = tracing::info_span!(
        "http.request",
        otel.name = format!("{method} {path}"),
        otel.kind = "server",
        request.id = id,
        trace_id = runtime::trace_id(sent),
    );
    runtime::join_trace(&span, sent);
    let mut response = next.run(request).instrument(span).await;
    let status = response.status().as_u16();
    let took_ms = started.elapsed().as_millis();
    if matches!(path.as_str(), "/livez" | "/readyz" | "/metrics") {
        tracing::debug!(status, took_ms, "{method} {path} {status}");
    } else {
        tracing::info!(request.id = id, status, took_ms, "{method} {path} {status} in {took_ms} ms");
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// The caller's id where it is short and plain, else a new one.
fn request_id(request: &Request) -> String {
    let sent = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    match sent {
        Some(id)
            if (1..=64).contains(&id.len())
                && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) =>
        {
            id.to_owned()
        }
        _ => format!("{:016x}", rand::rng().random::<u64>()),
    }
}
