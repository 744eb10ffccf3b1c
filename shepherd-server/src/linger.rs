//! A refusal that is read: what the client still sends is taken and dropped before the connection may close.
//!
//! Closing with bytes unread makes the kernel reset the connection, and the client sees that instead of the answer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::EXPECT;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

/// A client that sends more than this beyond its refusal may see a reset.
const MOST_BYTES: usize = 16 << 20;
/// And so may one that takes longer.
const LONGEST: Duration = Duration::from_secs(2);

/// Reads the rest of a body that its handler has not, within bounds.
pub(crate) async fn take_rest(request: Request, next: Next) -> Response {
    // such a client waits for our word before it sends anything
    if request.headers().contains_key(EXPECT) {
        return next.run(request).await;
    }
    let rest = Rest::default();
    let request = request.map(|body| Body::new(Returning { body, rest: rest.clone() }));
    let response = next.run(request).await;
    if let Some(body) = rest.take() {
        // a client that is too slow has its chance; the answer goes out all the same
        let _ = tokio::time::timeout(LONGEST, drop_frames(body)).await;
    }
    response
}

async fn drop_frames(mut body: Body) {
    let mut dropped = 0;
    while let Some(Ok(frame)) = body.frame().await {
        dropped += frame.data_ref().map_or(0, Bytes::len);
        if dropped > MOST_BYTES {
            return;
        }
    }
}

/// Where a body is put that was not read to its end.
#[derive(Clone, Default)]
struct Rest(Arc<Mutex<Option<Body>>>);

impl Rest {
    fn take(&self) -> Option<Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A body that comes back when its reader drops it early.
struct Returning {
    body: Body,
    rest: Rest,
}

impl HttpBody for Returning {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        if !self.body.is_end_stream() {
            let body = std::mem::take(&mut self.body);
            *self.rest.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}
