//! Free ports on the loopback interface.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A port that was free a moment ago.
///
/// Another process may take it before it is used; whoever starts a server on it tries again then.
///
/// # Errors
/// The system's error when no port can be had.
pub fn unused() -> std::io::Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr().map(|addr| addr.port())
}

/// `count` different ports that were free a moment ago.
///
/// # Errors
/// The system's error when no port can be had.
pub fn unused_many(count: usize) -> std::io::Result<Vec<u16>> {
    // All are held until the last is known, so that none is given twice.
    let held = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<std::io::Result<Vec<_>>>()?;
    held.iter().map(|listener| listener.local_addr().map(|addr| addr.port())).collect()
}

/// `127.0.0.1:port`.
#[must_use]
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
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
}
