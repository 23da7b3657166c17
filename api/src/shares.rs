//! Divides what a node has only so much of, connections and the memory for bodies, among those who use it: nobody may hold so much
//! that nothing is left for others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use answers::auth::proxies::{TrustedProxies, ipv6_site_of, network_of};
use schemas::key::KeyId;

/// The part of the whole that one holder may have, as a divisor: at most 5 %, so that twenty addresses are needed to use it up.
pub(crate) const PARTS: usize = 20;
/// What an IPv6 site may have, as a multiple of the share of a network: a site has 65,536 networks, and whoever gets one at all gets all
/// of them.
const SITE: usize = 2;

/// Whoever may have only a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A key.
    Key(KeyId),
    /// An IPv4 address, or an IPv6 network.
    Network(IpAddr),
    /// An IPv6 site.
    Site(IpAddr),
}

/// Something that is divided.
#[derive(Debug)]
pub(crate) struct Shares {
    /// All that there is.
    whole: usize,
    /// The most that a holder may have of it.
    each: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by: HashMap<Holder, usize>,
}

/// What has been taken for some holders; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    holders: Vec<Holder>,
    amount: usize,
}

impl Holder {
    /// Returns the holders that an address counts for: its network, and for IPv6 its site. Proxies, which forward the calls of many, have
    /// no limit.
    pub(crate) fn of_address(address: IpAddr, proxies: &TrustedProxies) -> Vec<Holder> {
        let address = address.to_canonical();
        if proxies.trusts(address) {
            return Vec::new();
        }
        let network = Holder::Network(network_of(address));
        std::iter::once(network).chain(ipv6_site_of(address).map(Holder::Site)).collect()
    }
}

impl Shares {
    /// Returns `whole`, of which a holder may have `each`.
    pub(crate) fn new(whole: usize, each: usize) -> Arc<Shares> {
        Arc::new(Shares { whole, each, taken: Mutex::default() })
    }

    /// Returns a share of these holders that is still empty.
    pub(crate) fn of(self: &Arc<Self>, holders: Vec<Holder>) -> Share {
        Share { of: self.clone(), holders, amount: 0 }
    }

    /// Returns the most that a holder may have.
    fn most(&self, holder: Holder) -> usize {
        match holder {
            Holder::Key(_) | Holder::Network(_) => self.each,
            Holder::Site(_) => self.each.saturating_mul(SITE),
        }
    }
}

impl Share {
    /// Takes more, and returns whether there was as much: for each of the holders, and of the whole.
    #[must_use]
    pub(crate) fn take(&mut self, more: usize) -> bool {
        // A panic while the lock was held leaves a whole map.
        let mut taken = self.of.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |taken: usize, most: usize| taken.checked_add(more).is_some_and(|sum| sum <= most);
        let has_room =
            |holder: &Holder| fits(taken.by.get(holder).copied().unwrap_or_default(), self.of.most(*holder));
        if !fits(taken.all, self.of.whole) || !self.holders.iter().all(has_room) {
            return false;
        }
        taken.all += more;
        for holder in &self.holders {
            *taken.by.entry(*holder).or_default() += more;
        }
        drop(taken);
        self.amount += more;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut taken = self.of.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= self.amount;
        for holder in &self.holders {
            if let Some(held) = taken.by.get_mut(holder) {
                *held -= self.amount;
                if *held == 0 {
                    taken.by.remove(holder);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holders(address: &str) -> Vec<Holder> {
        Holder::of_address(address.parse().unwrap(), &"10.0.0.0/8".parse().unwrap())
    }

    #[test]
    fn a_holder_has_a_share_and_a_proxy_all() {
        let shares = Shares::new(100, 10);
        let take = |address: &str, amount| {
            let mut share = shares.of(holders(address));
            share.take(amount).then_some(share)
        };
        let first = take("198.51.100.7", 6);
        assert!(take("198.51.100.7", 5).is_none(), "an address has a share");
        let rest = take("::ffff:198.51.100.7", 4);
        assert!(first.is_some() && rest.is_some(), "in whatever form it is written");
        let other = take("198.51.100.8", 10);
        assert!(other.is_some(), "and others have theirs");
        let proxy = take("10.0.0.7", 80);
        assert!(proxy.is_some() && take("10.0.0.7", 1).is_none(), "nobody has more than there is");
        drop((first, rest, other, proxy));
        let taken = shares.taken.lock().unwrap();
        assert_eq!((taken.all, taken.by.len()), (0, 0), "what is given back is forgotten");
    }

    #[test]
    fn an_ipv6_site_has_twice_the_share_of_a_network() {
        let shares = Shares::new(1_000, 10);
        let mut held = Vec::new();
        let mut take = |network: u16, host: u16, amount| {
            let address = IpAddr::from([0x2001, 0xdb8, 7, network, 0, 0, 0, host]);
            let mut share = shares.of(Holder::of_address(address, &TrustedProxies::default()));
            let has_room = share.take(amount);
            held.push(share);
            has_room
        };
        assert_eq!([take(1, 1, 10), take(1, 2, 1)], [true, false], "a network counts as one");
        assert_eq!([take(2, 1, 9), take(3, 1, 2), take(4, 1, 1), take(5, 1, 1)], [true, false, true, false]);
        let mut other = shares.of(holders("2001:db8:8::1"));
        assert!(other.take(10), "another site has its own");
    }

    #[test]
    fn a_share_grows_for_all_of_its_holders_or_for_none() {
        let shares = Shares::new(100, 10);
        let key = Holder::Key("Ab3dEf9h".parse().unwrap());
        let mut by_key = shares.of([vec![key], holders("198.51.100.7")].concat());
        assert!(by_key.take(8) && !by_key.take(3) && by_key.take(2));
        let mut elsewhere = shares.of([vec![key], holders("198.51.100.8")].concat());
        assert!(!elsewhere.take(1), "a key has one share from wherever it calls");
        drop(by_key);
        assert!(elsewhere.take(10));
        assert_eq!(shares.taken.lock().unwrap().all, 10);
    }
}
