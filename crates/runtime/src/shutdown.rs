//! Stopping in two steps: first drain, then abort.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The two steps of a stop, handed down to whoever must know.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Take nothing new; hand back what waits; finish what is short.
    pub drain: CancellationToken,
    /// Time is up: leave what is left to be claimed.
    pub abort: CancellationToken,
}

impl Shutdown {
    /// Drains at the first SIGTERM or SIGINT; aborts `drain_timeout` later or at the second signal.
    ///
    /// # Errors
    /// When the signals cannot be listened to.
    pub fn on_signals(drain_timeout: Duration) -> io::Result<Self> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let shutdown = Self::default();
        let steps = shutdown.clone();
        tokio::spawn(async move {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            tracing::info!("stopping: taking nothing new");
            steps.drain.cancel();
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = tokio::time::sleep(drain_timeout) => {}
            }
            steps.abort.cancel();
        });
        Ok(shutdown)
    }
}
