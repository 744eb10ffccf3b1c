//! How a private redis-server is set up.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use super::{PrivateRedis, RedisError, spawn, wait_ready};
use crate::ports;
use crate::process::ProcessSpec;

/// A free port can be lost to another process between looking and using it.
const PORT_TRIES: usize = 5;

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
