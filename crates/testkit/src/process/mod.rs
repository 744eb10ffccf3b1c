//! One child process: started with its output in a file, watched, signalled, and always reaped.
//!
//! A thread of its own waits for each child. It learns of the exit without reaping, then reaps and records the status
//! under the lock that signals take too: so no signal can ever reach another process that got the same id.

mod error;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

use crate::journal::lock;
pub use error::ProcessError;

/// What to run; kept, so that the same process can be started again.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// Name in messages and in the pid file.
    pub label: String,
    /// The program, a path or a name on `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables set for it.
    pub env: Vec<(String, String)>,
    /// Whether it has this process's own variables too.
    pub inherits_env: bool,
    /// Where standard output and standard error go, appended.
    pub log: PathBuf,
    /// Whether the child leads a process group of its own, so that Ctrl-C in a terminal does not reach it.
    pub own_group: bool,
}

/// A running (or ended) child process; dropping it kills and reaps it.
#[derive(Debug)]
pub struct Process {
    label: String,
    pid: Pid,
    log: PathBuf,
    shared: Arc<Shared>,
    reaper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// The lock under which the child is reaped and signalled.
    ended: Mutex<Option<ExitStatus>>,
    exit: watch::Sender<Option<ExitStatus>>,
}

impl Process {
    /// Starts `spec`.
    ///
    /// # Errors
    /// [`ProcessError::Log`] or [`ProcessError::Spawn`].
    pub fn spawn(spec: &ProcessSpec) -> Result<Self, ProcessError> {
        let child = spawn_child(spec)?;
        let pid = Pid::from_child(&child);
        let shared = Arc::new(Shared { ended: Mutex::new(None), exit: watch::Sender::new(None) });
        let reaper = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || reap(child, pid, &shared))
        };
        Ok(Self { label: spec.label.clone(), pid, log: spec.log.clone(), shared, reaper: Some(reaper) })
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// The label it was started with.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The file that holds its output.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended, if it has.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *lock(&self.shared.ended)
    }

    /// Waits for its end, however long that takes. Cancel-safe.
    pub async fn wait(&self) -> ExitStatus {
        let mut exit = self.shared.exit.subscribe();
        loop {
            if let Some(status) = *exit.borrow_and_update() {
                return status;
            }
            if exit.changed().await.is_err() {
                // The sender lives in `self.shared`: it cannot close while we borrow `self`.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits for its end, at most `limit`.
    ///
    /// # Errors
    /// [`ProcessError::StillRunning`] after `limit`.
    pub async fn wait_within(&self, limit: Duration) -> Result<ExitStatus, ProcessError> {
        tokio::time::timeout(limit, self.wait()).await.map_err(|_| ProcessError::StillRunning {
            label: self.label.clone(),
            pid: self.pid(),
            limit,
        })
    }

    /// Sends `signal`.
    ///
    /// # Errors
    /// [`ProcessError::NotRunning`] once it has ended, [`ProcessError::Signal`] when the system refuses.
    pub fn signal(&self, signal: Signal) -> Result<(), ProcessError> {
        let ended = lock(&self.shared.ended);
        if let Some(status) = *ended {
            return Err(ProcessError::NotRunning { label: self.label.clone(), status });
        }
        kill_process(self.pid, signal).map_err(|source| ProcessError::Signal {
            label: self.label.clone(),
            pid: self.pid(),
            source: source.into(),
        })
    }

    /// Asks it to end (SIGTERM), and after `limit` makes it end (SIGKILL). An ended process is fine too.
    ///
    /// # Errors
    /// [`ProcessError::Signal`] when the system refuses, [`ProcessError::StillRunning`] when not even SIGKILL helps.
    pub async fn terminate(&self, limit: Duration) -> Result<ExitStatus, ProcessError> {
        match self.signal(Signal::TERM) {
            Err(ProcessError::NotRunning { status, .. }) => return Ok(status),
            other => other?,
        }
        // A process stopped by SIGSTOP would never see the SIGTERM.
        let _ = self.signal(Signal::CONT);
        match self.wait_within(limit).await {
            Ok(status) => Ok(status),
            Err(_) => self.kill().await,
        }
    }

    /// Ends it at once (SIGKILL) and waits until it is reaped. An ended process is fine too.
    ///
    /// # Errors
    /// As [`Self::terminate`].
    pub async fn kill(&self) -> Result<ExitStatus, ProcessError> {
        match self.signal(Signal::KILL) {
            Err(ProcessError::NotRunning { status, .. }) => Ok(status),
            Err(other) => Err(other),
            Ok(()) => self.wait_within(Duration::from_secs(10)).await,
        }
    }

    /// The last `lines` lines of its log; empty when it cannot be read.
    pub fn log_tail(&self, lines: usize) -> String {
        log_tail(&self.log, lines)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already ended is as good as killed.
        let _ = self.signal(Signal::KILL);
        if let Some(reaper) = self.reaper.take() {
            // Ends as soon as the kernel has torn the process down.
            let _ = reaper.join();
        }
    }
}

fn spawn_child(spec: &ProcessSpec) -> Result<Child, ProcessError> {
    let log_error = |source| ProcessError::Log { label: spec.label.clone(), path: spec.log.clone(), source };
    let out = File::options().create(true).append(true).open(&spec.log).map_err(log_error)?;
    let err = out.try_clone().map_err(log_error)?;
    let mut command = Command::new(&spec.program);
    if !spec.inherits_env {
        command.env_clear();
    }
    command
        .args(&spec.args)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    if spec.own_group {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    command.spawn().map_err(|source| ProcessError::Spawn {
        label: spec.label.clone(),
        program: spec.program.display().to_string(),
        source,
    })
}

fn reap(mut child: Child, pid: Pid, shared: &Shared) {
    // NOWAIT leaves the child a zombie, so its id stays taken until the lock below is held.
    while let Err(rustix::io::Errno::INTR) =
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    {}
    let mut ended = lock(&shared.ended);
    // Fails only if somebody else reaped our child; then nothing is known but that it is gone.
    let status = child.wait().unwrap_or_default();
    *ended = Some(status);
    drop(ended);
    shared.exit.send_replace(Some(status));
}

/// The last `lines` lines of a file; empty when it cannot be read.
pub(crate) fn log_tail(path: &Path, lines: usize) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests;
