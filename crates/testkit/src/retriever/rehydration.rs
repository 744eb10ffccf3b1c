//! `/rehydrate`: a message whose nodes and edges lack their content is filled, or whatever a test wants instead.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

use super::request::{Refusal, read_body};
use super::shared::Shared;
use crate::answers;
use crate::journal::lock;
use crate::serve::HangUp;

/// What the double does with a message that is to be filled.
#[derive(Clone, Debug, Default)]
pub enum Rehydration {
    /// It comes back with everything filled.
    #[default]
    Fill,
    /// The same, compressed with zstd.
    Compressed,
    /// It comes back filled and then changed.
    Change(fn(&mut Value)),
    /// These bytes come back.
    Bytes(Bytes),
    /// These bytes come back, and are said to be zstd.
    Zstd(Bytes),
    /// This status comes back.
    Refuse(StatusCode),
    /// A redirect to this address comes back.
    Redirect(String),
    /// Nothing comes back while the client waits.
    Hang,
    /// The connection is closed in place of an answer.
    HangUp,
}

pub(super) async fn rehydrate(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let body = read_body(&parts.headers, body).await?;
    let mut value: Value = serde_json::from_slice(&body).map_err(|_| Refusal::Unreadable)?;
    shared.record(&shared.rehydrations, parts.headers, body, value.clone());
    // A bare knowledge graph, or one inside a message, comes back the way it came.
    let places = ["/message/knowledge_graph", "/knowledge_graph", ""];
    let place = places.into_iter().find(|place| value.pointer(place).is_some());
    if let Some(graph) = place.and_then(|place| value.pointer_mut(place)) {
        answers::rehydrate(graph, &shared.answers);
    }
    let json = [(header::CONTENT_TYPE, "application/json")];
    let zstd = [(header::CONTENT_ENCODING, "zstd")];
    let rehydration = lock(&shared.rehydration).clone();
    Ok(match rehydration {
        Rehydration::Fill => (json, value.to_string()).into_response(),
        Rehydration::Compressed => {
            let body = zstd::encode_all(value.to_string().as_bytes(), 1).map_err(|_| Refusal::Unreadable)?;
            (json, zstd, body).into_response()
        }
        Rehydration::Change(change) => {
            change(&mut value);
            (json, value.to_string()).into_response()
        }
        Rehydration::Zstd(bytes) => (json, zstd, bytes).into_response(),
        Rehydration::Bytes(bytes) => (json, bytes).into_response(),
        Rehydration::Refuse(status) => status.into_response(),
        Rehydration::Redirect(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
        }
        // Ends when the client gives up, which drops this future.
        Rehydration::Hang => std::future::pending().await,
        Rehydration::HangUp => HangUp.into_response(),
    })
}
