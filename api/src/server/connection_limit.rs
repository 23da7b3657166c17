//! Limits the open connections of each address, so that one client cannot use all connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use answers::auth::proxies::{TrustedProxies, network_of};

/// The number of open connections by address, and its limit; clones share it.
#[derive(Debug, Clone)]
pub(super) struct ConnectionLimit {
    most: usize,
    proxies: TrustedProxies,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection that counts for its address while this lives.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    limit: ConnectionLimit,
    from: Option<IpAddr>,
}

impl ConnectionLimit {
    /// Returns a limit of `most` connections for each address; proxies, which forward the calls of many, have no limit.
    pub(super) fn new(most: usize, proxies: TrustedProxies) -> ConnectionLimit {
        ConnectionLimit { most, proxies, open: Arc::default() }
    }

    /// Counts a connection; returns `None` if its address has as many as allowed.
    pub(super) fn enter(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        let peer = peer.to_canonical();
        if self.proxies.trusts(peer) {
            return Some(ConnectionPermit { limit: self.clone(), from: None });
        }
        let from = network_of(peer);
        // A panic while the lock was held leaves a whole map.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(from).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(open);
        Some(ConnectionPermit { limit: self.clone(), from: Some(from) })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some(from) = self.from else { return };
        let mut open = self.limit.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                open.remove(&from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_limit_and_a_proxy_has_none() {
        let connection_limit = ConnectionLimit::new(2, "10.0.0.0/8".parse().unwrap());
        let enter = |address: &str| connection_limit.enter(address.parse().unwrap());
        let (one, two) = (enter("2001:db8::1"), enter("2001:db8::2"));
        assert!(one.is_some() && two.is_some());
        assert!(enter("2001:db8::3").is_none(), "a network counts as one");
        assert!(enter("2001:db8:1::3").is_some());
        drop(one);
        assert!(enter("2001:db8::3").is_some());
        let proxy: Vec<_> = (0..9).map(|_| enter("::ffff:10.0.0.7")).collect();
        assert!(proxy.iter().all(Option::is_some));
        drop((two, proxy));
        assert!(connection_limit.open.lock().unwrap().is_empty(), "a closed connection is removed");
    }
}
