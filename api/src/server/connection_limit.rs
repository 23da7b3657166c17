//! Limits the open connections of each address, so that one client cannot use all connections.

use std::net::IpAddr;
use std::sync::Arc;

use answers::auth::proxies::TrustedProxies;

use crate::shares::{Holder, Share, Shares};

/// The open connections by address, and their limit.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
    shares: Arc<Shares>,
    proxies: TrustedProxies,
}

impl ConnectionLimit {
    /// Returns a limit of `most` connections for each address; proxies, which forward the calls of many, have no limit.
    pub(super) fn new(most: usize, proxies: TrustedProxies) -> ConnectionLimit {
        // How many there are together is bounded by their places.
        ConnectionLimit { shares: Shares::new(usize::MAX, most), proxies }
    }

    /// Counts a connection for as long as what is returned lives; returns `None` if its address has as many as allowed.
    pub(super) fn enter(&self, peer: IpAddr) -> Option<Share> {
        let mut share = self.shares.of(Holder::of_address(peer, &self.proxies));
        share.take(1).then_some(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_a_site_have_a_limit_and_a_proxy_has_none() {
        let connection_limit = ConnectionLimit::new(2, "10.0.0.0/8".parse().unwrap());
        let enter = |address: &str| connection_limit.enter(address.parse().unwrap());
        let (one, two) = (enter("2001:db8::1"), enter("2001:db8::2"));
        assert!(one.is_some() && two.is_some());
        assert!(enter("2001:db8::3").is_none(), "a network counts as one");
        let (three, four) = (enter("2001:db8:0:1::3"), enter("2001:db8:0:2::3"));
        assert!(three.is_some() && four.is_some());
        assert!(enter("2001:db8:0:3::3").is_none(), "and a site has twice as many");
        assert!(enter("2001:db8:1::3").is_some());
        drop(one);
        assert!(enter("2001:db8::3").is_some());
        let proxy: Vec<_> = (0..9).map(|_| enter("::ffff:10.0.0.7")).collect();
        assert!(proxy.iter().all(Option::is_some));
    }
}
