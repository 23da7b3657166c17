//! Waits for keys that this node's model does not have yet: a new key can be used at once, and its first call waits for the model.
//! Every unknown key waits equally long, whether it never existed, was revoked or is malformed, so that the time of a refusal
//! reveals nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use read::keys::ActiveKey;
use schemas::key::KeyHash;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

/// How long a request waits for its key.
const WAIT: Duration = Duration::from_millis(250);
/// The interval at which the model is read meanwhile.
const POLL: Duration = Duration::from_millis(10);
/// A key that was waited for is not waited for again within this time.
const AGAIN: Duration = Duration::from_secs(1);
/// The maximum number of requests that wait at once; further ones are refused without waiting.
const MOST: usize = 256;
/// The maximum number of keys that are remembered as waited for.
const REMEMBERED: usize = 4_096;

/// The unknown keys for which requests wait.
#[derive(Debug)]
pub struct NewKeys {
    slots: Semaphore,
    waited: Mutex<HashMap<KeyHash, Instant>>,
}

impl Default for NewKeys {
    fn default() -> NewKeys {
        NewKeys { slots: Semaphore::new(MOST), waited: Mutex::default() }
    }
}

impl NewKeys {
    /// Waits until `find` returns a key, for at most a quarter of a second.
    pub async fn wait_for(&self, hash: KeyHash, find: impl Fn() -> Option<ActiveKey>) -> Option<ActiveKey> {
        let _place = self.slots.try_acquire().ok()?;
        let begun = Instant::now();
        if !self.may_wait(hash, begun) {
            return find();
        }
        loop {
            sleep(POLL).await;
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

    fn known() -> ActiveKey {
        ActiveKey { key_id: "Ab3dEf9h".parse().unwrap(), tier: Arc::new("free".parse().unwrap()) }
    }

    #[tokio::test(start_paused = true)]
    async fn every_unknown_key_is_waited_for_equally_long_once_a_second() {
        let new_keys = NewKeys::default();
        let (late, never) = (KeyHash::of(b"late"), KeyHash::of(b"never"));
        let (begun, looks) = (Instant::now(), Cell::new(0));
        let find = || {
            looks.set(looks.get() + 1);
            (looks.get() == 5).then(known)
        };
        assert_eq!(new_keys.wait_for(late, find).await, Some(known()));
        assert_eq!(begun.elapsed(), Duration::from_millis(50));
        for (hash, took) in [(never, 250), (KeyHash::of(b""), 250), (never, 0)] {
            let begun = Instant::now();
            assert_eq!(new_keys.wait_for(hash, || None).await, None);
            assert_eq!(begun.elapsed(), Duration::from_millis(took));
        }
        tokio::time::advance(AGAIN).await;
        let begun = Instant::now();
        new_keys.wait_for(never, || None).await;
        assert_eq!(begun.elapsed(), WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_waiting_requests_is_limited() {
        let new_keys = NewKeys::default();
        let begun = Instant::now();
        let waiting = futures::future::join_all((0..MOST as u32 + 100).map(async |number| {
            new_keys.wait_for(KeyHash::of(&number.to_le_bytes()), || None).await;
            begun.elapsed().is_zero()
        }));
        let at_once = waiting.await.into_iter().filter(|at_once| *at_once).count();
        assert_eq!(at_once, 100);
        for number in 0..REMEMBERED as u32 * 2 {
            new_keys.may_wait(KeyHash::of(&number.to_le_bytes()), Instant::now());
        }
        assert!(new_keys.waited.lock().unwrap().len() <= REMEMBERED);
    }
}
