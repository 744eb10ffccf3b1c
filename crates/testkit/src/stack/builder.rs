//! What a stack is to consist of.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::WORKERS;

/// Which Retriever the stack asks.
#[derive(Clone, Debug)]
pub enum RetrieverChoice {
    /// The one at this base URL, for example a double in the test's own process.
    At(String),
    /// One in a process of its own: this program with these arguments, and `--port N`.
    Process {
        /// The program.
        program: PathBuf,
        /// Its arguments before `--port N`.
        args: Vec<OsString>,
        /// The port, or 0 for a free one.
        port: u16,
    },
    /// Whatever the environment says.
    FromEnvironment,
}

/// How a stack is to be started.
#[derive(Clone, Debug)]
#[must_use]
pub struct StackBuilder {
    pub(super) bin_dir: PathBuf,
    pub(super) gateway: bool,
    pub(super) workers: Vec<(String, String)>,
    pub(super) retriever: RetrieverChoice,
    pub(super) gateway_port: u16,
    pub(super) redis_port: u16,
    pub(super) admin_port_base: Option<u16>,
    pub(super) redis_settings: Vec<(String, String)>,
    pub(super) rules_dir: Option<PathBuf>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) log_dir: Option<PathBuf>,
    pub(super) pid_file: Option<PathBuf>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) env_for: BTreeMap<String, BTreeMap<String, String>>,
    pub(super) ports: BTreeMap<String, u16>,
    pub(super) inherits: bool,
    pub(super) own_group: bool,
    pub(super) ready_limit: Duration,
    pub(super) stop_limit: Duration,
}

impl StackBuilder {
    pub(super) fn new(bin_dir: PathBuf) -> Self {
        Self {
            bin_dir,
            gateway: true,
            workers: WORKERS.iter().map(|&name| (name.to_owned(), name.to_owned())).collect(),
            retriever: RetrieverChoice::FromEnvironment,
            gateway_port: 0,
            redis_port: 0,
            admin_port_base: None,
            redis_settings: Vec::new(),
            rules_dir: None,
            data_dir: None,
            log_dir: None,
            pid_file: None,
            env: BTreeMap::new(),
            env_for: BTreeMap::new(),
            ports: BTreeMap::new(),
            inherits: false,
            own_group: false,
            ready_limit: Duration::from_secs(20),
            stop_limit: Duration::from_secs(10),
        }
    }

    /// Starts these workers only, one of each.
    pub fn workers<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.workers = names.into_iter().map(|name| (name.to_owned(), name.to_owned())).collect();
        self
    }

    /// Starts one more process of the program `name`, which may be [`GATEWAY`](super::GATEWAY), under a label of its own;
    /// [`Stack::addr`](super::Stack::addr) tells where it is.
    pub fn another_worker(mut self, label: &str, name: &str) -> Self {
        self.workers.push((label.to_owned(), name.to_owned()));
        self
    }

    /// Starts no gateway.
    pub fn without_gateway(mut self) -> Self {
        self.gateway = false;
        self
    }

    /// Which Retriever to ask.
    pub fn retriever(mut self, choice: RetrieverChoice) -> Self {
        self.retriever = choice;
        self
    }

    /// Port of the gateway; 0, the default, for a free one.
    pub fn gateway_port(mut self, port: u16) -> Self {
        self.gateway_port = port;
        self
    }

    /// Port of the private redis-server; 0, the default, for a free one.
    pub fn redis_port(mut self, port: u16) -> Self {
        self.redis_port = port;
        self
    }

    /// First of the consecutive ports for `ADMIN_ADDR`, the gateway's before the workers'; otherwise free ones.
    pub fn admin_port_base(mut self, base: u16) -> Self {
        self.admin_port_base = Some(base);
        self
    }

    /// A setting of the private redis-server, for example `("maxmemory", "50mb")`.
    pub fn redis_setting(mut self, name: &str, value: &str) -> Self {
        self.redis_settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The directory of the rule packs (`RULES_DIR`).
    pub fn rules_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.rules_dir = Some(dir.into());
        self
    }

    /// Where the private redis-server keeps its data; otherwise in a directory that goes with the stack.
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(dir.into());
        self
    }

    /// Where the log files go, one per process; otherwise into a directory that goes with the stack.
    pub fn log_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.log_dir = Some(dir.into());
        self
    }

    /// Lists label and process id of every process in this file while the stack runs.
    pub fn pid_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.pid_file = Some(file.into());
        self
    }

    /// Sets a variable for every process, whatever the stack or the operator would set.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets a variable for one process.
    pub fn env_for(mut self, label: &str, name: &str, value: &str) -> Self {
        self.env_for.entry(label.to_owned()).or_default().insert(name.to_owned(), value.to_owned());
        self
    }

    /// Where one more gateway or a worker listens; otherwise on a port of `admin_port_base`, or a free one.
    pub fn port(mut self, label: &str, port: u16) -> Self {
        self.ports.insert(label.to_owned(), port);
        self
    }

    /// Passes this process's own variables on; without it, processes get what the stack sets and little more, so that a
    /// test does not depend on who runs it.
    pub fn inherit_settings(mut self) -> Self {
        self.inherits = true;
        self
    }

    /// Puts each process into a group of its own, so that Ctrl-C in a terminal ends them only in order.
    pub fn own_group(mut self) -> Self {
        self.own_group = true;
        self
    }

    /// How long a process may take to become ready. Default 20 s.
    pub fn ready_limit(mut self, limit: Duration) -> Self {
        self.ready_limit = limit;
        self
    }

    /// How long a process may take to end after SIGTERM before it is killed. Default 10 s.
    pub fn stop_limit(mut self, limit: Duration) -> Self {
        self.stop_limit = limit;
        self
    }
}
