//! Rate limits: calls and bodies within a second by key and by address, and keys within an hour by address.

use std::array;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemas::key::KeyId;

use crate::auth::proxies::{ipv6_site_of, network_of};

/// The number of calls after which empty buckets are removed.
const SWEEP: u32 = 16_384;
/// The number of maps among which buckets are distributed, so that threads rarely wait for each other.
const SHARDS: usize = 16;
/// The limit of an IPv6 site, as a multiple of the limit of a network: a site has 65,536 networks.
const SITE: u32 = 10;
/// The bodies that an address may begin to send without a key, as a multiple of the calls that it may make. A body is counted before it
/// is read and its calls after that, so that a caller of tools that is a little too fast learns it from the result of a tool.
const BODIES: u32 = 4;
/// The windows of the limits.
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// The rate limits of a node. They are not shared between nodes: they protect the node, while the quota limits the month.
#[derive(Debug)]
pub struct RateLimits {
    keys: Option<LeakyBuckets<KeyId>>,
    addresses: Option<AddressLimit>,
    bodies: Option<AddressLimit>,
    new_keys: Option<AddressLimit>,
}

/// A limit by address: one for the network of a caller, and a higher one for its IPv6 site.
#[derive(Debug)]
struct AddressLimit {
    networks: LeakyBuckets<IpAddr>,
    sites: LeakyBuckets<IpAddr>,
}

/// Leaky buckets by key: each holds `most` calls and drains evenly within the window.
#[derive(Debug)]
struct LeakyBuckets<K> {
    most: u32,
    /// The nanoseconds in which one call drains.
    interval: u64,
    capacity: u64,
    began: Instant,
    /// When the bucket of each key will be empty, in nanoseconds since `began`.
    shards: [Mutex<HashMap<K, u64>>; SHARDS],
    hasher: RandomState,
    calls: AtomicU32,
}

impl RateLimits {
    /// Returns limits for the calls within a second by key and by address, and for the keys that an address may request within an
    /// hour. 0 is no limit.
    pub fn new(per_key: u32, per_address: u32, keys_per_address: u32) -> RateLimits {
        RateLimits {
            keys: LeakyBuckets::new(per_key, SECOND),
            addresses: AddressLimit::new(per_address, SECOND),
            bodies: AddressLimit::new(per_address.saturating_mul(BODIES), SECOND),
            new_keys: AddressLimit::new(keys_per_address, HOUR),
        }
    }

    /// Returns the number of calls that a key may make within a second; `None` without a limit.
    pub(super) fn per_key(&self) -> Option<u32> {
        self.keys.as_ref().map(|burst| burst.most)
    }

    /// Counts calls of a key that came at once, or returns the time to wait if there is no room for one more. All are accepted
    /// together or not at all: if there is room for one, all are, and the next ones wait longer.
    pub(super) fn key(&self, key: KeyId, calls: u32) -> Result<(), Duration> {
        self.keys.as_ref().map_or(Ok(()), |burst| burst.take(&key, calls))
    }

    /// Like [`RateLimits::key`], for an address.
    pub(super) fn address(&self, address: IpAddr, calls: u32) -> Result<(), Duration> {
        self.addresses.as_ref().map_or(Ok(()), |limit| limit.take(address, calls))
    }

    /// Counts what an accepted call of a key asks for beside a plain one, in units of those. It is answered all the same, and the next ones
    /// wait longer.
    pub(super) fn key_asks_for_more(&self, key: KeyId, units: u32) {
        if let Some(burst) = &self.keys {
            burst.add(&key, units);
        }
    }

    /// Like [`RateLimits::key_asks_for_more`], for an address.
    pub(super) fn address_asks_for_more(&self, address: IpAddr, units: u32) {
        if let Some(limit) = &self.addresses {
            limit.add(address, units);
        }
    }

    /// Counts a body that an address begins to send without a key.
    pub(super) fn body(&self, address: IpAddr) -> Result<(), Duration> {
        self.bodies.as_ref().map_or(Ok(()), |limit| limit.take(address, 1))
    }

    /// Counts a key that an address requests.
    ///
    /// # Errors
    ///
    /// The time to wait, if the address has requested as many keys as it may within an hour.
    pub fn new_key(&self, address: IpAddr) -> Result<(), Duration> {
        self.new_keys.as_ref().map_or(Ok(()), |limit| limit.take(address, 1))
    }
}

impl AddressLimit {
    fn new(most: u32, window: Duration) -> Option<AddressLimit> {
        let sites = LeakyBuckets::new(most.saturating_mul(SITE), window)?;
        Some(AddressLimit { networks: LeakyBuckets::new(most, window)?, sites })
    }

    fn take(&self, address: IpAddr, calls: u32) -> Result<(), Duration> {
        self.networks.take(&network_of(address), calls)?;
        ipv6_site_of(address).map_or(Ok(()), |site| self.sites.take(&site, calls))
    }

    fn add(&self, address: IpAddr, calls: u32) {
        self.networks.add(&network_of(address), calls);
        if let Some(site) = ipv6_site_of(address) {
            self.sites.add(&site, calls);
        }
    }
}

impl<K: Hash + Eq + Clone> LeakyBuckets<K> {
    fn new(most: u32, window: Duration) -> Option<LeakyBuckets<K>> {
        let window = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        let interval = window.checked_div(u64::from(most))?;
        Some(LeakyBuckets {
            most,
            interval,
            capacity: window,
            began: Instant::now(),
            shards: array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            calls: AtomicU32::new(0),
        })
    }

    fn take(&self, key: &K, calls: u32) -> Result<(), Duration> {
        self.take_at(key, calls, self.now())
    }

    fn take_at(&self, key: &K, calls: u32, now: u64) -> Result<(), Duration> {
        if self.calls.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.remove_empty(now);
        }
        let mut shard = self.shard(key);
        let empty_at = shard.get(key).map_or(now, |at| now.max(*at));
        let wanted = (empty_at - now).saturating_add(self.interval);
        if wanted > self.capacity {
            return Err(Duration::from_nanos(wanted - self.capacity));
        }
        shard.insert(key.clone(), self.after(empty_at, calls));
        Ok(())
    }

    /// Adds calls of a key whose bucket had room for one, whether they fit or not.
    fn add(&self, key: &K, calls: u32) {
        self.add_at(key, calls, self.now());
    }

    fn add_at(&self, key: &K, calls: u32, now: u64) {
        let mut shard = self.shard(key);
        let empty_at = shard.get(key).map_or(now, |at| now.max(*at));
        shard.insert(key.clone(), self.after(empty_at, calls));
    }

    /// Returns when a bucket that is empty at a time will be empty with so many more calls.
    fn after(&self, empty_at: u64, calls: u32) -> u64 {
        empty_at.saturating_add(self.interval.saturating_mul(u64::from(calls)))
    }

    fn shard(&self, key: &K) -> MutexGuard<'_, HashMap<K, u64>> {
        let shard = usize::try_from(self.hasher.hash_one(key)).unwrap_or_default() % SHARDS;
        // A panic while the lock was held leaves a whole map.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove_empty(&self, now: u64) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|_, empty_at| *empty_at > now);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn a_burst_is_accepted_and_the_next_call_waits() {
        let burst: LeakyBuckets<u8> = LeakyBuckets::new(20, SECOND).unwrap();
        let now = 5_000 * MILLISECOND;
        assert_eq!((0..40).take_while(|_| burst.take_at(&1, 1, now).is_ok()).count(), 20);
        assert_eq!(burst.take_at(&1, 1, now), Err(Duration::from_millis(50)));
        assert_eq!(burst.take_at(&2, 1, now), Ok(()));
        assert_eq!(burst.take_at(&1, 1, now + 50 * MILLISECOND), Ok(()));
        assert_eq!(burst.take_at(&1, 1, now + 50 * MILLISECOND), Err(Duration::from_millis(50)));
    }

    #[test]
    fn calls_that_came_at_once_are_accepted_together_and_all_counted() {
        let burst: LeakyBuckets<u8> = LeakyBuckets::new(20, SECOND).unwrap();
        assert_eq!(burst.take_at(&1, 1, 0), Ok(()));
        assert_eq!(burst.take_at(&1, 32, 0), Ok(()));
        // 33 calls at 50 ms each, and room for one more once 19 are left.
        assert_eq!(burst.take_at(&1, 32, 0), Err(Duration::from_millis(700)));
        assert_eq!(burst.take_at(&1, 32, 699 * MILLISECOND), Err(Duration::from_millis(1)));
        assert_eq!(burst.take_at(&1, 32, 700 * MILLISECOND), Ok(()));
    }

    #[test]
    fn a_call_that_asks_for_more_is_accepted_and_the_next_ones_wait_longer() {
        let burst: LeakyBuckets<u8> = LeakyBuckets::new(20, SECOND).unwrap();
        assert_eq!(burst.take_at(&1, 1, 0), Ok(()));
        burst.add_at(&1, 5, 0);
        assert_eq!((0..40).take_while(|_| burst.take_at(&1, 1, 0).is_ok()).count(), 14, "20 less 6");
        burst.add_at(&1, 200, 0);
        assert_eq!(burst.take_at(&1, 1, 0), Err(Duration::from_millis(10_050)), "more than the bucket holds");
        assert_eq!(burst.take_at(&2, 1, 0), Ok(()));
        assert_eq!(burst.take_at(&1, 1, 10_050 * MILLISECOND), Ok(()));
        burst.add_at(&3, u32::MAX, u64::MAX - 1);
        assert!(burst.take_at(&3, 1, 0).is_err(), "the longest wait is no overflow");
    }

    #[test]
    fn what_an_address_asks_for_counts_in_its_network_and_its_site() {
        let rate_limits = RateLimits::new(0, 2, 0);
        let of = |network: u16| IpAddr::from([0x2001, 0xdb8, 7, network, 0, 0, 0, 1]);
        assert_eq!(rate_limits.address(of(0), 1), Ok(()));
        rate_limits.address_asks_for_more(of(0), 30);
        assert!(rate_limits.address(of(0), 1).is_err() && rate_limits.address(of(1), 1).is_err());
        let other = IpAddr::from([0x2001, 0xdb8, 8, 0, 0, 0, 0, 1]);
        assert_eq!(rate_limits.address(other, 1), Ok(()), "another site");
        RateLimits::new(0, 0, 0).address_asks_for_more(other, 30);
    }

    #[test]
    fn an_ipv6_site_has_ten_times_the_limit_of_a_network() {
        let rate_limits = RateLimits::new(0, 2, 1);
        let of = |network: u16, host: u16| IpAddr::from([0x2001, 0xdb8, 7, network, 0, 0, 0, host]);
        let taken =
            |hosts: u16| (0..hosts).take_while(|host| rate_limits.new_key(of(0, *host)).is_ok()).count();
        assert_eq!(taken(5), 1, "a network shares one limit");
        let networks = (1..200).take_while(|network| rate_limits.new_key(of(*network, 1)).is_ok()).count();
        assert_eq!(networks, 9, "and all networks of a site another");
        assert!(rate_limits.new_key("2001:db8:8::1".parse().unwrap()).is_ok());
        for host in 0..200 {
            assert_eq!(rate_limits.new_key(IpAddr::from([203, 0, 113, host])), Ok(()), "IPv4 has no sites");
        }
    }

    #[test]
    fn bodies_are_counted_before_their_calls() {
        let rate_limits = RateLimits::new(0, 5, 0);
        let (one, other) = (IpAddr::from([203, 0, 113, 1]), IpAddr::from([203, 0, 113, 2]));
        let most = rate_limits.bodies.as_ref().map(|limit| (limit.networks.most, limit.sites.most));
        assert_eq!(most, Some((20, 200)), "four times the calls");
        assert!((0..20).all(|_| rate_limits.body(one).is_ok()));
        assert!(rate_limits.body(other).is_ok() && rate_limits.address(one, 1).is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let rate_limits = RateLimits::new(0, 0, 0);
        let key: KeyId = "Ab3dEf9h".parse().unwrap();
        assert!((0..1_000).all(|_| rate_limits.key(key, 1).is_ok()));
        assert!((0..1_000).all(|_| rate_limits.body(IpAddr::from([203, 0, 113, 1])).is_ok()));
    }

    #[test]
    fn empty_buckets_are_removed() {
        let burst: LeakyBuckets<u32> = LeakyBuckets::new(1_000_000, SECOND).unwrap();
        for key in 0..2 * SWEEP {
            burst.take_at(&key, 1, u64::from(key) * 1_000).unwrap();
        }
        let kept: usize = burst.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(kept < SWEEP as usize * 3 / 2, "{kept}");
    }
}
