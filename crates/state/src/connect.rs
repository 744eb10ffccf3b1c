//! Connections to Redis, and the handle that everything else hangs on.

use std::time::Duration;

use std::collections::HashMap;

use meters::CommandKind;
use redis::InfoDict;

use crate::address::RedisAddress;
use crate::error::{Action, StateError};
use crate::link::{Link, Open};
use crate::script::Scripts;
use crate::source::Source;

/// Where Redis is and how patient we are with it.
#[derive(Clone)]
pub struct RedisSettings {
    /// Where it is.
    pub address: RedisAddress,
    /// Password, where the server asks for one.
    pub password: Option<String>,
    /// How long one command may take.
    pub command_timeout: Duration,
    /// How long one command that carries a payload may take.
    pub payload_timeout: Duration,
    /// In how many partitions the queries are divided.
    pub partitions: u16,
    /// How many queries may be in their first operation, waiting for it or at it, per partition.
    pub max_queued: usize,
    /// How many queries may be open, in any operation, per partition.
    pub max_open: usize,
    /// How many log entries are kept per query; the newest stay.
    pub max_logs: usize,
    /// How long what a query left behind is kept after its deadline.
    pub ttl: Duration,
}

impl std::fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisSettings").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The state of all queries, in Redis. Cheap to clone.
///
/// Payloads have a connection of their own, so that a large one does not hold up small commands, and
/// blocking reads have one each.
#[derive(Clone)]
pub struct Store {
    source: Source,
    pub(crate) small: Link,
    pub(crate) large: Link,
    pub(crate) scripts: &'static Scripts,
    pub(crate) settings: std::sync::Arc<RedisSettings>,
}

impl Store {
    /// Prepares the connections; they are opened by the first command, so this works while Redis is
    /// still starting.
    ///
    /// # Errors
    /// [`StateError::Redis`] when the settings make no address.
    pub fn open(settings: RedisSettings) -> Result<Self, StateError> {
        const ACTION: &str = "be addressed";
        let source = Source::new(&settings.address, settings.password.as_deref()).action(ACTION)?;
        Ok(Self {
            small: source.link(settings.command_timeout, CommandKind::Command).action(ACTION)?,
            large: source.link(settings.payload_timeout, CommandKind::Payload).action(ACTION)?,
            source,
            scripts: Scripts::shared(),
            settings: std::sync::Arc::new(settings),
        })
    }

    /// Asks Redis for a sign of life.
    ///
    /// # Errors
    /// [`StateError::Redis`] when it gives none.
    pub async fn ping(&self) -> Result<(), StateError> {
        redis::cmd("PING").query_async(&mut self.small.clone()).await.action("answer PING")
    }

    /// How much memory Redis uses; of several nodes, the one that is closest to its limit.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn memory(&self) -> Result<Memory, StateError> {
        let mut info = redis::cmd("INFO");
        info.arg("memory");
        let mut link = self.small.clone();
        // a cluster tells of every node
        let nodes: Vec<InfoDict> = match &self.settings.address {
            RedisAddress::Single(_) | RedisAddress::Sentinel { .. } => {
                info.query_async(&mut link).await.map(|one| vec![one])
            }
            RedisAddress::Cluster(_) => info
                .query_async::<HashMap<String, InfoDict>>(&mut link)
                .await
                .map(|all| all.into_values().collect()),
        }
        .action("tell its memory")?;
        let fuller = |one: Memory, other: Memory| if other.fullness() > one.fullness() { other } else { one };
        Ok(nodes.iter().map(Memory::read).reduce(fuller).unwrap_or_default())
    }

    /// The partitions, for readers that must cover them all.
    pub fn partitions(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.settings.partitions
    }

    /// A connection for one blocking reader. Dropping it ends the read on the server's side as well,
    /// so that no entry is handed to a reader that has gone.
    pub(crate) async fn blocking_connection(&self) -> Result<Open, StateError> {
        self.source.open(None).await.action("be reached for reading")
    }

    /// A connection that only listens.
    pub(crate) async fn listening_connection(&self) -> Result<redis::aio::PubSub, StateError> {
        self.source.listen().await.action("be reached for listening")
    }
}

/// Memory of Redis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// What it uses, in bytes.
    pub used_bytes: f64,
    /// What it may use (`maxmemory`), in bytes; 0 where it has no limit.
    pub max_bytes: f64,
}

impl Memory {
    fn read(info: &InfoDict) -> Self {
        let bytes = |name: &str| info.get::<f64>(name).unwrap_or_default();
        Self { used_bytes: bytes("used_memory"), max_bytes: bytes("maxmemory") }
    }

    /// How much of its limit is used, in percent; `None` where there is no limit.
    pub fn used_pct(&self) -> Option<f64> {
        (self.max_bytes > 0.0).then(|| self.used_bytes / self.max_bytes * 100.0)
    }

    fn fullness(&self) -> (f64, f64) {
        (self.used_pct().unwrap_or_default(), self.used_bytes)
    }
}
