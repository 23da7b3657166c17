//! Short limits: how many calls may come in a second with one key, or from one address without a valid one.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use schemas::key::KeyId;

/// After so many questions, what is at rest is forgotten.
const SWEEP: u32 = 16_384;

/// The short limits of a node. Each node has its own: they protect the node, not the month's allowance.
#[derive(Debug)]
pub struct Bursts {
    keys: Option<Burst<KeyId>>,
    addresses: Option<Burst<IpAddr>>,
    mints: Option<Burst<IpAddr>>,
}

#[derive(Debug)]
struct Burst<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, DashMapStateStore<K>, MonotonicClock, NoOpMiddleware<std::time::Instant>>,
    asked: AtomicU32,
}

impl Bursts {
    /// Calls in a second: of one key, and of one address without a valid key; and keys that one address may ask for in an
    /// hour. 0 is no limit.
    pub fn new(per_key: u32, per_address: u32, keys_per_address: u32) -> Bursts {
        let keys = Burst::new(per_key, Quota::per_second);
        let addresses = Burst::new(per_address, Quota::per_second);
        Bursts { keys, addresses, mints: Burst::new(keys_per_address, Quota::per_hour) }
    }

    /// Takes one call of a key; the time to wait where there are too many.
    pub(crate) fn key(&self, key: KeyId) -> Result<(), Duration> {
        self.keys.as_ref().map_or(Ok(()), |burst| burst.take(&key))
    }

    /// Takes one call of an address.
    pub(crate) fn address(&self, address: IpAddr) -> Result<(), Duration> {
        take_neighbourhood(self.addresses.as_ref(), address)
    }

    /// Takes one key that an address asks for.
    pub(crate) fn mint(&self, address: IpAddr) -> Result<(), Duration> {
        take_neighbourhood(self.mints.as_ref(), address)
    }
}

/// Who holds a network has all its addresses, so they share what one may.
fn take_neighbourhood(burst: Option<&Burst<IpAddr>>, address: IpAddr) -> Result<(), Duration> {
    burst.map_or(Ok(()), |burst| burst.take(&crate::proxies::neighbourhood(address)))
}

impl<K: Hash + Eq + Clone> Burst<K> {
    fn new(most: u32, quota: fn(NonZeroU32) -> Quota) -> Option<Burst<K>> {
        let quota = quota(NonZeroU32::new(most)?);
        let limiter = RateLimiter::new(quota, DashMapStateStore::default(), MonotonicClock);
        Some(Burst { limiter, asked: AtomicU32::new(0) })
    }

    fn take(&self, key: &K) -> Result<(), Duration> {
        if self.asked.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(key).map_err(|not_until| not_until.wait_time_from(MonotonicClock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_and_the_next_is_told_to_wait() {
        let bursts = Bursts::new(20, 2, 1);
        let (one, other): (KeyId, KeyId) = ("Ab3dEf9h".parse().unwrap(), "Ab3dEf9i".parse().unwrap());
        let taken = (0..40).take_while(|_| bursts.key(one).is_ok()).count();
        // On a slow machine a twentieth of a second may pass meanwhile.
        assert!((20..30).contains(&taken), "{taken}");
        assert!(bursts.key(one).unwrap_err() <= Duration::from_millis(50));
        assert_eq!(bursts.key(other), Ok(()));
        let address: IpAddr = "2001:db8::1".parse().unwrap();
        let taken = (0..10).take_while(|_| bursts.address(address).is_ok()).count();
        assert!((2..5).contains(&taken), "{taken}");
        assert!(bursts.address("2001:db8::2".parse().unwrap()).is_err(), "the same network");
    }

    #[test]
    fn no_limit_is_none() {
        let bursts = Bursts::new(0, 0, 0);
        let key: KeyId = "Ab3dEf9h".parse().unwrap();
        assert!((0..1_000).all(|_| bursts.key(key).is_ok()));
    }

    #[test]
    fn what_is_at_rest_is_forgotten() {
        let burst: Burst<u32> = Burst::new(1_000_000, Quota::per_second).unwrap();
        for key in 0..2 * SWEEP {
            burst.take(&key).unwrap();
        }
        assert!(burst.limiter.len() < SWEEP as usize * 3 / 2, "{}", burst.limiter.len());
    }
}
