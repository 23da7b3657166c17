//! How many connections each address has open: one client must not take all places.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use answers::auth::proxies::{TrustedProxies, network_of};

/// The open connections by address.
#[derive(Debug, Clone)]
pub(super) struct Visits {
    most: usize,
    proxies: TrustedProxies,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection that counts for its address until it is dropped.
#[derive(Debug)]
pub(super) struct Visit {
    visits: Visits,
    from: Option<IpAddr>,
}

impl Visits {
    /// Returns a count that lets each address have at most so many connections; proxies, which bring the calls of many,
    /// may have any number.
    pub(super) fn new(most: usize, proxies: TrustedProxies) -> Visits {
        Visits { most, proxies, open: Arc::default() }
    }

    /// Counts a connection; none where its address has as many as it may.
    pub(super) fn enter(&self, peer: IpAddr) -> Option<Visit> {
        let peer = peer.to_canonical();
        if self.proxies.trusts(peer) {
            return Some(Visit { visits: self.clone(), from: None });
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
        Some(Visit { visits: self.clone(), from: Some(from) })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Some(from) = self.from else { return };
        let mut open = self.visits.open.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn an_address_has_so_many_connections_and_a_proxy_any_number() {
        let visits = Visits::new(2, "10.0.0.0/8".parse().unwrap());
        let enter = |address: &str| visits.enter(address.parse().unwrap());
        let (one, two) = (enter("2001:db8::1"), enter("2001:db8::2"));
        assert!(one.is_some() && two.is_some());
        assert!(enter("2001:db8::3").is_none(), "a network counts as one");
        assert!(enter("2001:db8:1::3").is_some());
        drop(one);
        assert!(enter("2001:db8::3").is_some());
        let proxy: Vec<_> = (0..9).map(|_| enter("::ffff:10.0.0.7")).collect();
        assert!(proxy.iter().all(Option::is_some));
        drop((two, proxy));
        assert!(visits.open.lock().unwrap().is_empty(), "what is over is forgotten");
    }
}
