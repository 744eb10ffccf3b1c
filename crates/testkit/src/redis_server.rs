//! A redis-server that belongs to one test or one developer, and ends with it.
//!
//! It runs the way production does where that matters: append-only file, no snapshots, nothing evicted.

use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::poll::eventually;
use crate::ports;
use crate::process::{Process, ProcessError, ProcessSpec};

/// How long a server may take to answer its first PING; loading a large append-only file is the slow part.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// How long SIGTERM may take before SIGKILL follows.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// A free port can be lost to another process between looking and using it.
const PORT_TRIES: usize = 5;

/// The private redis-server could not be started or controlled.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// There is no `redis-server` to run.
    #[error("redis-server is not on PATH; install it (Debian: apt-get install redis-server)")]
    NotInstalled,
    /// The data directory could not be made.
    #[error("could not use {path} as data directory")]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// No free port was found.
    #[error("no free port on the loopback interface")]
    Port(#[source] io::Error),
    /// It ended before it answered.
    #[error("redis-server ended at once; its log ends with:\n{log}")]
    Died {
        /// The end of its log.
        log: String,
    },
    /// It runs but does not answer.
    #[error("redis-server did not answer PING on port {port} within {limit:?}; its log ends with:\n{log}")]
    NotReady {
        /// The port.
        port: u16,
        /// How long was waited.
        limit: Duration,
        /// The end of its log.
        log: String,
    },
    /// The process could not be started or signalled.
    #[error("trouble with the redis-server process")]
    Process(#[source] ProcessError),
}

/// How a private redis-server is to be started.
#[derive(Debug, Default)]
#[must_use]
pub struct PrivateRedisBuilder {
    port: Option<u16>,
    data_dir: Option<PathBuf>,
    log: Option<PathBuf>,
    args: Vec<OsString>,
    own_group: bool,
}

impl PrivateRedisBuilder {
    /// Listens on this port; otherwise, and for 0, on a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = (port != 0).then_some(port);
        self
    }

    /// Keeps the append-only file here; otherwise in a directory that is removed with the server.
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(dir.into());
        self
    }

    /// Writes the log here; otherwise into the data directory.
    pub fn log(mut self, file: impl Into<PathBuf>) -> Self {
        self.log = Some(file.into());
        self
    }

    /// Adds a setting, for example `("maxmemory", "50mb")`.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.args.push(format!("--{name}").into());
        self.args.push(value.into());
        self
    }

    /// Puts it into a process group of its own, out of reach of Ctrl-C in a terminal.
    pub fn own_group(mut self) -> Self {
        self.own_group = true;
        self
    }

    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn start(self) -> Result<PrivateRedis, RedisError> {
        let mut tries = 1;
        loop {
            match self.start_once().await {
                // Most likely somebody else got the port; a fresh one helps.
                Err(RedisError::Died { .. }) if self.port.is_none() && tries < PORT_TRIES => tries += 1,
                other => return other,
            }
        }
    }

    async fn start_once(&self) -> Result<PrivateRedis, RedisError> {
        let (dir, kept) = self.directory()?;
        let port = self.port.map_or_else(ports::unused, Ok).map_err(RedisError::Port)?;
        let spec = ProcessSpec {
            label: "redis".to_owned(),
            program: "redis-server".into(),
            args: self.arguments(port, &dir),
            env: Vec::new(),
            inherits_env: true,
            log: self.log.clone().unwrap_or_else(|| dir.join("redis.log")),
            own_group: self.own_group,
        };
        let process = spawn(&spec)?;
        wait_ready(&process, port).await?;
        Ok(PrivateRedis { process, spec, port, dir, temporary: kept })
    }

    fn directory(&self) -> Result<(PathBuf, Option<TempDir>), RedisError> {
        if let Some(dir) = &self.data_dir {
            let data_dir_error = |source| RedisError::DataDir { path: dir.clone(), source };
            std::fs::create_dir_all(dir).map_err(data_dir_error)?;
            // redis-server resolves relative names after it changed into the directory.
            return Ok((dir.canonicalize().map_err(data_dir_error)?, None));
        }
        let temporary = tempfile::Builder::new()
            .prefix("shepherd-redis-")
            .tempdir()
            .map_err(|source| RedisError::DataDir { path: std::env::temp_dir(), source })?;
        Ok((temporary.path().to_owned(), Some(temporary)))
    }

    fn arguments(&self, port: u16, dir: &Path) -> Vec<OsString> {
        let port = port.to_string();
        let fixed = [
            ["--bind", "127.0.0.1"],
            ["--port", &port],
            ["--daemonize", "no"],
            ["--appendonly", "yes"],
            ["--appendfsync", "everysec"],
            ["--save", ""],
            ["--maxmemory-policy", "noeviction"],
        ];
        let mut args: Vec<OsString> = fixed.iter().flatten().map(OsString::from).collect();
        args.extend(["--dir".into(), dir.into()]);
        args.extend(self.args.iter().cloned());
        args
    }
}

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
mod tests {
    use super::*;

    async fn command(port: u16, line: &str) -> String {
        let mut stream = TcpStream::connect(ports::loopback(port)).await.unwrap();
        stream.write_all(format!("{line}\r\nQUIT\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn data_survives_a_kill_and_a_restart() {
        let mut redis = PrivateRedis::start().await.unwrap();
        let first = redis.pid();
        command(redis.port(), "SET kept yes").await;
        redis.kill().await.unwrap();
        assert!(!answers_ping(redis.port(), redis.pid()).await);
        redis.restart().await.unwrap();
        assert_ne!(redis.pid(), first);
        assert!(command(redis.port(), "GET kept").await.contains("yes"));
    }

    #[tokio::test]
    async fn nothing_is_evicted_and_settings_are_passed_on() {
        let redis = PrivateRedis::builder().setting("maxmemory", "64mb").start().await.unwrap();
        assert!(command(redis.port(), "CONFIG GET maxmemory-policy").await.contains("noeviction"));
        assert!(command(redis.port(), "CONFIG GET maxmemory").await.contains("67108864"));
        assert!(command(redis.port(), "CONFIG GET appendonly").await.contains("yes"));
    }

    #[tokio::test]
    async fn a_paused_server_answers_again_after_resume() {
        let redis = PrivateRedis::start().await.unwrap();
        redis.pause().unwrap();
        let asked = tokio::spawn(answers_ping(redis.port(), redis.pid()));
        redis.resume().unwrap();
        assert!(asked.await.unwrap() || answers_ping(redis.port(), redis.pid()).await);
    }

    #[tokio::test]
    async fn a_taken_port_is_reported_with_the_log() {
        let redis = PrivateRedis::start().await.unwrap();
        let second = PrivateRedis::builder().port(redis.port()).start().await;
        assert!(matches!(second, Err(RedisError::Died { log }) if log.contains("in use")));
    }

    #[tokio::test]
    async fn a_temporary_data_directory_goes_with_the_server() {
        let redis = PrivateRedis::start().await.unwrap();
        let dir = redis.data_dir().to_owned();
        assert!(dir.exists());
        drop(redis);
        assert!(!dir.exists());
    }
}
