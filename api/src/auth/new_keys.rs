//! Keys that are presented a moment before this node hears of them: whoever was just given a key may use it at once.
//! Every key that is not known waits alike, whether it never was, has ended or is no key at all, so the time of a
//! refusal tells nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use read::keys::KnownKey;
use schemas::key::KeyHash;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

/// How long a key may take to be known.
const WAIT: Duration = Duration::from_millis(250);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// The same key waits once in this time.
const AGAIN: Duration = Duration::from_secs(1);
/// Requests that wait at once; further ones are refused without waiting.
const MOST: usize = 256;
/// Keys that are remembered to have waited.
const REMEMBERED: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Newcomers {
    places: Semaphore,
    waited: Mutex<HashMap<KeyHash, Instant>>,
}

impl Newcomers {
    pub(crate) fn new() -> Newcomers {
        Newcomers { places: Semaphore::new(MOST), waited: Mutex::default() }
    }

    /// Waits for a key to be known.
    pub(crate) async fn wait_for(
        &self,
        hash: KeyHash,
        find: impl Fn() -> Option<KnownKey>,
    ) -> Option<KnownKey> {
        let _place = self.places.try_acquire().ok()?;
        let begun = Instant::now();
        if !self.may_wait(hash, begun) {
            return find();
        }
        loop {
            sleep(LOOK).await;
            let found = find();
            if found.is_some() || begun.elapsed() >= WAIT {
                return found;
            }
        }
    }

    fn may_wait(&self, hash: KeyHash, now: Instant) -> bool {
        let mut waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        if waited.len() >= REMEMBERED {
            waited.retain(|_, at| now.duration_since(*at) < AGAIN);
        }
        if waited.len() >= REMEMBERED || waited.get(&hash).is_some_and(|at| now.duration_since(*at) < AGAIN) {
            return false;
        }
        waited.insert(hash, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use super::*;

    fn known() -> KnownKey {
        KnownKey { key_id: "Ab3dEf9h".parse().unwrap(), tier: Arc::new("free".parse().unwrap()) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_waited_for_once_a_second_and_every_unknown_one_alike() {
        let newcomers = Newcomers::new();
        let (late, never) = (KeyHash::of(b"late"), KeyHash::of(b"never"));
        let (begun, looks) = (Instant::now(), Cell::new(0));
        let find = || {
            looks.set(looks.get() + 1);
            (looks.get() == 5).then(known)
        };
        assert_eq!(newcomers.wait_for(late, find).await, Some(known()));
        assert_eq!(begun.elapsed(), Duration::from_millis(50));
        for (hash, took) in [(never, 250), (KeyHash::of(b""), 250), (never, 0)] {
            let begun = Instant::now();
            assert_eq!(newcomers.wait_for(hash, || None).await, None);
            assert_eq!(begun.elapsed(), Duration::from_millis(took));
        }
        tokio::time::advance(AGAIN).await;
        let begun = Instant::now();
        newcomers.wait_for(never, || None).await;
        assert_eq!(begun.elapsed(), WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_wait_at_once_than_there_are_places() {
        let newcomers = Newcomers::new();
        let begun = Instant::now();
        let waiting = futures::future::join_all((0..MOST as u32 + 100).map(async |number| {
            newcomers.wait_for(KeyHash::of(&number.to_le_bytes()), || None).await;
            begun.elapsed().is_zero()
        }));
        let at_once = waiting.await.into_iter().filter(|at_once| *at_once).count();
        assert_eq!(at_once, 100);
        for number in 0..REMEMBERED as u32 * 2 {
            newcomers.may_wait(KeyHash::of(&number.to_le_bytes()), Instant::now());
        }
        assert!(newcomers.waited.lock().unwrap().len() <= REMEMBERED);
    }
}
