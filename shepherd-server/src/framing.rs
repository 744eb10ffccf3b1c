//! Where one request ends and the next begins must not be a matter of opinion.
//!
//! A proxy before us and the HTTP library may read a request whose length is told in two ways differently, and
//! then see different requests on one connection. So such a request is refused where it can be seen, and a
//! connection ends with the first request whose length is told by chunks.

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// Lets through what has one length.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let chunked = headers.contains_key(TRANSFER_ENCODING);
    let mut response = if chunked && headers.contains_key(CONTENT_LENGTH) {
        ApiError::TwoLengths.into_response()
    } else {
        next.run(request).await
    };
    if chunked {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
