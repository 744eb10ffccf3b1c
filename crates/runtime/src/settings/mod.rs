//! The settings of every process: one struct, read once at start.
//!
//! Variables of the environment come first, then an optional file (`CONFIG_FILE`; TOML, YAML or JSON
//! with the same names in lower case), then the defaults. A bad value stops the process with the
//! variable's name and what was expected. The names are those that operators already use.

mod parse;
mod reader;
mod secrets;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use budget::Budgets;
use state::{RedisAddress, RedisNode, RedisSettings};
use trapi::Dialect;
use url::Url;

use crate::callback_policy::CallbackPolicy;
use crate::telemetry::{LogSettings, TraceSettings};

use reader::Reader;
pub use reader::{Problem, SettingsError, Shown};

/// Where the counts of publications are.
#[derive(Clone, Debug)]
pub struct OmnicorpFiles {
    /// How many publications name a node, and its index.
    pub curies: PathBuf,
    /// How many publications name both of two nodes.
    pub shared_counts: PathBuf,
}

/// How the pathfinder of arax searches.
#[derive(Clone, Debug)]
pub struct AraxPathfinderSettings {
    /// `ARAX_PATHFINDER_DBS_DIR`: where its files are; without it, it knows nothing beforehand.
    pub directory: Option<PathBuf>,
    /// `ARAX_PATHFINDER_TIER_VERSION`: which of several versions of a file is taken; without it, the last by name.
    pub tier_version: Option<String>,
    /// `ARAX_PATHFINDER_TOP_K`: how many neighbours of each node are followed.
    pub top_k: usize,
}

/// The work of a search grows with the square of it.
const LARGEST_TOP_K: usize = 500;

/// The settings of every process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `SERVER_URL`: where this service can be found, as told to Retriever in `submitter`.
    pub server_url: String,
    /// `SERVER_MATURITY`: development, staging, testing or production.
    pub server_maturity: String,
    /// `SERVER_LOCATION`: who runs it.
    pub server_location: String,
    /// `LOG_LEVEL`, `LOG_FORMAT`: how much the process logs, and how.
    pub logs: LogSettings,
    /// Where Redis is: `REDIS_HOST`, `REDIS_PORT`, `REDIS_PASSWORD`, `REDIS_PASSWORD_FILE`, `REDIS_URL`,
    /// `REDIS_TTL`, `PARTITIONS`, `MAX_QUEUED`, `MAX_OPEN_QUERIES`, `MAX_LOGS`.
    pub redis: RedisSettings,
    /// `LOOKUP_TIMEOUT`, `QUERY_TIMEOUT_SEC`, `SYNC_QUERY_TIMEOUT_SEC`, `KG_RETRIEVAL_SUBMIT_TIMEOUT`,
    /// `RETRIEVER_TIMEOUT_MARGIN`, `FINISH_RESERVE_SEC`.
    pub budgets: Budgets,
    /// `CALLBACK_HOST`: the base of the callback URLs that Retriever is given.
    pub callback_host: Url,
    /// `KG_RETRIEVAL_URL`: Retriever's `/asyncquery`.
    pub kg_retrieval_url: Url,
    /// `SYNC_KG_RETRIEVAL_URL`: Retriever's `/query`.
    pub sync_kg_retrieval_url: Url,
    /// `KG_REHYDRATE_URL`: Retriever's `/rehydrate`.
    pub kg_rehydrate_url: Url,
    /// `ARAX_URL`: the `/query` of the ARAX service.
    pub arax_url: Url,
    /// `DEFAULT_DATA_TIER`: the tier asked for when the client names none.
    pub default_data_tier: u32,
    /// `CALLBACK_MAX_REQUEST_SIZE`: largest callback body, on the wire and decoded, in bytes.
    pub callback_max_request_bytes: usize,
    /// `QUERY_MAX_REQUEST_SIZE`: largest query body in bytes.
    pub query_max_request_bytes: usize,
    /// `CALLBACK_ALLOW_PRIVATE`, `CALLBACK_ALLOWED_HOSTS`: which callback URLs are called.
    pub callback_policy: CallbackPolicy,
    /// `ADMISSION_MEMORY_PCT`: new queries are refused while Redis uses more of its memory than this.
    pub admission_memory_pct: u32,
    /// `MAX_HELD_CONNECTIONS`: `/query` connections that one gateway holds.
    pub max_held_connections: usize,
    /// `MAX_BODIES`: query bodies and, apart from them, callback bodies that one gateway reads at once.
    pub max_bodies: usize,
    /// `TASK_LIMIT`: how many steps one worker works on at once.
    pub task_limit: usize,
    /// `MAX_WAITING`: how many lookups one worker holds, waiting ones included.
    pub max_waiting: usize,
    /// `MAX_CONCURRENT_SUBMISSIONS`: how many submissions one worker has open.
    pub max_concurrent_submissions: usize,
    /// `WORKER_DRAIN_TIMEOUT_SEC`: how long a stopping process may take.
    pub drain_timeout: Duration,
    /// `LEASE_SEC`: how long an entry stays with a worker that does not renew it.
    pub lease: Duration,
    /// `MAX_TASK_DELIVERIES`: how often a step may be handed out without being finished.
    pub max_task_deliveries: u32,
    /// `KEEP_CALLBACKS_SEC`: how long callbacks are kept after the merge, for debugging.
    pub keep_callbacks: Duration,
    /// `OMNICORP_CURIES_LMDB_PATH`, `OMNICORP_SHARED_COUNTS_LMDB_PATH`: where the counts of publications are;
    /// neither or both.
    pub omnicorp: Option<OmnicorpFiles>,
    /// `PATHFINDER_EMBEDDINGS_DIR`: where the trained judge of paths is.
    pub path_model_dir: Option<PathBuf>,
    /// `ARAX_PATHFINDER_DBS_DIR`, `ARAX_PATHFINDER_TIER_VERSION`, `ARAX_PATHFINDER_TOP_K`.
    pub arax_pathfinder: AraxPathfinderSettings,
    /// `OPERATIONS`: which operations this process runs; all where none is named.
    pub operations: Vec<String>,
    /// `RULES_DIR`: where the rule packs are.
    pub rules_dir: PathBuf,
    /// `TRAPI_VERSION`: which dialect a request is in that could be either.
    pub trapi_version: Dialect,
    /// `RETRIEVER_TRAPI_VERSION`: in which dialect sub-queries are written.
    pub retriever_trapi_version: Dialect,
    /// `BIOLINK_VERSION`: told in responses.
    pub biolink_version: String,
    /// Where traces go, if anywhere: `OTEL_ENABLED` (by default where `JAEGER_HOST` is set), `JAEGER_HOST`,
    /// `JAEGER_PORT`, `OTEL_SAMPLE_RATIO`.
    pub traces: Option<TraceSettings>,
    /// `BIND_ADDR`: where the gateway listens.
    pub bind_addr: SocketAddr,
    /// `ADMIN_ADDR`: where every other process answers health checks.
    pub admin_addr: SocketAddr,
    shown: Vec<Shown>,
}

impl Settings {
    /// Reads the environment of this process and the file that it names.
    ///
    /// # Errors
    /// [`SettingsError`] names every variable with a bad value and what was expected.
    pub fn load() -> Result<Self, SettingsError> {
        Self::read(Reader::of_process()?)
    }

    /// Reads from `variables` as if they were the environment.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn from_variables<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, SettingsError> {
        Self::read(Reader::of_variables(variables)?)
    }

    #[expect(clippy::too_many_lines, reason = "one entry per setting")]
    fn read(mut r: Reader) -> Result<Self, SettingsError> {
        let redis = redis_settings(&mut r);
        let budgets = budgets(&mut r);
        let traces = traces(&mut r);
        let settings = Self {
            server_url: r.text("SERVER_URL", "http://localhost:5439", "where this service can be found"),
            server_maturity: r.text(
                "SERVER_MATURITY",
                "development",
                "development, staging, testing or production",
            ),
            server_location: r.text("SERVER_LOCATION", "RENCI", "who runs this service"),
            logs: LogSettings {
                level: r.level("LOG_LEVEL", "INFO", "how much this process logs"),
                format: r.log_format("LOG_FORMAT", "json", "json for programs, pretty for people"),
            },
            redis,
            budgets,
            callback_host: r.url(
                "CALLBACK_HOST",
                "http://localhost:5439",
                "base of the callback URLs given to Retriever",
            ),
            kg_retrieval_url: r.url(
                "KG_RETRIEVAL_URL",
                "http://localhost:8080/asyncquery",
                "Retriever's /asyncquery",
            ),
            sync_kg_retrieval_url: r.url(
                "SYNC_KG_RETRIEVAL_URL",
                "http://localhost:8080/query",
                "Retriever's /query",
            ),
            kg_rehydrate_url: r.url(
                "KG_REHYDRATE_URL",
                "http://localhost:8080/rehydrate",
                "Retriever's /rehydrate",
            ),
            arax_url: r.url(
                "ARAX_URL",
                "https://arax.ncats.io/shepherd/api/arax/v1.4/query",
                "/query of the ARAX service, which answers for arax",
            ),
            default_data_tier: r.count("DEFAULT_DATA_TIER", "0", "tier asked for when the client names none"),
            callback_max_request_bytes: r.size(
                "CALLBACK_MAX_REQUEST_SIZE",
                "512Mi",
                "largest callback body, also decoded; 0 means 4Gi",
            ),
            query_max_request_bytes: r.size(
                "QUERY_MAX_REQUEST_SIZE",
                "64Mi",
                "largest query body; 0 means 4Gi",
            ),
            callback_policy: callback_policy(&mut r),
            admission_memory_pct: r.count(
                "ADMISSION_MEMORY_PCT",
                "85",
                "new queries are refused while Redis uses more of its maxmemory than this",
            ),
            max_held_connections: r.positive(
                "MAX_HELD_CONNECTIONS",
                "2000",
                "/query connections that one gateway holds",
            ),
            max_bodies: r.positive(
                "MAX_BODIES",
                "64",
                "query bodies and, apart from them, callback bodies that one gateway reads at once",
            ),
            task_limit: r.positive("TASK_LIMIT", "64", "steps worked on at once"),
            max_waiting: r.positive(
                "MAX_WAITING",
                "10000",
                "lookups one worker holds, waiting ones included",
            ),
            max_concurrent_submissions: r.positive(
                "MAX_CONCURRENT_SUBMISSIONS",
                "1000",
                "submissions one worker has open",
            ),
            drain_timeout: r.seconds(
                "WORKER_DRAIN_TIMEOUT_SEC",
                "30",
                "how long a stopping process may take",
            ),
            lease: r.seconds("LEASE_SEC", "15", "how long a step stays with a worker that does not renew it"),
            max_task_deliveries: r.count(
                "MAX_TASK_DELIVERIES",
                "3",
                "how often a step is handed out before it is given up; 0: always again",
            ),
            keep_callbacks: r.seconds(
                "KEEP_CALLBACKS_SEC",
                "0",
                "how long callbacks are kept after the merge",
            ),
            omnicorp: omnicorp(&mut r),
            path_model_dir: path_model_dir(&mut r),
            arax_pathfinder: arax_pathfinder(&mut r),
            operations: r.list(
                "OPERATIONS",
                "operations that an `operations` worker runs, separated by commas; empty: all",
            ),
            rules_dir: r.text("RULES_DIR", "rules", "directory of the rule packs").into(),
            trapi_version: r.dialect(
                "TRAPI_VERSION",
                "1.6",
                "TRAPI version of requests that could be of either: 1.6 or 2.0",
            ),
            retriever_trapi_version: r.dialect(
                "RETRIEVER_TRAPI_VERSION",
                "1.6",
                "TRAPI version of what Retriever and ARAX are sent: 1.6 or 2.0",
            ),
            biolink_version: r.text("BIOLINK_VERSION", "4.2.5", "told in responses"),
            traces,
            bind_addr: r.address("BIND_ADDR", "0.0.0.0:5439", "where the gateway listens"),
            admin_addr: r.address(
                "ADMIN_ADDR",
                "0.0.0.0:5440",
                "where every other process answers health checks",
            ),
            shown: Vec::new(),
        };
        settings.check_together(&mut r);
        let shown = r.finish()?;
        Ok(Self { shown, ..settings })
    }

    /// What depends on each other is checked here.
    fn check_together(&self, r: &mut Reader) {
        let Budgets { query, sync_query, finish_reserve, .. } = self.budgets;
        for (name, whole) in [("QUERY_TIMEOUT_SEC", query), ("SYNC_QUERY_TIMEOUT_SEC", sync_query)] {
            if !whole.is_zero() && finish_reserve >= whole {
                r.problem(
                    "FINISH_RESERVE_SEC",
                    &format!("less than {name}, or no time is left for the lookup"),
                );
            }
        }
        if self.lease < Duration::from_secs(1) {
            r.problem("LEASE_SEC", "at least 1 second, or steps run twice");
        }
        if self.arax_pathfinder.top_k > LARGEST_TOP_K {
            r.problem("ARAX_PATHFINDER_TOP_K", &format!("at most {LARGEST_TOP_K}"));
        }
        if self.redis.partitions == 0 {
            r.problem("PARTITIONS", "at least 1");
        }
    }

    /// Every variable with its effective value; secrets are masked.
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }
}

fn redis_settings(r: &mut Reader) -> RedisSettings {
    let host = r.text("REDIS_HOST", "localhost", "where Redis is");
    let port = r.port("REDIS_PORT", "6379", "port of Redis");
    let password = r.secret("REDIS_PASSWORD", "password of Redis");
    let in_file =
        r.secret_file("REDIS_PASSWORD_FILE", "REDIS_PASSWORD", "file that holds the password of Redis");
    let password = password.or(in_file);
    let url = r
        .redis_url("REDIS_URL", "in place of host and port: redis://, redis-sentinel:// or redis-cluster://");
    let (address, password) = match url {
        Some(url) => (url.address, url.password.or(password)),
        None => (RedisAddress::Single(RedisNode { host, port }), password),
    };
    RedisSettings {
        address,
        password,
        command_timeout: r.seconds("REDIS_TIMEOUT_SEC", "5", "longest wait for one command"),
        payload_timeout: r.seconds(
            "REDIS_PAYLOAD_TIMEOUT_SEC",
            "30",
            "longest wait for one command with a payload",
        ),
        partitions: r.partitions("PARTITIONS", "1", "in how many Redis slots the queries are divided"),
        max_queued: r.positive(
            "MAX_QUEUED",
            "10000",
            "queries that may be in their first step, waiting for it or at it, per partition",
        ),
        max_open: r.positive(
            "MAX_OPEN_QUERIES",
            "20000",
            "queries that may be open at once, in any step, per partition",
        ),
        max_logs: r.positive("MAX_LOGS", "2000", "log entries kept per query"),
        ttl: r.seconds("REDIS_TTL", "259200", "how long a query's data is kept after its deadline"),
    }
}

fn budgets(r: &mut Reader) -> Budgets {
    let lookup = r.seconds("LOOKUP_TIMEOUT", "210", "lookup budget when the client names none");
    let query = r.seconds("QUERY_TIMEOUT_SEC", "300", "whole-query budget, from intake; 0 disables it");
    let whole = query.as_secs_f64().to_string();
    Budgets {
        lookup,
        query,
        sync_query: r.seconds(
            "SYNC_QUERY_TIMEOUT_SEC",
            &whole,
            "how long /query holds the connection when the client names no timeout",
        ),
        submit: r.seconds("KG_RETRIEVAL_SUBMIT_TIMEOUT", "100", "longest wait for one ACK"),
        retriever_margin: r.seconds(
            "RETRIEVER_TIMEOUT_MARGIN",
            "15",
            "how much earlier than our deadline Retriever is told to stop",
        ),
        finish_reserve: r.seconds("FINISH_RESERVE_SEC", "15", "kept back for merging, ranking and delivery"),
    }
}

fn omnicorp(r: &mut Reader) -> Option<OmnicorpFiles> {
    let curies = r.text(
        "OMNICORP_CURIES_LMDB_PATH",
        "",
        "LMDB file with the publications of each node; empty: no literature",
    );
    let shared_counts = r.text(
        "OMNICORP_SHARED_COUNTS_LMDB_PATH",
        "",
        "LMDB file with the publications that two nodes share; empty: no literature",
    );
    match (curies.is_empty(), shared_counts.is_empty()) {
        (true, true) => None,
        (false, false) => Some(OmnicorpFiles { curies: curies.into(), shared_counts: shared_counts.into() }),
        (true, false) => {
            r.problem("OMNICORP_CURIES_LMDB_PATH", "a file, as OMNICORP_SHARED_COUNTS_LMDB_PATH names one");
            None
        }
        (false, true) => {
            r.problem("OMNICORP_SHARED_COUNTS_LMDB_PATH", "a file, as OMNICORP_CURIES_LMDB_PATH names one");
            None
        }
    }
}

fn path_model_dir(r: &mut Reader) -> Option<PathBuf> {
    let directory = r.text(
        "PATHFINDER_EMBEDDINGS_DIR",
        "",
        "directory with the trained judge of paths; empty: paths are scored by the graph alone",
    );
    (!directory.is_empty()).then(|| directory.into())
}

fn arax_pathfinder(r: &mut Reader) -> AraxPathfinderSettings {
    let directory = r.text(
        "ARAX_PATHFINDER_DBS_DIR",
        "",
        "directory of the SQLite files of arax's pathfinder; empty: it knows nothing beforehand",
    );
    let tier_version = r.text(
        "ARAX_PATHFINDER_TIER_VERSION",
        "",
        "version at the end of the names of those files; empty: the last by name",
    );
    AraxPathfinderSettings {
        directory: (!directory.is_empty()).then(|| directory.into()),
        tier_version: (!tier_version.is_empty()).then_some(tier_version),
        top_k: r.positive(
            "ARAX_PATHFINDER_TOP_K",
            "75",
            "neighbours of each node that arax's pathfinder follows, at most 500",
        ),
    }
}

fn traces(r: &mut Reader) -> Option<TraceSettings> {
    let host = r.text("JAEGER_HOST", "", "host that takes traces (OTLP gRPC), with or without http://");
    let port = r.port("JAEGER_PORT", "4317", "port that takes traces");
    let traced = if host.is_empty() { "false" } else { "true" };
    let enabled =
        r.flag("OTEL_ENABLED", traced, "whether traces are exported; by default where JAEGER_HOST is set");
    let sample_ratio = r.ratio(
        "OTEL_SAMPLE_RATIO",
        "1",
        "share of traces recorded where the caller has not decided, 0 to 1",
    );
    enabled.then(|| TraceSettings { endpoint: endpoint(&host, port), sample_ratio })
}

fn callback_policy(r: &mut Reader) -> CallbackPolicy {
    CallbackPolicy {
        allow_private: r.flag(
            "CALLBACK_ALLOW_PRIVATE",
            "true",
            "whether clients' callback URLs may lead to loopback and private addresses",
        ),
        allowed_hosts: r.list(
            "CALLBACK_ALLOWED_HOSTS",
            "hosts that clients' callback URLs may name, separated by commas, `*.` for a suffix; empty: all",
        ),
    }
}

fn endpoint(host: &str, port: u16) -> String {
    let host = if host.is_empty() { "localhost" } else { host };
    if host.contains("://") { format!("{host}:{port}") } else { format!("http://{host}:{port}") }
}

#[cfg(test)]
mod tests;
