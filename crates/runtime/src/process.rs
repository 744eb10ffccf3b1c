//! From `main` to a running worker and back.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use meters::{Exposition, RecorderError};
use rand::SeedableRng;
use rand::rngs::StdRng;
use state::{ConsumerName, StateError, Store};

use crate::admin::{self, Health};
use crate::command_line::{self, Request, UnknownArgument};
use crate::health_check::{self, Unhealthy};
use crate::http::HttpClientError;
use crate::settings::{Settings, SettingsError};
use crate::shutdown::Shutdown;
use crate::text::Causes;
use crate::worker::{self, Worker};

/// Why a process did not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// The command line cannot be used.
    #[error(transparent)]
    CommandLine(#[from] UnknownArgument),
    /// The settings cannot be used.
    #[error("the settings cannot be used")]
    Settings(#[from] SettingsError),
    /// Redis cannot be addressed.
    #[error("Redis cannot be used")]
    State(#[from] StateError),
    /// No HTTP client could be made.
    #[error("outgoing HTTP cannot be used")]
    Http(#[from] HttpClientError),
    /// Traces cannot be sent.
    #[error("JAEGER_HOST, JAEGER_PORT: traces cannot be sent there")]
    Telemetry(#[from] opentelemetry_otlp::ExporterBuildError),
    /// Metrics cannot be recorded.
    #[error("metrics cannot be recorded")]
    Metrics(#[from] RecorderError),
    /// An address cannot be listened on.
    #[error("{variable}: cannot listen on {address}")]
    Listen {
        /// The variable that names the address.
        variable: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The process that was asked for is not well.
    #[error(transparent)]
    Unhealthy(#[from] Unhealthy),
    /// Signals cannot be listened to.
    #[error("signals cannot be listened to")]
    Signals(#[source] std::io::Error),
    /// What this worker needs beside the settings cannot be loaded.
    #[error("{what}")]
    Load {
        /// What cannot be loaded.
        what: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a worker is built from.
pub struct Startup {
    /// The settings.
    pub settings: Settings,
    /// The state of all queries.
    pub store: Store,
    /// The name under which this process takes entries.
    pub consumer: ConsumerName,
    /// The client for outgoing calls.
    pub http: reqwest::Client,
    /// When to stop.
    pub shutdown: Shutdown,
    /// What this process has counted and timed.
    pub metrics: Exposition,
}

/// How often recorded values are taken in, so that they do not pile up where nobody scrapes.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Runs a process: answers an option (see `--help`), or loads the settings and runs `body`. `address` is
/// where it answers health checks.
pub fn main_with<F>(
    name: &str,
    address: fn(&Settings) -> SocketAddr,
    body: impl FnOnce(Startup) -> F,
) -> ExitCode
where
    F: Future<Output = Result<(), StartupError>>,
{
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("{name}: no threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(start(name, address, body)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {}", Causes(&error));
            ExitCode::FAILURE
        }
    }
}

async fn start<F>(
    name: &str,
    address: fn(&Settings) -> SocketAddr,
    body: impl FnOnce(Startup) -> F,
) -> Result<(), StartupError>
where
    F: Future<Output = Result<(), StartupError>>,
{
    let request = Request::read(std::env::args().skip(1))?;
    if request != Request::Run {
        return answer(name, request, address).await;
    }
    let settings = Settings::load()?;
    let _telemetry = crate::telemetry::init(name, settings.logs, settings.traces.as_ref())?;
    let metrics = meters::install(name, env!("CARGO_PKG_VERSION"))?;
    tokio::spawn(keep_up(metrics.clone()));
    meters::redis_started();
    let store = Store::open(settings.redis.clone())?;
    let host = std::env::var("HOSTNAME").unwrap_or_default();
    let consumer = ConsumerName::random(&format!("{name}@{host}"), &mut StdRng::from_os_rng());
    let http = crate::http::http_client()?;
    let shutdown = Shutdown::on_signals(settings.drain_timeout).map_err(StartupError::Signals)?;
    tracing::info!("{name} {} starting as {consumer}", env!("CARGO_PKG_VERSION"));
    body(Startup { settings, store, consumer, http, shutdown, metrics }).await
}

/// Answers an option of the command line.
async fn answer(
    name: &str,
    request: Request,
    address: fn(&Settings) -> SocketAddr,
) -> Result<(), StartupError> {
    match request {
        Request::Run => {}
        Request::Help => print!("{}", command_line::help(name)),
        Request::Version => println!("{name} {}", env!("CARGO_PKG_VERSION")),
        Request::PrintConfig => print_config(&Settings::load()?),
        Request::CheckHealth => health_check::ask(address(&Settings::load()?), "/livez").await?,
        Request::CheckReady => health_check::ask(address(&Settings::load()?), "/readyz").await?,
    }
    Ok(())
}

async fn keep_up(metrics: Exposition) {
    let mut ticks = tokio::time::interval(UPKEEP_EVERY);
    loop {
        ticks.tick().await;
        metrics.upkeep();
    }
}

fn print_config(settings: &Settings) {
    for shown in settings.shown() {
        println!("# {} (default: {})\n{shown}", shown.about, shown.default);
    }
}

/// Runs a worker process: builds the worker and lets it handle entries until the process is told to stop.
pub fn run_worker<W: Worker>(
    name: &str,
    build: impl FnOnce(&Startup) -> Result<W, StartupError>,
) -> ExitCode {
    let address = |settings: &Settings| settings.admin_addr;
    main_with(name, address, |startup| async move {
        let worker = build(&startup)?;
        let health = Health::of(&startup);
        let address = startup.settings.admin_addr;
        admin::serve_health(address, health).await.map_err(|source| StartupError::Listen {
            variable: "ADMIN_ADDR",
            address,
            source,
        })?;
        worker::run(worker, &startup).await;
        tracing::info!("stopped");
        Ok(())
    })
}
