//! What every process of Shepherd is made of.
//!
//! A worker binary is a few lines: it builds its [`Worker`] and hands it to [`run_worker`], which reads
//! the settings, opens Redis, leases entries, renews the leases, and stops in two steps.

mod admin;
mod callback_policy;
mod clock;
mod command_line;
mod health_check;
mod http;
mod insist;
mod payload;
mod process;
mod serve;
pub mod settings;
mod shutdown;
mod telemetry;
mod text;
mod waits;
mod worker;

pub use admin::{Health, health_router};
pub use callback_policy::{CallbackPolicy, ForbiddenUrl, callback_client};
pub use clock::SystemClock;
pub use http::{HttpClientError, http_client};
pub use insist::insist;
pub use payload::{UnusableBody, WireEncoding, body_work, decode, usable_payload, usable_text};
pub use process::{Startup, StartupError, main_with, run_worker};
pub use serve::serve;
pub use settings::{AraxPathfinderSettings, OmnicorpFiles, Settings};
pub use shutdown::Shutdown;
pub use telemetry::{LogFormat, LogSettings, TraceSettings, join_trace, trace_id, traceparent};
pub use text::{Causes, log_entry, rfc3339};
pub use waits::{Wait, Waits};
pub use worker::{Task, TaskError, WaitingPermit, WorkPermit, Worker};
