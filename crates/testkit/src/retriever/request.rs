//! Reading and checking what comes in, as strictly as Retriever does.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use std::io::Read;
use std::net::IpAddr;
use url::{Host, Url};

use crate::answers::{self, AnswerSpec};

/// No request is larger, compressed or not.
const MAX_BODY: u64 = 256 << 20;

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body could not be read or decompressed")]
    Unreadable,
    #[error("{field}: {problem}")]
    Invalid { field: &'static str, problem: String },
}

impl Refusal {
    fn invalid(field: &'static str, problem: &dyn ToString) -> Self {
        Self::Invalid { field, problem: problem.to_string() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, place) = match &self {
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, vec!["body"]),
            Self::Unreadable => (StatusCode::BAD_REQUEST, vec!["body"]),
            Self::Invalid { field, .. } => (StatusCode::UNPROCESSABLE_ENTITY, vec!["body", field]),
        };
        (status, Json(json!({ "detail": [{ "loc": place, "msg": self.to_string() }] }))).into_response()
    }
}

/// Reads a body that may be zstd-compressed.
pub(super) async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    let limit = usize::try_from(MAX_BODY).unwrap_or(usize::MAX);
    let raw = to_bytes(body, limit).await.map_err(|_| Refusal::Unreadable)?;
    let encoding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    match encoding.unwrap_or("identity") {
        "zstd" | "zst" => unzstd(&raw),
        _ => Ok(raw),
    }
}

fn unzstd(raw: &[u8]) -> Result<Bytes, Refusal> {
    let mut decoded = Vec::new();
    let decoder = zstd::Decoder::new(raw).map_err(|_| Refusal::Unreadable)?;
    decoder.take(MAX_BODY + 1).read_to_end(&mut decoded).map_err(|_| Refusal::Unreadable)?;
    if decoded.len() as u64 > MAX_BODY {
        return Err(Refusal::TooLarge);
    }
    Ok(decoded.into())
}

/// Parses a TRAPI query that can be answered.
pub(super) fn parse_query(body: &[u8]) -> Result<Value, Refusal> {
    let query: Value = serde_json::from_slice(body).map_err(|error| Refusal::invalid("message", &error))?;
    let graph = query.pointer("/message/query_graph");
    let graph = graph.ok_or_else(|| Refusal::invalid("message", &"query_graph is required"))?;
    // Asking for no results checks everything and makes nothing.
    let nothing = AnswerSpec { results: 0, ..AnswerSpec::default() };
    answers::message(graph, &nothing).map_err(|error| Refusal::invalid("message", &error))?;
    match query.pointer("/parameters/timeout") {
        None | Some(Value::Null | Value::Number(_)) => Ok(query),
        Some(_) => Err(Refusal::invalid("parameters", &"timeout must be a number")),
    }
}

/// Checks the callback of an asynchronous query: http or https, and on this machine or at the `allowed` host, since
/// the double calls nobody else.
pub(super) fn check_callback(query: &Value, allowed: Option<&str>) -> Result<(), Refusal> {
    let text = query.get("callback").and_then(Value::as_str);
    let text = text.ok_or_else(|| Refusal::invalid("callback", &"a URL is required"))?;
    let url = Url::parse(text).map_err(|error| Refusal::invalid("callback", &error))?;
    let is_known = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || allowed == Some(name),
        None => false,
    };
    if !matches!(url.scheme(), "http" | "https") || !is_known {
        let expected =
            "must be an http URL on the loopback interface or at the host that the double may call";
        return Err(Refusal::invalid("callback", &expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_callbacks_on_this_machine_are_taken() {
        let check = |url: &str| check_callback(&json!({ "callback": url }), None).is_ok();
        for good in ["http://127.0.0.1:5439/x", "http://localhost/x", "http://[::1]:80/"] {
            assert!(check(good), "{good}");
        }
        for bad in ["http://10.0.0.1/", "http://localhost@example.org/", "ftp://127.0.0.1/", "nothing", ""] {
            assert!(!check(bad), "{bad}");
        }
    }

    #[test]
    fn callbacks_of_the_host_that_may_be_called_are_taken_too() {
        let check = |url: &str| check_callback(&json!({ "callback": url }), Some("gateway")).is_ok();
        assert!(check("http://gateway:5439/x") && check("http://127.0.0.1:5439/x"));
        assert!(!check("http://gateway.example.org/x"));
    }

    #[test]
    fn a_refusal_names_the_field() {
        let error = parse_query(br#"{"message": {"query_graph": {"nodes": {}}}}"#).unwrap_err();
        assert_eq!(error.to_string(), "message: query_graph.nodes must be a non-empty object");
    }
}
