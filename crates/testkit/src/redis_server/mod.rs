//! A redis-server that belongs to one test or one developer, and ends with it.
//!
//! It runs the way production does where that matters: append-only file, no snapshots, nothing evicted.

mod builder;
mod error;

use rustix::process::Signal;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::poll::eventually;
use crate::ports;
use crate::process::{Process, ProcessError, ProcessSpec};
pub use builder::PrivateRedisBuilder;
pub use error::RedisError;

/// How long a server may take to answer its first PING; loading a large append-only file is the slow part.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// How long SIGTERM may take before SIGKILL follows.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// A running redis-server of one's own; stopped and reaped when dropped.
#[derive(Debug)]
pub struct PrivateRedis {
    process: Process,
    spec: ProcessSpec,
    port: u16,
    dir: PathBuf,
    // After `process`: fields drop in order, and the directory must outlive the server.
    temporary: Option<TempDir>,
}

impl PrivateRedis {
    /// Starts one on a free port with a temporary data directory.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn start() -> Result<Self, RedisError> {
        Self::builder().start().await
    }

    /// One with chosen port, directory or settings.
    pub fn builder() -> PrivateRedisBuilder {
        PrivateRedisBuilder::default()
    }

    /// `redis://127.0.0.1:port/`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process id; another one after [`Self::restart`].
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The directory of its append-only file.
    pub fn data_dir(&self) -> &Path {
        &self.dir
    }

    /// Takes it apart for a supervisor of its own: process, how to start it again, and what must outlive it.
    pub(crate) fn into_parts(self) -> (Process, ProcessSpec, Option<TempDir>) {
        (self.process, self.spec, self.temporary)
    }

    /// Its process, to watch for its end.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Ends it (SIGTERM, unless it is gone already) and starts it again on the same port with the same data.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn restart(&mut self) -> Result<(), RedisError> {
        self.stop().await?;
        self.process = spawn(&self.spec)?;
        wait_ready(&self.process, self.port).await
    }

    /// Ends it in order (SIGTERM); [`Self::restart`] brings it back.
    ///
    /// # Errors
    /// [`RedisError::Process`] when it cannot be signalled.
    pub async fn stop(&mut self) -> Result<(), RedisError> {
        self.process.terminate(STOP_LIMIT).await.map(drop).map_err(RedisError::Process)
    }

    /// Kills it (SIGKILL) and waits until it is gone; [`Self::restart`] brings it back.
    ///
    /// # Errors
    /// [`RedisError::Process`] when it cannot be signalled.
    pub async fn kill(&mut self) -> Result<(), RedisError> {
        self.process.kill().await.map(drop).map_err(RedisError::Process)
    }

    /// Freezes it (SIGSTOP): connections stay open and nothing is answered.
    ///
    /// # Errors
    /// [`RedisError::Process`] when it cannot be signalled.
    pub fn pause(&self) -> Result<(), RedisError> {
        self.process.signal(Signal::STOP).map_err(RedisError::Process)
    }

    /// Lets it go on after [`Self::pause`] (SIGCONT).
    ///
    /// # Errors
    /// [`RedisError::Process`] when it cannot be signalled.
    pub fn resume(&self) -> Result<(), RedisError> {
        self.process.signal(Signal::CONT).map_err(RedisError::Process)
    }
}

fn spawn(spec: &ProcessSpec) -> Result<Process, RedisError> {
    Process::spawn(spec).map_err(|error| match error {
        ProcessError::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            RedisError::NotInstalled
        }
        other => RedisError::Process(other),
    })
}

pub(crate) async fn wait_ready(process: &Process, port: u16) -> Result<(), RedisError> {
    let answers =
        eventually("PONG", READY_LIMIT, || async { answers_ping(port, process.pid()).await.then_some(()) });
    tokio::select! {
        _ = process.wait() => Err(RedisError::Died { log: process.log_tail(5) }),
        ready = answers => ready.map_err(|_| RedisError::NotReady {
            port,
            limit: READY_LIMIT,
            log: process.log_tail(5),
        }),
    }
}

/// Whether the server on `port` answers PING with PONG, which it does not before its data is loaded, and is the process
/// `pid`, not another server that had the port first.
async fn answers_ping(port: u16, pid: u32) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(ports::loopback(port)).await?;
        stream.write_all(b"PING\r\nINFO server\r\nQUIT\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<_, io::Error>(answer.starts_with("+PONG") && answer.contains(&format!("process_id:{pid}\r\n")))
    };
    matches!(tokio::time::timeout(Duration::from_secs(1), ask).await, Ok(Ok(true)))
}

#[cfg(test)]
mod tests;
