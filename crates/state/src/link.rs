//! A connection to wherever the data is now, made when it is first used.
//!
//! A single server has the client library's own manager. With sentinels, a connection to a master that
//! was demoted goes on answering, refusing every write: so after any such error the next command asks the
//! sentinels anew. A cluster's connection finds its nodes by itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use meters::CommandKind;
use redis::aio::{ConnectionLike, ConnectionManager, MultiplexedConnection};
use redis::cluster_async::ClusterConnection;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, ServerErrorKind, Value};
use tokio::sync::Mutex;

use crate::source::Source;

/// A connection that many may use at once. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Link {
    route: Route,
    /// What its commands carry.
    kind: CommandKind,
}

#[derive(Clone)]
pub(crate) enum Route {
    Managed(ConnectionManager),
    Found(Arc<Finder>),
}

impl Link {
    pub(crate) fn new(route: Route, kind: CommandKind) -> Self {
        Self { route, kind }
    }
}

/// An open connection.
#[derive(Clone)]
pub(crate) enum Open {
    Node(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// Finds the data's place, and finds it again after it has moved.
pub(crate) struct Finder {
    source: Source,
    response_timeout: Duration,
    /// Counted up with every new connection, so that one failure is not taken for another's.
    found: Mutex<(u64, Option<Open>)>,
}

impl Finder {
    pub(crate) fn new(source: Source, response_timeout: Duration) -> Self {
        Self { source, response_timeout, found: Mutex::new((0, None)) }
    }

    /// The connection, within the time that a command has: those who stand in line while the data's place does
    /// not answer give up one after the other, not each after the one before.
    async fn connection(&self) -> RedisResult<(u64, Open)> {
        match tokio::time::timeout(self.response_timeout, self.found_or_opened()).await {
            Ok(connection) => connection,
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
        }
    }

    async fn found_or_opened(&self) -> RedisResult<(u64, Open)> {
        let mut found = self.found.lock().await;
        if let (generation, Some(open)) = &*found {
            return Ok((*generation, open.clone()));
        }
        let open = self.source.open(Some(self.response_timeout)).await?;
        found.0 += 1;
        found.1 = Some(open.clone());
        Ok((found.0, open))
    }

    async fn forget(&self, generation: u64) {
        let mut found = self.found.lock().await;
        if found.0 == generation {
            found.1 = None;
        }
    }

    async fn note<T>(&self, generation: u64, outcome: RedisResult<T>) -> RedisResult<T> {
        if let Err(error) = &outcome
            && has_moved(error)
        {
            self.forget(generation).await;
        }
        outcome
    }
}

/// Whether the data may be elsewhere by now.
fn has_moved(error: &RedisError) -> bool {
    error.is_connection_dropped() || error.is_io_error() || matches!(error.kind(), ErrorKind::Server(_))
}

impl ConnectionLike for Open {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Node(node) => node.req_packed_command(cmd),
            Self::Cluster(cluster) => cluster.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Node(node) => node.req_packed_commands(pipeline, offset, count),
            Self::Cluster(cluster) => cluster.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        0
    }
}

impl Route {
    async fn ask(&mut self, cmd: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Managed(manager) => manager.req_packed_command(cmd).await,
            Self::Found(finder) => {
                let (generation, mut open) = finder.connection().await?;
                let outcome = open.req_packed_command(cmd).await;
                finder.note(generation, outcome).await
            }
        }
    }

    async fn ask_all(&mut self, pipeline: &Pipeline, offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        match self {
            Self::Managed(manager) => manager.req_packed_commands(pipeline, offset, count).await,
            Self::Found(finder) => {
                let (generation, mut open) = finder.connection().await?;
                let outcome = open.req_packed_commands(pipeline, offset, count).await;
                finder.note(generation, outcome).await
            }
        }
    }
}

/// Every try is timed and counted.
impl ConnectionLike for Link {
    /// Asks once more when the connection was lost, maybe long ago and unnoticed. The command may have run
    /// already: all that are sent alone are reads, deletions, and scripts, which look at the present state
    /// first. What appends goes in pipelines, which are not repeated.
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            match timed(self.kind, self.route.ask(cmd)).await {
                Err(lost) if lost.is_connection_dropped() => timed(self.kind, self.route.ask(cmd)).await,
                other => other,
            }
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(timed(self.kind, self.route.ask_all(pipeline, offset, count)))
    }

    fn get_db(&self) -> i64 {
        0
    }
}

async fn timed<T>(kind: CommandKind, command: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let started = Instant::now();
    let answer = command.await;
    match &answer {
        Ok(_) => meters::redis_answered(kind, started.elapsed()),
        // a script that Redis does not hold yet is sent whole
        Err(error) if matches!(error.kind(), ErrorKind::Server(ServerErrorKind::NoScript)) => {}
        Err(error) => meters::redis_failed(error.is_connection_dropped() || error.is_io_error()),
    }
    answer
}
