//! An ACK that tells when it has gone out.
//!
//! The real Retriever begins a job once its ACK is sent. So that a job without delay cannot overtake its own ACK here,
//! the ACK's body carries a sender that hyper drops with the body: when it is written, or when the client is gone.

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Dropped when the ACK has gone out, or never will.
pub(super) type Sent = oneshot::Sender<()>;
/// Resolves (with an error, since nothing is ever sent) when its [`Sent`] is dropped.
pub(super) type WhenSent = oneshot::Receiver<()>;

/// The two ends.
pub(super) fn channel() -> (Sent, WhenSent) {
    oneshot::channel()
}

/// A body of these bytes that holds on to `sent` until it is written.
pub(super) fn body(bytes: impl Into<Bytes>, sent: Sent) -> Body {
    Body::new(TellingBody { bytes: Some(bytes.into()), _sent: sent })
}

struct TellingBody {
    bytes: Option<Bytes>,
    _sent: Sent,
}

impl HttpBody for TellingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
