//! Connections to Redis, and the handle that everything else hangs on.

use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo,
};

use crate::error::{Action, StateError};
use crate::script::Scripts;

/// Where Redis is and how patient we are with it.
#[derive(Clone)]
pub struct RedisSettings {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Password, where the server asks for one.
    pub password: Option<String>,
    /// How long one command may take.
    pub command_timeout: Duration,
    /// How long one command that carries a payload may take.
    pub payload_timeout: Duration,
    /// In how many partitions the queries are divided.
    pub partitions: u16,
    /// How many entries may be queued for the first operation of a query, per partition.
    pub max_queued: usize,
    /// How many log entries are kept per query; the newest stay.
    pub max_logs: usize,
    /// How long what a query left behind is kept after its deadline.
    pub ttl: Duration,
}

impl std::fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// The state of all queries, in Redis. Cheap to clone.
///
/// Payloads have a connection of their own, so that a large one does not hold up small commands, and
/// blocking reads have one each.
#[derive(Clone)]
pub struct Store {
    client: Client,
    pub(crate) small: ConnectionManager,
    pub(crate) large: ConnectionManager,
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
        let client = Client::open(connection_info(&settings).action(ACTION)?).action(ACTION)?;
        let manager = |timeout: Duration| {
            let config = ConnectionManagerConfig::new()
                .set_connection_timeout(Some(Duration::from_secs(2)))
                .set_response_timeout(Some(timeout))
                .set_number_of_retries(1)
                .set_min_delay(Duration::from_millis(50))
                .set_max_delay(Duration::from_millis(500));
            ConnectionManager::new_lazy_with_config(client.clone(), config).action(ACTION)
        };
        Ok(Self {
            small: manager(settings.command_timeout)?,
            large: manager(settings.payload_timeout)?,
            client,
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

    /// How much of its `maxmemory` Redis uses, in percent; `None` where it has no such limit.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn memory_used_pct(&self) -> Result<Option<f64>, StateError> {
        let info: redis::InfoDict = redis::cmd("INFO")
            .arg("memory")
            .query_async(&mut self.small.clone())
            .await
            .action("tell its memory")?;
        let bytes = |name: &str| info.get::<f64>(name).filter(|bytes| *bytes > 0.0);
        Ok(bytes("maxmemory").and_then(|most| Some(bytes("used_memory")? / most * 100.0)))
    }

    /// The partitions, for readers that must cover them all.
    pub fn partitions(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.settings.partitions
    }

    /// A connection for one blocking reader. Dropping it ends the read on the server's side as well,
    /// so that no entry is handed to a reader that has gone.
    pub(crate) async fn blocking_connection(&self) -> Result<MultiplexedConnection, StateError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(Duration::from_secs(2)))
            .set_response_timeout(None);
        self.client
            .get_multiplexed_async_connection_with_config(&config)
            .await
            .action("be reached for reading")
    }

    /// A connection that only listens.
    pub(crate) async fn listening_connection(&self) -> Result<redis::aio::PubSub, StateError> {
        let connect = self.client.get_async_pubsub();
        match tokio::time::timeout(Duration::from_secs(2), connect).await {
            Ok(connection) => connection.action("be reached for listening"),
            Err(_) => Err(StateError::Redis {
                action: "be reached for listening",
                source: std::io::Error::from(std::io::ErrorKind::TimedOut).into(),
            }),
        }
    }
}

fn connection_info(settings: &RedisSettings) -> redis::RedisResult<ConnectionInfo> {
    let mut redis = RedisConnectionInfo::default();
    if let Some(password) = &settings.password {
        redis = redis.set_password(password);
    }
    // small requests and replies in lock step: waiting to fill a segment only costs time
    let tcp = TcpSettings::default().set_nodelay(true);
    Ok(ConnectionAddr::Tcp(settings.host.clone(), settings.port)
        .into_connection_info()?
        .set_redis_settings(redis)
        .set_tcp_settings(tcp))
}
