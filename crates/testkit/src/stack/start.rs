//! Starting what a [`StackBuilder`] describes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use super::builder::{RetrieverChoice, StackBuilder};
use super::environment::Environment;
use super::member::{Member, Readiness};
use super::pid_file::PidFile;
use super::{GATEWAY, RETRIEVER, Stack, StackError};
use crate::http;
use crate::ports;
use crate::process::ProcessSpec;
use crate::redis_server::PrivateRedis;

/// Tries when another process takes a chosen port in the moment before it is used.
const TRIES: usize = 3;

/// The ports of one start.
struct Ports {
    gateway: u16,
    retriever: u16,
    /// One for the gateway and one for each worker.
    admin: Vec<u16>,
}

impl StackBuilder {
    /// Starts everything and waits until every process is ready.
    ///
    /// # Errors
    /// See [`StackError`]; what was started is ended again.
    pub async fn start(&self) -> Result<Stack, StackError> {
        let mut tries = 1;
        loop {
            match self.start_once().await {
                Err(error) if error.is_lost_port() && tries < TRIES => tries += 1,
                other => return other,
            }
        }
    }

    async fn start_once(&self) -> Result<Stack, StackError> {
        let ours = self.programs()?;
        let ports = self.choose_ports(ours.len())?;
        let mut directories = Vec::new();
        let log_dir = directory(self.log_dir.as_deref(), "shepherd-logs-", &mut directories)?;
        let redis = self.start_redis(&log_dir).await?;
        let redis_port = redis.port();
        let (process, spec, temporary) = redis.into_parts();
        directories.extend(temporary);
        let mut stack = Stack {
            members: vec![Member::running(process, spec, Readiness::Redis(redis_port))],
            client: http::plain_client().map_err(StackError::Client)?,
            gateway_port: ports.gateway,
            redis_port,
            retriever_url: self.retriever_url(&ports),
            ready_limit: self.ready_limit,
            stop_limit: self.stop_limit,
            pid_file: self.pid_file.clone().map(PidFile::new),
            log_dir,
            _directories: directories,
        };
        if let RetrieverChoice::Process { program, args, .. } = &self.retriever {
            let port = ports.retriever;
            let mut args = args.clone();
            args.extend(["--port".into(), port.to_string().into()]);
            let spec = self.spec(&stack, RETRIEVER, program.clone(), args, BTreeMap::new());
            let readiness = Readiness::Http(ports::loopback(port));
            stack.members.push(Member::spawn(spec, readiness)?);
        }
        for ((label, program), admin) in ours.into_iter().zip(&ports.admin) {
            let member = self.spawn(&stack, &label, program, *admin)?;
            stack.members.push(member);
        }
        stack.write_pid_file()?;
        let ready = stack.members.iter().map(|member| member.wait_ready(&stack.client, self.ready_limit));
        futures_util::future::try_join_all(ready).await?;
        Ok(stack)
    }

    /// Label and path of the gateway and the workers.
    fn programs(&self) -> Result<Vec<(String, PathBuf)>, StackError> {
        let gateway = self.gateway.then(|| (GATEWAY.to_owned(), GATEWAY.to_owned()));
        let all = gateway.iter().chain(&self.workers);
        all.map(|(label, name)| {
            let path = self.bin_dir.join(name);
            if !path.is_file() {
                return Err(StackError::MissingBinary { name: name.clone(), dir: self.bin_dir.clone() });
            }
            Ok((label.clone(), path))
        })
        .collect()
    }

    fn choose_ports(&self, admin: usize) -> Result<Ports, StackError> {
        let mut free = ports::unused_many(2 + admin).map_err(StackError::Port)?;
        let mut pick = |wanted: u16| {
            let spare = free.pop().unwrap_or_default();
            if wanted == 0 { spare } else { wanted }
        };
        let retriever = match self.retriever {
            RetrieverChoice::Process { port, .. } => pick(port),
            _ => 0,
        };
        let gateway = pick(self.gateway_port);
        let admin =
            (0..admin).zip(0u16..).map(|(_, nth)| pick(self.admin_port_base.map_or(0, |base| base + nth)));
        Ok(Ports { gateway, retriever, admin: admin.collect() })
    }

    async fn start_redis(&self, log_dir: &Path) -> Result<PrivateRedis, StackError> {
        let mut redis = PrivateRedis::builder().port(self.redis_port).log(log_dir.join("redis.log"));
        if let Some(dir) = &self.data_dir {
            redis = redis.data_dir(dir);
        }
        if self.own_group {
            redis = redis.own_group();
        }
        for (name, value) in &self.redis_settings {
            redis = redis.setting(name, value);
        }
        redis.start().await.map_err(StackError::Redis)
    }

    fn retriever_url(&self, ports: &Ports) -> Option<String> {
        match &self.retriever {
            RetrieverChoice::At(base) => Some(base.trim_end_matches('/').to_owned()),
            RetrieverChoice::Process { .. } => Some(format!("http://{}", ports::loopback(ports.retriever))),
            RetrieverChoice::FromEnvironment => None,
        }
    }

    /// Spawns the gateway or a worker.
    fn spawn(&self, stack: &Stack, label: &str, program: PathBuf, admin: u16) -> Result<Member, StackError> {
        let mut ready_at = ports::loopback(self.ports.get(label).copied().unwrap_or(admin));
        let mut wiring = BTreeMap::from([("ADMIN_ADDR".to_owned(), ready_at.to_string())]);
        if label == GATEWAY {
            ready_at = ports::loopback(stack.gateway_port);
        }
        // a gateway answers health checks where it answers everything else
        if program.file_name().is_some_and(|name| name == GATEWAY) {
            wiring.insert("BIND_ADDR".to_owned(), ready_at.to_string());
        }
        let spec = self.spec(stack, label, program, Vec::new(), wiring);
        Member::spawn(spec, Readiness::Http(ready_at))
    }

    fn spec(
        &self,
        stack: &Stack,
        label: &str,
        program: PathBuf,
        args: Vec<OsString>,
        wiring: BTreeMap<String, String>,
    ) -> ProcessSpec {
        let mut environment = self.environment(stack);
        environment.wiring.extend(wiring);
        environment.overrides.extend(self.env_for.get(label).cloned().unwrap_or_default());
        // Variables that are not text are none of ours.
        let operator = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        ProcessSpec {
            label: label.to_owned(),
            program,
            args,
            env: environment.resolve(operator),
            inherits_env: false,
            log: stack.log_dir.join(format!("{label}.log")),
            own_group: self.own_group,
        }
    }

    /// What every process gets.
    fn environment(&self, stack: &Stack) -> Environment {
        let gateway = stack.gateway_url();
        let mut defaults = BTreeMap::from([
            ("CALLBACK_HOST".to_owned(), gateway.clone()),
            ("SERVER_URL".to_owned(), gateway.clone()),
            ("LOG_LEVEL".to_owned(), "INFO".to_owned()),
            // people read the logs of such a stack
            ("LOG_FORMAT".to_owned(), "pretty".to_owned()),
        ]);
        if let Some(rules) = &self.rules_dir {
            defaults.insert("RULES_DIR".to_owned(), rules.display().to_string());
        }
        let mut wiring = BTreeMap::from([
            ("REDIS_HOST".to_owned(), "127.0.0.1".to_owned()),
            ("REDIS_PORT".to_owned(), stack.redis_port.to_string()),
        ]);
        // A Retriever of our own is part of the stack: a variable meant for another one must not reach past it.
        if let Some(retriever) = &stack.retriever_url {
            let paths = [
                ("KG_RETRIEVAL_URL", "asyncquery"),
                ("SYNC_KG_RETRIEVAL_URL", "query"),
                ("KG_REHYDRATE_URL", "rehydrate"),
                ("ARAX_URL", "arax/query"),
            ];
            wiring.extend(paths.map(|(name, path)| (name.to_owned(), format!("{retriever}/{path}"))));
            wiring.insert("CALLBACK_HOST".to_owned(), gateway);
        }
        Environment { inherits: self.inherits, defaults, wiring, overrides: self.env.clone() }
    }
}

/// The directory asked for, made if need be, or a temporary one that is added to `temporary`.
fn directory(
    wanted: Option<&Path>,
    prefix: &str,
    temporary: &mut Vec<TempDir>,
) -> Result<PathBuf, StackError> {
    if let Some(dir) = wanted {
        let write_error = |source| StackError::Write { path: dir.to_owned(), source };
        std::fs::create_dir_all(dir).map_err(write_error)?;
        return dir.canonicalize().map_err(write_error);
    }
    let made = tempfile::Builder::new().prefix(prefix).tempdir();
    let made = made.map_err(|source| StackError::Write { path: std::env::temp_dir(), source })?;
    let path = made.path().to_owned();
    temporary.push(made);
    Ok(path)
}
