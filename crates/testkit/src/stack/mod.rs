//! The whole of Shepherd as processes: a private redis-server, the gateway, the workers, and a Retriever if wanted.
//!
//! The same supervisor serves the developer binary and the end-to-end tests: it starts the very programs that are
//! deployed, waits until each says that it is ready, keeps a log file of each, and ends them in order. Every process is
//! known by its label and only ever signalled through its own handle.

mod builder;
mod environment;
mod error;
mod locate;
mod member;
mod pid_file;
mod start;

use rustix::process::Signal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

use crate::ports;
pub use builder::{RetrieverChoice, StackBuilder};
pub use error::{Death, StackError};
pub use locate::{bin_dir_near, find_rules_dir};
use member::Member;
use pid_file::PidFile;

/// Label of the private redis-server.
pub const REDIS: &str = "redis";
/// Label of the Retriever, where the stack runs one.
pub const RETRIEVER: &str = "retriever";
/// Label and program name of the gateway.
pub const GATEWAY: &str = "shepherd-server";
/// Labels and program names of the workers.
pub const WORKERS: &[&str] = &[
    "aragorn-lookup",
    "aragorn-pathfinder",
    "arax-lookup",
    "arax-pathfinder",
    "bte-lookup",
    "example-lookup",
    "sipr-lookup",
    "operations",
    "finish-query",
];

/// What is known about one process of the stack.
#[derive(Clone, Debug)]
pub struct ProcessInfo {
    /// Its label.
    pub label: String,
    /// Its process id.
    pub pid: u32,
    /// Its log file.
    pub log: PathBuf,
}

/// A running stack; killed and reaped when dropped, ended in order by [`Stack::shutdown`].
#[derive(Debug)]
pub struct Stack {
    /// In the order of starting; ended the other way round, but the gateway before the workers.
    members: Vec<Member>,
    client: reqwest::Client,
    gateway_port: u16,
    redis_port: u16,
    retriever_url: Option<String>,
    ready_limit: Duration,
    stop_limit: Duration,
    pid_file: Option<PidFile>,
    log_dir: PathBuf,
    // Last: they must outlive the processes that write into them.
    _directories: Vec<TempDir>,
}

impl Stack {
    /// A stack of the programs in `bin_dir`.
    pub fn builder(bin_dir: impl Into<PathBuf>) -> StackBuilder {
        StackBuilder::new(bin_dir.into())
    }

    /// A stack of the programs built beside the one that runs now, a test for example, with the nearest rule packs.
    ///
    /// # Errors
    /// [`StackError::MissingBinary`] when the gateway was not built.
    pub fn builder_beside_this_program() -> Result<StackBuilder, StackError> {
        let exe = std::env::current_exe().map_err(StackError::OwnPath)?;
        let missing = || StackError::MissingBinary {
            name: GATEWAY.to_owned(),
            dir: exe.parent().unwrap_or(&exe).to_owned(),
        };
        let builder = Self::builder(bin_dir_near(&exe, GATEWAY).ok_or_else(missing)?);
        Ok(find_rules_dir(&exe).into_iter().fold(builder, StackBuilder::rules_dir))
    }

    /// `http://127.0.0.1:port` of the gateway.
    pub fn gateway_url(&self) -> String {
        format!("http://{}", ports::loopback(self.gateway_port))
    }

    /// `redis://127.0.0.1:port/` of the private redis-server.
    pub fn redis_url(&self) -> String {
        format!("redis://{}/", ports::loopback(self.redis_port))
    }

    /// Base URL of the Retriever, where the stack was told one.
    pub fn retriever_url(&self) -> Option<&str> {
        self.retriever_url.as_deref()
    }

    /// The directory of the log files.
    pub fn log_dir(&self) -> &Path {
        &self.log_dir
    }

    /// All processes, in the order of starting.
    pub fn processes(&self) -> Vec<ProcessInfo> {
        let info = |member: &Member| ProcessInfo {
            label: member.label().to_owned(),
            pid: member.process().pid(),
            log: member.spec().log.clone(),
        };
        self.members.iter().map(info).collect()
    }

    /// Process id of `label`.
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`].
    pub fn pid(&self, label: &str) -> Result<u32, StackError> {
        Ok(self.member(label)?.process().pid())
    }

    /// Where `label` listens: a gateway for everything, a worker for health checks.
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`].
    pub fn addr(&self, label: &str) -> Result<SocketAddr, StackError> {
        Ok(self.member(label)?.addr())
    }

    /// Everything `label` has written since the stack was started.
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`].
    pub fn logs(&self, label: &str) -> Result<String, StackError> {
        let bytes = std::fs::read(&self.member(label)?.spec().log).unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Kills `label` (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`] or [`StackError::Process`].
    pub async fn kill(&self, label: &str) -> Result<(), StackError> {
        self.member(label)?.kill().await
    }

    /// Asks `label` to end (SIGTERM) and waits until it is gone; after the stop limit it is killed.
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`] or [`StackError::Process`].
    pub async fn terminate(&self, label: &str) -> Result<(), StackError> {
        self.member(label)?.terminate(self.stop_limit).await
    }

    /// Freezes `label` (SIGSTOP).
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`] or [`StackError::Process`].
    pub fn stop(&self, label: &str) -> Result<(), StackError> {
        self.member(label)?.signal(Signal::STOP)
    }

    /// Lets `label` go on (SIGCONT).
    ///
    /// # Errors
    /// [`StackError::UnknownLabel`] or [`StackError::Process`].
    pub fn cont(&self, label: &str) -> Result<(), StackError> {
        self.member(label)?.signal(Signal::CONT)
    }

    /// Starts `label` anew, ending it first (SIGTERM) if it still runs, and waits until it is ready.
    ///
    /// # Errors
    /// [`StackError`] when it does not end, does not start, or does not become ready.
    pub async fn restart(&self, label: &str) -> Result<(), StackError> {
        let member = self.member(label)?;
        member.terminate(self.stop_limit).await?;
        member.spawn_again()?;
        self.write_pid_file()?;
        member.wait_ready(&self.client, self.ready_limit).await
    }

    /// Waits until `label` says that it is ready.
    ///
    /// # Errors
    /// [`StackError`] when it dies or takes longer than the ready limit.
    pub async fn wait_ready(&self, label: &str) -> Result<(), StackError> {
        self.member(label)?.wait_ready(&self.client, self.ready_limit).await
    }

    /// Resolves when a process ends that nobody asked to. Cancel-safe.
    ///
    /// It watches the processes that run when it is called: call it again after a restart.
    pub async fn death(&self) -> Death {
        let deaths = self.members.iter().map(|member| Box::pin(member.death()));
        futures_util::future::select_all(deaths).await.0
    }

    /// Ends everything in order: the gateway, then the workers together, then what they use.
    ///
    /// # Errors
    /// The first [`StackError::Process`]; the others are ended nevertheless.
    pub async fn shutdown(self) -> Result<(), StackError> {
        let (services, ours): (Vec<_>, Vec<_>) =
            self.members.iter().partition(|member| [REDIS, RETRIEVER].contains(&member.label()));
        let (gateway, workers): (Vec<_>, Vec<_>) =
            ours.into_iter().partition(|member| member.label() == GATEWAY);
        let mut outcome = Ok(());
        for group in [gateway, workers, services] {
            let ends = group.iter().map(|member| member.shut_down(self.stop_limit));
            for ended in futures_util::future::join_all(ends).await {
                outcome = outcome.and(ended.map_err(StackError::Process));
            }
        }
        outcome
    }

    fn member(&self, label: &str) -> Result<&Member, StackError> {
        let found = self.members.iter().find(|member| member.label() == label);
        found.ok_or_else(|| StackError::UnknownLabel(label.to_owned()))
    }

    fn write_pid_file(&self) -> Result<(), StackError> {
        let Some(file) = &self.pid_file else { return Ok(()) };
        let processes = self.members.iter().map(|member| (member.label(), member.process().pid()));
        let path = file.path().to_owned();
        file.write(processes).map_err(|source| StackError::Write { path, source })
    }
}
