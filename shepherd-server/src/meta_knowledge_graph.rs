//! `GET /meta_knowledge_graph`: what kinds of statements Retriever knows, kept for a while.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use runtime::Causes;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use crate::app::Gateway;
use crate::ara::Ara;
use crate::error::{ApiError, ErrorBody};
use crate::openapi::schemas;

/// How long an answer is good for.
const FRESH: Duration = Duration::from_secs(3600);
/// After a failure Retriever is left alone for this long.
const PAUSE: Duration = Duration::from_secs(10);
/// Longest wait for Retriever.
const PATIENCE: Duration = Duration::from_secs(30);
/// Larger answers are not taken.
const MAX_BYTES: usize = 64 << 20;

/// Retriever's answer, and when it is to be asked again. One request asks, the others wait for it.
pub(crate) struct MetaKnowledgeGraph {
    http: reqwest::Client,
    url: Url,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    body: Option<Bytes>,
    ask_again: Option<Instant>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum Unavailable {
    #[error("Retriever cannot be asked")]
    Http(#[from] reqwest::Error),
    #[error("Retriever answered {0}")]
    Status(StatusCode),
    #[error("Retriever's answer is larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("Retriever's answer is no JSON")]
    NotJson(#[from] serde_json::Error),
}

impl MetaKnowledgeGraph {
    /// Asks the Retriever whose `/query` is at `query` (`SYNC_KG_RETRIEVAL_URL`).
    pub(crate) fn new(http: reqwest::Client, query: &Url) -> Self {
        // the same base: only the last part of the path differs
        let url = query.join("meta_knowledge_graph").unwrap_or_else(|_| query.clone());
        Self { http, url, kept: Mutex::default() }
    }

    /// The answer; an old one is better than none.
    async fn get(&self) -> Option<Bytes> {
        let mut kept = self.kept.lock().await;
        if kept.ask_again.is_none_or(|again| Instant::now() >= again) {
            match self.ask().await {
                Ok(body) => *kept = Kept { body: Some(body), ask_again: Some(Instant::now() + FRESH) },
                Err(error) => {
                    tracing::warn!("no meta knowledge graph: {}", Causes(&error));
                    kept.ask_again = Some(Instant::now() + PAUSE);
                }
            }
        }
        kept.body.clone()
    }

    async fn ask(&self) -> Result<Bytes, Unavailable> {
        let response = self.http.get(self.url.clone()).timeout(PATIENCE).send().await?;
        if !response.status().is_success() {
            return Err(Unavailable::Status(response.status()));
        }
        let mut body = BytesMut::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if body.len() + chunk.len() > MAX_BYTES {
                return Err(Unavailable::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice::<serde::de::IgnoredAny>(&body)?;
        Ok(body.freeze())
    }
}

/// What kinds of statements there are to ask for.
#[utoipa::path(
    get,
    path = "/meta_knowledge_graph",
    tag = "translator",
    responses(
        (status = 200, description = "what Retriever knows", body = schemas::MetaKnowledgeGraph),
        (status = 502, description = "Retriever does not answer", body = ErrorBody),
    )
)]
pub(crate) async fn whole(State(gateway): State<Arc<Gateway>>) -> Result<Response, ApiError> {
    let body = gateway.meta_knowledge_graph.get().await.ok_or(ApiError::NoRetriever)?;
    Ok(([(CONTENT_TYPE, "application/json")], Body::from(body)).into_response())
}

/// What kinds of statements there are to ask a persona for.
#[utoipa::path(
    get,
    path = "/{ara}/meta_knowledge_graph",
    tag = "translator",
    params(("ara" = Ara, Path, description = "the persona")),
    responses(
        (status = 200, description = "what Retriever knows", body = schemas::MetaKnowledgeGraph),
        (status = 404, description = "no such persona", body = ErrorBody),
        (status = 502, description = "Retriever does not answer", body = ErrorBody),
    )
)]
pub(crate) async fn of_ara(
    State(gateway): State<Arc<Gateway>>,
    Path(ara): Path<String>,
) -> Result<Response, ApiError> {
    let _: Ara = ara.parse().map_err(|()| ApiError::NoSuchAra)?;
    whole(State(gateway)).await
}
