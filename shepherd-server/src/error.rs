//! What a client sees when something is refused: short, safe, naming the field.

use std::time::Duration;

use axum::Json;
use axum::http::header::{ACCEPT_ENCODING, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use runtime::{Causes, ForbiddenUrl, UnusableBody};
use serde::Serialize;
use state::StateError;
use trapi::{Invalid, Problem};

use crate::ara::Ara;
use utoipa::ToSchema;

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("no such ARA; there are {}", Ara::names())]
    NoSuchAra,
    #[error("unknown or expired id")]
    NoSuchJob,
    #[error("unknown or expired callback id")]
    NoSuchCallback,
    #[error("the lookup closed {late_ms} ms ago")]
    CallbackTooLate { late_ms: u128 },
    #[error("this sub-query is not awaited any more: its submission was refused")]
    CallbackRemoved,
    #[error("{0}")]
    Invalid(#[from] Invalid),
    #[error("{field}: {problem}")]
    Field { field: &'static str, problem: &'static str },
    #[error("callback: {0}")]
    CallbackUrl(ForbiddenUrl),
    #[error("{0}")]
    UnusableBody(UnusableBody),
    #[error("the body is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("Content-Encoding must be identity, gzip or zstd")]
    UnknownEncoding,
    #[error("Content-Type must be application/json")]
    WrongContentType,
    #[error("Content-Length and Transfer-Encoding exclude each other")]
    TwoLengths,
    #[error("the body did not arrive whole")]
    BrokenBody,
    #[error("the body did not arrive in time")]
    SlowBody,
    #[error("the service cannot take this now, try again later")]
    State(#[source] StateError),
    #[error("the service is short of memory, try again later")]
    MemoryIsShort,
    #[error("too many requests at once, try again later")]
    TooManyRequests,
    #[error("Retriever does not answer")]
    NoRetriever,
    #[error("the query was not answered in time")]
    NotInTime,
    #[error("the query was lost, ask again")]
    Lost,
}

/// Why a request is refused.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// Always `Error`.
    status: &'static str,
    /// A stable name for programs.
    code: &'static str,
    /// The field to look at, as a JSON path.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The reason, for people.
    description: String,
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoSuchAra | Self::NoSuchJob | Self::NoSuchCallback => StatusCode::NOT_FOUND,
            Self::CallbackTooLate { .. } | Self::CallbackRemoved => StatusCode::GONE,
            Self::Invalid(invalid) => match invalid.problem {
                // not even a document
                Problem::NotUtf8 | Problem::NotJson { .. } | Problem::TooDeep { .. } => {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
                _ => StatusCode::BAD_REQUEST,
            },
            Self::TooLarge { .. } | Self::UnusableBody(UnusableBody::TooLarge { .. }) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::TwoLengths | Self::BrokenBody | Self::UnusableBody(UnusableBody::Encoding { .. }) => {
                StatusCode::BAD_REQUEST
            }
            Self::Field { .. } | Self::CallbackUrl(_) | Self::UnusableBody(_) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            Self::UnknownEncoding | Self::WrongContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::State(error) if error.is_transient() => StatusCode::SERVICE_UNAVAILABLE,
            Self::State(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::MemoryIsShort | Self::Lost => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::NoRetriever => StatusCode::BAD_GATEWAY,
            Self::NotInTime => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// A stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::NoSuchAra => "no_such_ara",
            Self::NoSuchJob => "no_such_job",
            Self::NoSuchCallback => "no_such_callback",
            Self::CallbackTooLate { .. } => "lookup_closed",
            Self::CallbackRemoved => "not_awaited",
            Self::Invalid(_) => "invalid_query",
            Self::Field { .. } | Self::CallbackUrl(_) => "invalid_field",
            Self::TooLarge { .. } | Self::UnusableBody(UnusableBody::TooLarge { .. }) => "too_large",
            Self::UnusableBody(UnusableBody::Encoding { .. }) => "bad_encoding",
            Self::UnusableBody(_) => "unusable_body",
            Self::UnknownEncoding => "unknown_encoding",
            Self::WrongContentType => "wrong_content_type",
            Self::TwoLengths => "two_lengths",
            Self::BrokenBody => "broken_body",
            Self::SlowBody => "slow_body",
            Self::State(_) => "unavailable",
            Self::MemoryIsShort => "short_of_memory",
            Self::TooManyRequests => "too_many_requests",
            Self::NoRetriever => "no_retriever",
            Self::NotInTime => "not_in_time",
            Self::Lost => "lost",
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid(invalid) if !invalid.path.is_empty() => Some(&invalid.path),
            Self::Field { field, .. } => Some(field),
            Self::CallbackUrl(_) => Some("callback"),
            _ => None,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        if let Self::State(error) = &self {
            tracing::error!("request refused: {}", Causes(error));
        }
        let body = ErrorBody {
            status: "Error",
            code: self.code(),
            field: self.field().map(str::to_owned),
            description: self.to_string(),
        };
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        match &self {
            Self::State(error) if error.is_transient() => {
                headers.insert(RETRY_AFTER, seconds(error.retry_after()));
            }
            Self::MemoryIsShort => {
                headers.insert(RETRY_AFTER, seconds(Duration::from_secs(10)));
            }
            Self::TooManyRequests | Self::Lost => {
                headers.insert(RETRY_AFTER, seconds(Duration::from_secs(2)));
            }
            Self::UnknownEncoding => {
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity, gzip, zstd"));
            }
            _ => {}
        }
        response
    }
}

fn seconds(duration: Duration) -> HeaderValue {
    HeaderValue::from(duration.as_secs().max(1))
}

fn refusal(status: StatusCode, code: &'static str, description: &str) -> Response {
    let body = ErrorBody { status: "Error", code, field: None, description: description.to_owned() };
    (status, Json(body)).into_response()
}

pub(crate) async fn no_such_route() -> Response {
    let description = "no such path; queries go to /{ara}/asyncquery and /{ara}/query";
    refusal(StatusCode::NOT_FOUND, "no_such_path", description)
}

pub(crate) async fn no_such_method() -> Response {
    refusal(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", "this path does not take this method")
}
