//! Free ports on the loopback interface.

use std::collections::HashSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::PathBuf;

/// Ports below those that the system gives to outgoing connections: a server that is down for a moment must find its
/// own port free again.
const RANGE: Range<u16> = 12_000..32_000;
/// How many of them are tried before the system has to find one.
const TRIES: usize = 100;

/// A port that was free a moment ago.
///
/// Another process may take it before it is used; whoever starts a server on it tries again then.
///
/// # Errors
/// The system's error when no port can be had.
pub fn unused() -> std::io::Result<u16> {
    hold_one()?.local_addr().map(|addr| addr.port())
}

fn hold_one() -> std::io::Result<TcpListener> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let tried = (0..TRIES).find_map(|_| bind(rand::random_range(RANGE)).ok());
    tried.map_or_else(|| bind(0), Ok)
}

/// `count` different ports that were free a moment ago.
///
/// # Errors
/// The system's error when no port can be had.
pub fn unused_many(count: usize) -> std::io::Result<Vec<u16>> {
    // All are held until the last is known, so that none is given twice.
    let held = (0..count).map(|_| hold_one()).collect::<std::io::Result<Vec<_>>>()?;
    held.iter().map(|listener| listener.local_addr().map(|addr| addr.port())).collect()
}

/// `127.0.0.1:port`.
#[must_use]
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Whether it is the process `pid` that listens on `port`, and not another one that had the port first.
///
/// Where the system does not tell, it is believed to be.
pub(crate) fn is_listener(pid: u32, port: u16) -> bool {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else { return true };
    let held: HashSet<PathBuf> =
        descriptors.flatten().filter_map(|held| fs::read_link(held.path()).ok()).collect();
    let tables =
        ["net/tcp", "net/tcp6"].map(|table| fs::read_to_string(process.join(table)).unwrap_or_default());
    let mut sockets =
        tables.iter().flat_map(|table| table.lines()).filter_map(|line| listening_socket(line, port));
    sockets.any(|inode| held.contains(&PathBuf::from(format!("socket:[{inode}]"))))
}

/// The inode in a line of the kernel's table of sockets, if that is about one that listens on `port`.
fn listening_socket(line: &str, port: u16) -> Option<&str> {
    const LISTEN: &str = "0A";
    let columns: Vec<&str> = line.split_whitespace().collect();
    let (_, local_port) = columns.get(1)?.rsplit_once(':')?;
    let listens = *columns.get(3)? == LISTEN && u16::from_str_radix(local_port, 16) == Ok(port);
    listens.then(|| columns.get(9).copied()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ports_are_different_ports() {
        let mut ports = unused_many(8).unwrap();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 8);
    }

    #[test]
    fn listener_is_told_from_other_processes() {
        let listener = TcpListener::bind(loopback(0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_listener(std::process::id(), port));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let taken_for_it = is_listener(other.id(), port);
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!taken_for_it);
        drop(listener);
        assert!(!is_listener(std::process::id(), port));
    }
}
