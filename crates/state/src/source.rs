//! How connections are opened, for each kind of address.

use std::sync::Arc;
use std::time::Duration;

use meters::CommandKind;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use redis::cluster::ClusterClientBuilder;
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::sentinel::{Sentinel, SentinelNodeConnectionInfo};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo,
    RedisResult,
};
use tokio::sync::Mutex;

use crate::address::{RedisAddress, RedisNode};
use crate::link::{Finder, Link, Open, Route};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// A cluster's client cannot do without a limit; longer than any blocking read.
const NO_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Opens connections to one address. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Source {
    Single(Client),
    Sentinel { sentinel: Arc<Mutex<Sentinel>>, master: Arc<str>, password: Option<Arc<str>> },
    Cluster { nodes: Arc<[ConnectionInfo]>, password: Option<Arc<str>> },
}

impl Source {
    pub(crate) fn new(address: &RedisAddress, password: Option<&str>) -> RedisResult<Self> {
        let infos = |nodes: &[RedisNode], password: Option<&str>| {
            nodes.iter().map(|node| connection_info(node, password)).collect::<RedisResult<Vec<_>>>()
        };
        let secret = || password.map(Arc::from);
        Ok(match address {
            RedisAddress::Single(node) => Self::Single(Client::open(connection_info(node, password)?)?),
            RedisAddress::Sentinel { sentinels, master } => Self::Sentinel {
                sentinel: Arc::new(Mutex::new(Sentinel::build(infos(sentinels, None)?)?)),
                master: master.as_str().into(),
                password: secret(),
            },
            RedisAddress::Cluster(nodes) => {
                Self::Cluster { nodes: infos(nodes, password)?.into(), password: secret() }
            }
        })
    }

    /// A connection for many users, opened by its first command.
    pub(crate) fn link(&self, response_timeout: Duration, kind: CommandKind) -> RedisResult<Link> {
        self.route(response_timeout).map(|route| Link::new(route, kind))
    }

    fn route(&self, response_timeout: Duration) -> RedisResult<Route> {
        match self {
            Self::Single(client) => {
                let config = ConnectionManagerConfig::new()
                    .set_connection_timeout(Some(CONNECT_TIMEOUT))
                    .set_response_timeout(Some(response_timeout))
                    .set_number_of_retries(1)
                    .set_min_delay(Duration::from_millis(50))
                    .set_max_delay(Duration::from_millis(500));
                ConnectionManager::new_lazy_with_config(client.clone(), config).map(Route::Managed)
            }
            Self::Sentinel { .. } | Self::Cluster { .. } => {
                Ok(Route::Found(Arc::new(Finder::new(self.clone(), response_timeout))))
            }
        }
    }

    /// A connection for one user; without a limit it may block.
    pub(crate) async fn open(&self, response_timeout: Option<Duration>) -> RedisResult<Open> {
        match self {
            Self::Single(_) | Self::Sentinel { .. } => {
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(CONNECT_TIMEOUT))
                    .set_response_timeout(response_timeout);
                let client = self.node().await?;
                client.get_multiplexed_async_connection_with_config(&config).await.map(Open::Node)
            }
            Self::Cluster { nodes, password } => {
                let mut builder = ClusterClientBuilder::new(nodes.iter().cloned())
                    .connection_timeout(CONNECT_TIMEOUT)
                    .response_timeout(response_timeout.unwrap_or(NO_RESPONSE_TIMEOUT))
                    .overall_response_timeout(None)
                    .tcp_settings(tcp_settings())
                    .retries(3);
                if let Some(password) = password {
                    builder = builder.password(password);
                }
                builder.build()?.get_async_connection().await.map(Open::Cluster)
            }
        }
    }

    /// A connection that only listens; what one node of a cluster is told, all are.
    pub(crate) async fn listen(&self) -> RedisResult<PubSub> {
        let listening = async { self.node().await?.get_async_pubsub().await };
        match tokio::time::timeout(CONNECT_TIMEOUT, listening).await {
            Ok(connection) => connection,
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
        }
    }

    /// One node: the server, the present master, or the first node of a cluster that can be reached.
    async fn node(&self) -> RedisResult<Client> {
        match self {
            Self::Single(client) => Ok(client.clone()),
            Self::Sentinel { sentinel, master, password } => {
                let mut node = RedisConnectionInfo::default();
                if let Some(password) = password {
                    node = node.set_password(password);
                }
                let node = SentinelNodeConnectionInfo::default()
                    .set_redis_connection_info(node)
                    .set_tcp_settings(tcp_settings());
                let mut sentinel = sentinel.lock().await;
                let found = sentinel.async_master_for(master, Some(&node));
                match tokio::time::timeout(CONNECT_TIMEOUT, found).await {
                    Ok(client) => client,
                    Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
                }
            }
            Self::Cluster { nodes, .. } => first_reachable(nodes).await,
        }
    }
}

async fn first_reachable(nodes: &[ConnectionInfo]) -> RedisResult<Client> {
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(CONNECT_TIMEOUT));
    let mut last = Err(std::io::Error::from(std::io::ErrorKind::NotFound).into());
    for node in nodes {
        let client = Client::open(node.clone())?;
        match client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(_) => return Ok(client),
            Err(error) => last = Err(error),
        }
    }
    last
}

fn connection_info(node: &RedisNode, password: Option<&str>) -> RedisResult<ConnectionInfo> {
    let mut redis = RedisConnectionInfo::default();
    if let Some(password) = password {
        redis = redis.set_password(password);
    }
    Ok(ConnectionAddr::Tcp(node.host.clone(), node.port)
        .into_connection_info()?
        .set_redis_settings(redis)
        .set_tcp_settings(tcp_settings()))
}

/// Small requests and replies in lock step: waiting to fill a segment only costs time. A machine that vanished
/// without a word is noticed also by a connection that only listens.
fn tcp_settings() -> TcpSettings {
    const SECOND: Duration = Duration::from_secs(1);
    let keepalive = TcpKeepalive::new().with_time(10 * SECOND).with_interval(5 * SECOND);
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
}
