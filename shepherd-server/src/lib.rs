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
mod framing;
mod hang_up;
mod intake;
mod linger;
mod meta_knowledge_graph;
mod openapi;
mod query;
mod status;
mod trace;

use std::process::ExitCode;

use runtime::{Settings, Shutdown, StartupError, main_with, serve};

/// Connections open at once.
const MAX_CONNECTIONS: usize = 20_000;

/// Runs the gateway until it is told to stop.
pub fn run() -> ExitCode {
    let address = |settings: &Settings| settings.bind_addr;
    main_with("shepherd-server", address, |startup| async move {
        let address = startup.settings.bind_addr;
        let app = app::router(app::Gateway::new(&startup), &startup.settings);
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .map_err(|source| StartupError::Listen { variable: "BIND_ADDR", address, source })?;
        tracing::info!("listening on {address}");
        let Shutdown { drain, abort } = &startup.shutdown;
        serve(listener, app, MAX_CONNECTIONS, drain, abort).await;
        tracing::info!("stopped");
        Ok(())
    })
}
