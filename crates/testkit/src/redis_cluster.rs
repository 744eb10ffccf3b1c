//! Several redis-servers that know of each other: a cluster, or a master with a replica and a sentinel.

use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::poll::eventually;
use crate::ports;
use crate::process::{Process, ProcessSpec};
use crate::proxy::{TcpProxy, Trouble};
use crate::redis_server::{PrivateRedis, RedisError};

/// How long servers may take to agree.
const AGREE_LIMIT: Duration = Duration::from_secs(30);
/// How long one answer may take.
const HEAR_LIMIT: Duration = Duration::from_millis(500);
/// All hash slots, divided among three masters.
const SLOTS: [(u16, u16); 3] = [(0, 5460), (5461, 10922), (10923, 16383)];
/// What the sentinels call the master.
const MASTER: &str = "main";

/// A cluster of three masters, without replicas.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<PrivateRedis>,
}

impl RedisCluster {
    /// Starts three masters and waits until they agree that the cluster is whole.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn start() -> Result<Self, RedisError> {
        let mut nodes: Vec<(PrivateRedis, u16)> = Vec::new();
        for (first, last) in SLOTS {
            // the usual bus port, ten thousand above, may not exist
            let bus = ports::unused().map_err(RedisError::Port)?;
            let node = PrivateRedis::builder()
                .setting("cluster-enabled", "yes")
                .setting("cluster-port", &bus.to_string())
                .start()
                .await?;
            say(node.port(), &format!("CLUSTER ADDSLOTSRANGE {first} {last}")).await?;
            if let Some((seed, seed_bus)) = nodes.first() {
                say(node.port(), &format!("CLUSTER MEET 127.0.0.1 {} {seed_bus}", seed.port())).await?;
            }
            nodes.push((node, bus));
        }
        let nodes: Vec<PrivateRedis> = nodes.into_iter().map(|(node, _)| node).collect();
        for node in &nodes {
            agreed(node.port(), "CLUSTER INFO", "cluster_state:ok").await?;
        }
        Ok(Self { nodes })
    }

    /// `redis-cluster://…` with all nodes.
    pub fn url(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis-cluster://{}", nodes.join(","))
    }

    /// The masters.
    pub fn nodes(&self) -> &[PrivateRedis] {
        &self.nodes
    }
}

/// A master with one replica, and a sentinel that replaces the one by the other.
#[derive(Debug)]
pub struct RedisSentinel {
    master: PrivateRedis,
    replica: PrivateRedis,
    /// What the master writes goes to the replica through this.
    replication: TcpProxy,
    port: u16,
    // Before `temporary`: the directory must outlive the process.
    _sentinel: Process,
    _temporary: TempDir,
}

impl RedisSentinel {
    /// Starts the three and waits until the sentinel knows the replica.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn start() -> Result<Self, RedisError> {
        let master = PrivateRedis::builder().setting("repl-diskless-sync-delay", "0").start().await?;
        let replication = TcpProxy::start(ports::loopback(master.port())).await;
        let replication = replication.map_err(|error| RedisError::Port(std::io::Error::other(error)))?;
        let replica = PrivateRedis::builder()
            .setting("replicaof", &format!("127.0.0.1 {}", replication.addr().port()))
            .setting("repl-diskless-sync-delay", "0")
            .start()
            .await?;
        agreed(replica.port(), "INFO replication", "master_link_status:up").await?;
        let (port, sentinel, temporary) = start_sentinel(master.port())?;
        let master_of = format!("SENTINEL REPLICAS {MASTER}");
        agreed(port, &master_of, &replica.port().to_string()).await?;
        Ok(Self { master, replica, replication, port, _sentinel: sentinel, _temporary: temporary })
    }

    /// `redis-sentinel://…` with the sentinel and the master's name.
    pub fn url(&self) -> String {
        format!("redis-sentinel://127.0.0.1:{}/{MASTER}", self.port)
    }

    /// Kills the master, once the replica has all that it has, and waits until the replica has taken its place.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn fail_over(&mut self) -> Result<(), RedisError> {
        self.replicated().await?;
        self.fail_over_as_it_is().await
    }

    /// Waits until the replica has all that the master has.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn replicated(&self) -> Result<(), RedisError> {
        // a write of this connection makes WAIT cover all that came before it
        let flush = "SET replicated 1 EX 60\r\nWAIT 1 10000";
        agreed(self.master.port(), flush, ":1").await
    }

    /// From now on the replica gets nothing of what the master writes.
    pub fn stop_replicating(&self) {
        self.replication.set(Trouble::Frozen);
    }

    /// Kills the master and waits until the replica has taken its place, with what it has.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn fail_over_as_it_is(&mut self) -> Result<(), RedisError> {
        // what is held back must not arrive after all
        self.replication.set(Trouble::Down);
        self.master.kill().await?;
        agreed(self.replica.port(), "INFO replication", "role:master").await
    }
}

fn start_sentinel(master: u16) -> Result<(u16, Process, TempDir), RedisError> {
    let temporary = tempfile::Builder::new()
        .prefix("shepherd-sentinel-")
        .tempdir()
        .map_err(|source| RedisError::DataDir { path: std::env::temp_dir(), source })?;
    let port = ports::unused().map_err(RedisError::Port)?;
    let file = temporary.path().join("sentinel.conf");
    let text = format!(
        "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor {MASTER} 127.0.0.1 {master} 1\n\
         sentinel down-after-milliseconds {MASTER} 500\nsentinel failover-timeout {MASTER} 5000\n",
        temporary.path().display()
    );
    std::fs::write(&file, text).map_err(|source| RedisError::DataDir { path: file.clone(), source })?;
    let spec = ProcessSpec {
        label: "sentinel".to_owned(),
        program: "redis-server".into(),
        args: vec![file.into(), "--sentinel".into()],
        env: Vec::new(),
        inherits_env: true,
        log: temporary.path().join("sentinel.log"),
        own_group: false,
    };
    let process = Process::spawn(&spec).map_err(RedisError::Process)?;
    Ok((port, process, temporary))
}

/// Repeats a question until the answer holds `wanted`.
async fn agreed(port: u16, question: &str, wanted: &str) -> Result<(), RedisError> {
    let found = eventually(wanted, AGREE_LIMIT, || async {
        let heard = tokio::time::timeout(HEAR_LIMIT, hear(port, question, wanted)).await;
        matches!(heard, Ok(Ok(true))).then_some(())
    });
    found.await.map_err(|_| RedisError::NotReady {
        port,
        limit: AGREE_LIMIT,
        log: format!("`{question}` never answered `{wanted}`"),
    })
}

/// Asks once and reads until the answer holds `wanted`. Sentinels do not know QUIT, so the end of another
/// answer is not seen: the caller's patience ends it.
async fn hear(port: u16, question: &str, wanted: &str) -> std::io::Result<bool> {
    let mut lines = ask(port, question).await?;
    let mut answer = String::new();
    while lines.read_line(&mut answer).await? > 0 {
        if answer.contains(wanted) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Says one command whose answer is one line.
async fn say(port: u16, command: &str) -> Result<String, RedisError> {
    let said = async {
        let mut answer = String::new();
        ask(port, command).await?.read_line(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    said.await.map_err(RedisError::Port)
}

async fn ask(port: u16, command: &str) -> std::io::Result<BufReader<TcpStream>> {
    let mut stream = BufReader::new(TcpStream::connect(ports::loopback(port)).await?);
    stream.write_all(format!("{command}\r\n").as_bytes()).await?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn cluster_divides_its_keys_among_its_nodes() {
        let cluster = RedisCluster::start().await.unwrap();
        assert!(cluster.url().starts_with("redis-cluster://127.0.0.1:"));
        let mut taken = 0;
        for node in cluster.nodes() {
            taken += usize::from(say(node.port(), "SET somewhere 1").await.unwrap().starts_with("+OK"));
        }
        assert_eq!(taken, 1, "the others refer to it");
    }

    #[tokio::test]
    async fn sentinel_replaces_a_master_that_died() {
        let mut redis = RedisSentinel::start().await.unwrap();
        redis.fail_over().await.unwrap();
        let question = format!("SENTINEL GET-MASTER-ADDR-BY-NAME {MASTER}");
        agreed(redis.port, &question, &redis.replica.port().to_string()).await.unwrap();
    }
}
