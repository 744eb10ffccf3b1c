//! Waiting for the wish to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

/// SIGINT and SIGTERM, caught from the moment this is made.
pub(crate) struct Shutdown {
    interrupt: Signal,
    terminate: Signal,
}

impl Shutdown {
    pub(crate) fn on_signals() -> Result<Self, CliError> {
        let catch = |kind| signal(kind).map_err(CliError::Signals);
        Ok(Self { interrupt: catch(SignalKind::interrupt())?, terminate: catch(SignalKind::terminate())? })
    }

    /// Resolves with the first of either. Cancel-safe.
    pub(crate) async fn wanted(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
