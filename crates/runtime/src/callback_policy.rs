//! Callback URLs are somebody else's: what may be called, and what a name may stand for.
//!
//! The URL is checked at intake, so that a client hears of it at once. The addresses that its name stands
//! for are checked by the resolver of the client that posts, so that the checked address is the one used,
//! whatever the name means by then.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::http::{HttpClientError, builder};

/// Why a URL may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddenUrl {
    /// Neither http nor https, or without a host.
    #[error("must be an http or https URL")]
    Scheme,
    /// A user name or password in it would end up in logs.
    #[error("must not hold a user name or password")]
    Credentials,
    /// The operator allows other hosts only (`CALLBACK_ALLOWED_HOSTS`).
    #[error("names a host that is not allowed here")]
    Host,
    /// Its address is never called, or not outside a private network.
    #[error("names an address that is not allowed here")]
    Address,
}

/// What may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackPolicy {
    /// `CALLBACK_ALLOW_PRIVATE`: whether loopback and private addresses may be called.
    pub allow_private: bool,
    /// `CALLBACK_ALLOWED_HOSTS`: exact names, or `*.` and a suffix; all hosts when empty.
    pub allowed_hosts: Vec<String>,
}

impl CallbackPolicy {
    /// Checks what can be told from a URL alone.
    ///
    /// # Errors
    /// [`ForbiddenUrl`] says what is wrong.
    pub fn check(&self, url: &Url) -> Result<(), ForbiddenUrl> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ForbiddenUrl::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ForbiddenUrl::Credentials);
        }
        // decimal, hexadecimal and short forms of addresses have become addresses by now
        let host = url.host().ok_or(ForbiddenUrl::Scheme)?;
        if !self.allows_host(&host.to_string()) {
            return Err(ForbiddenUrl::Host);
        }
        let address = match host {
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
            Host::Domain(_) => return Ok(()),
        };
        if self.allows_address(address) { Ok(()) } else { Err(ForbiddenUrl::Address) }
    }

    fn allows_host(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let fits = |allowed: &String| match allowed.strip_prefix("*.") {
            Some(suffix) => host.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')),
            None => host == *allowed,
        };
        self.allowed_hosts.is_empty() || self.allowed_hosts.iter().any(fits)
    }

    /// Whether an address may be called.
    pub fn allows_address(&self, address: IpAddr) -> bool {
        match unwrapped(address) {
            IpAddr::V4(address) => !never_v4(address) && (self.allow_private || !private_v4(address)),
            IpAddr::V6(address) => !never_v6(address) && (self.allow_private || !private_v6(address)),
        }
    }
}

/// The IPv4 address that an IPv6 address stands for (mapped, or NAT64), where it does.
fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return IpAddr::V4(v4);
    }
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        _ => address,
    }
}

/// Link-local holds the metadata services of clouds; the others are no single host.
fn never_v4(address: Ipv4Addr) -> bool {
    address.is_link_local()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_broadcast()
        // metadata of one cloud, in the range for carriers
        || address == Ipv4Addr::new(100, 100, 100, 200)
}

fn private_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_private() || address.is_loopback() || a == 0 || (a == 100 && (64..128).contains(&b))
}

fn never_v6(address: Ipv6Addr) -> bool {
    address.is_unicast_link_local()
        || address.is_unspecified()
        || address.is_multicast()
        // metadata of one cloud, in the private range
        || address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
}

fn private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback() || address.is_unique_local()
}

/// Resolves names to addresses that may be called.
#[derive(Debug)]
struct PolicyResolver(CallbackPolicy);

/// A name stands for no address that may be called.
#[derive(Debug, thiserror::Error)]
#[error("the host stands for no address that is allowed here")]
struct NoAllowedAddress;

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|found| policy.allows_address(found.ip())).collect();
            if allowed.is_empty() {
                return Err(NoAllowedAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// A client for clients' callbacks: as [`crate::http_client`], and with names resolved under `policy`.
///
/// # Errors
/// When TLS cannot be set up.
pub fn callback_client(policy: &CallbackPolicy) -> Result<reqwest::Client, HttpClientError> {
    let resolver = Arc::new(PolicyResolver(policy.clone()));
    builder().dns_resolver(resolver).build().map_err(HttpClientError)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allow_private: bool, hosts: &[&str], url: &str) -> Result<(), ForbiddenUrl> {
        let allowed_hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        CallbackPolicy { allow_private, allowed_hosts }.check(&url.parse().unwrap())
    }

    #[test]
    fn web_addresses_are_allowed() {
        for url in ["http://ars.test/x", "https://ars.test:8443/x?y=1", "http://198.51.100.7/x"] {
            assert_eq!(check(false, &[], url), Ok(()), "{url}");
        }
    }

    #[test]
    fn other_schemes_and_credentials_are_not() {
        for url in ["ftp://ars.test/", "file:///etc/passwd", "gopher://ars.test/"] {
            assert_eq!(check(true, &[], url), Err(ForbiddenUrl::Scheme), "{url}");
        }
        for url in ["http://user@ars.test/", "http://:secret@ars.test/"] {
            assert_eq!(check(true, &[], url), Err(ForbiddenUrl::Credentials), "{url}");
        }
    }

    #[test]
    fn metadata_and_link_local_addresses_are_never_called_however_they_are_written() {
        for url in [
            "http://169.254.169.254/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://[fe80::1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://255.255.255.255/",
            "http://224.0.0.1/",
        ] {
            assert_eq!(check(true, &[], url), Err(ForbiddenUrl::Address), "{url}");
        }
    }

    #[test]
    fn private_addresses_are_called_only_where_that_is_allowed() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://10.1.2.3/",
            "http://192.168.0.1/",
            "http://172.16.0.1/",
            "http://100.64.0.1/",
            "http://[::1]/",
            "http://[fd12::1]/",
            "http://[::ffff:10.0.0.1]/",
        ] {
            assert_eq!(check(true, &[], url), Ok(()), "{url}");
            assert_eq!(check(false, &[], url), Err(ForbiddenUrl::Address), "{url}");
        }
    }

    #[test]
    fn operator_may_name_the_hosts() {
        let hosts = ["ars.test", "*.transltr.test"];
        for url in ["http://ars.test/", "http://ARS.test./", "https://a.b.transltr.test/"] {
            assert_eq!(check(true, &hosts, url), Ok(()), "{url}");
        }
        for url in [
            "http://transltr.test/",
            "http://eviltransltr.test/",
            "http://ars.test.evil/",
            "http://127.0.0.1/",
        ] {
            assert_eq!(check(true, &hosts, url), Err(ForbiddenUrl::Host), "{url}");
        }
    }

    #[tokio::test]
    async fn name_that_stands_for_a_forbidden_address_is_not_resolved() {
        let resolve = |allow_private| {
            let policy = CallbackPolicy { allow_private, allowed_hosts: Vec::new() };
            PolicyResolver(policy).resolve("localhost".parse().unwrap())
        };
        assert!(resolve(true).await.is_ok());
        assert!(resolve(false).await.is_err());
    }
}
