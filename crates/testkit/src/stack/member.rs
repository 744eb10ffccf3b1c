//! One process of a stack, through all its restarts.

use rustix::process::Signal;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::error::{Death, StackError};
use crate::journal::lock;
use crate::poll::eventually;
use crate::ports;
use crate::process::{Process, ProcessError, ProcessSpec};
use crate::redis_server;

/// Lines of a log that are shown with an error.
const TAIL: usize = 20;
/// One look at a process's readiness must not take longer.
const LOOK_LIMIT: Duration = Duration::from_secs(1);

/// How a process shows that it is ready.
#[derive(Clone, Debug)]
pub(super) enum Readiness {
    /// `/readyz` answers with success at this address, and it is the process itself that answers.
    Http(SocketAddr),
    /// It answers PING on this port.
    Redis(u16),
}

#[derive(Debug)]
pub(super) struct Member {
    spec: ProcessSpec,
    readiness: Readiness,
    process: Mutex<Arc<Process>>,
    /// Set while a test has it down on purpose, so that its end is no news.
    down: AtomicBool,
}

impl Member {
    pub(super) fn spawn(spec: ProcessSpec, readiness: Readiness) -> Result<Self, StackError> {
        let process = Process::spawn(&spec).map_err(StackError::Process)?;
        Ok(Self::running(process, spec, readiness))
    }

    pub(super) fn running(process: Process, spec: ProcessSpec, readiness: Readiness) -> Self {
        Self { spec, readiness, process: Mutex::new(Arc::new(process)), down: AtomicBool::new(false) }
    }

    pub(super) fn label(&self) -> &str {
        &self.spec.label
    }

    pub(super) fn spec(&self) -> &ProcessSpec {
        &self.spec
    }

    pub(super) fn addr(&self) -> SocketAddr {
        match self.readiness {
            Readiness::Http(addr) => addr,
            Readiness::Redis(port) => ports::loopback(port),
        }
    }

    pub(super) fn process(&self) -> Arc<Process> {
        Arc::clone(&lock(&self.process))
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), StackError> {
        self.process().signal(signal).map_err(StackError::Process)
    }

    pub(super) async fn kill(&self) -> Result<(), StackError> {
        self.down.store(true, Ordering::SeqCst);
        self.process().kill().await.map(drop).map_err(StackError::Process)
    }

    pub(super) async fn terminate(&self, limit: Duration) -> Result<(), StackError> {
        self.down.store(true, Ordering::SeqCst);
        self.process().terminate(limit).await.map(drop).map_err(StackError::Process)
    }

    /// Starts it anew; it must have ended.
    pub(super) fn spawn_again(&self) -> Result<(), StackError> {
        let process = Process::spawn(&self.spec).map_err(StackError::Process)?;
        *lock(&self.process) = Arc::new(process);
        self.down.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Resolves when it ends although nobody asked it to.
    pub(super) async fn death(&self) -> Death {
        let process = self.process();
        let status = process.wait().await;
        if self.down.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        self.obituary(status)
    }

    fn obituary(&self, status: std::process::ExitStatus) -> Death {
        Death { label: self.label().to_owned(), status, log: self.process().log_tail(TAIL) }
    }

    /// Waits until it says that it is ready.
    pub(super) async fn wait_ready(
        &self,
        client: &reqwest::Client,
        limit: Duration,
    ) -> Result<(), StackError> {
        let process = self.process();
        match &self.readiness {
            Readiness::Redis(port) => {
                redis_server::wait_ready(&process, *port).await.map_err(StackError::Redis)
            }
            Readiness::Http(addr) => {
                let url = format!("http://{addr}/readyz");
                let look = || async {
                    // A process of another stack may have the port: ours is about to end for that.
                    let ready =
                        is_ready(client, &url).await && ports::is_listener(process.pid(), addr.port());
                    ready.then_some(())
                };
                let ready = eventually("readiness", limit, look);
                tokio::select! {
                    status = process.wait() => Err(self.obituary(status).into()),
                    ready = ready => ready.map_err(|_| StackError::NotReady {
                        label: self.label().to_owned(),
                        url: url.clone(),
                        limit,
                        log: process.log_tail(TAIL),
                    }),
                }
            }
        }
    }

    /// Ends it in order, for the end of the whole stack.
    pub(super) async fn shut_down(&self, limit: Duration) -> Result<(), ProcessError> {
        self.down.store(true, Ordering::SeqCst);
        self.process().terminate(limit).await.map(drop)
    }
}

async fn is_ready(client: &reqwest::Client, url: &str) -> bool {
    let answer = client.get(url).timeout(LOOK_LIMIT).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}
