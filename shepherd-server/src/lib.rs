//! The gateway: takes queries and callbacks, tells how far a query is, hands out responses.
//!
//! A query is answered with 200 only after it is stored and queued in one atomic step, a callback only
//! after its payload is kept. Nothing waits by asking again and again: a held connection is woken by an
//! event.

mod access;
mod admission;
mod app;
mod ara;
mod body;
mod callback;
mod error;
mod hang_up;
mod intake;
mod linger;
mod query;
mod serve;
mod status;
mod trace;

use std::process::ExitCode;

use runtime::{Settings, StartupError, main_with};

/// Runs the gateway until it is told to stop.
pub fn run() -> ExitCode {
    let address = |settings: &Settings| settings.bind_addr;
    main_with("shepherd-server", address, |startup| async move {
        let address = startup.settings.bind_addr;
        let app = app::router(app::Gateway::new(&startup));
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .map_err(|source| StartupError::Listen { variable: "BIND_ADDR", address, source })?;
        tracing::info!("listening on {address}");
        serve::serve(listener, app, &startup.shutdown).await;
        tracing::info!("stopped");
        Ok(())
    })
}
