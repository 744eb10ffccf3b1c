//! Where Redis is: one server, a master that sentinels know, or a cluster.

use std::fmt;

/// Host name or address, and port, of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisNode {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// Where Redis is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisAddress {
    /// `redis://host:port`: one server.
    Single(RedisNode),
    /// `redis-sentinel://host:port,host:port/name`: the master of that name, as these sentinels know it.
    Sentinel {
        /// The sentinels.
        sentinels: Vec<RedisNode>,
        /// The name of the master.
        master: String,
    },
    /// `redis-cluster://host:port,host:port`: the cluster that these nodes belong to.
    Cluster(Vec<RedisNode>),
}

/// An address and the password in it.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl {
    /// Where Redis is.
    pub address: RedisAddress,
    /// The password, where there is one.
    pub password: Option<String>,
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisUrl").field("address", &self.address).finish_non_exhaustive()
    }
}

impl RedisUrl {
    /// Reads an address; a password goes before the hosts, as `:password@`. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (credentials, rest) = match rest.rsplit_once('@') {
            Some((credentials, rest)) => (Some(credentials), rest),
            None => (None, rest),
        };
        let password = match credentials {
            None => None,
            Some(credentials) => Some(credentials.strip_prefix(':')?.to_owned()),
        };
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address = match scheme {
            "redis" => {
                let [node] = <[RedisNode; 1]>::try_from(nodes(hosts, 6379)?).ok()?;
                (path.is_empty() || path == "0").then_some(RedisAddress::Single(node))?
            }
            "redis-sentinel" => {
                let master = (!path.is_empty()).then(|| path.to_owned())?;
                RedisAddress::Sentinel { sentinels: nodes(hosts, 26379)?, master }
            }
            "redis-cluster" => path.is_empty().then_some(RedisAddress::Cluster(nodes(hosts, 6379)?))?,
            _ => return None,
        };
        Some(Self { address, password })
    }
}

fn nodes(hosts: &str, default_port: u16) -> Option<Vec<RedisNode>> {
    hosts.split(',').map(|host| node(host.trim(), default_port)).collect()
}

fn node(text: &str, default_port: u16) -> Option<RedisNode> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (text, default_port),
    };
    (!host.is_empty()).then(|| RedisNode { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<RedisAddress> {
        RedisUrl::parse(text).map(|url| url.address)
    }

    fn node(host: &str, port: u16) -> RedisNode {
        RedisNode { host: host.to_owned(), port }
    }

    #[test]
    fn three_kinds_of_addresses_are_known() {
        assert_eq!(address("redis://r.test"), Some(RedisAddress::Single(node("r.test", 6379))));
        let sentinels = vec![node("a", 1), node("b", 26379)];
        let expected = RedisAddress::Sentinel { sentinels, master: "main".to_owned() };
        assert_eq!(address("redis-sentinel://a:1,b/main"), Some(expected));
        let expected = RedisAddress::Cluster(vec![node("a", 7000), node("b", 7001)]);
        assert_eq!(address("redis-cluster://a:7000,b:7001"), Some(expected));
    }

    #[test]
    fn password_goes_before_the_hosts_and_is_never_shown() {
        let url = RedisUrl::parse("redis://:p@ss:w0rd@r.test:1").unwrap();
        assert_eq!(url.password.as_deref(), Some("p@ss:w0rd"));
        assert!(!format!("{url:?}").contains("w0rd"));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "r.test",
            "redis://",
            "redis://a,b",
            "redis://a/3",
            "redis://user:x@a",
            "http://a",
            "redis-sentinel://a:1",
            "redis-cluster://a:x",
            "redis-cluster://a/1",
            "redis://a:99999",
        ] {
            assert_eq!(address(text), None, "{text}");
        }
    }
}
