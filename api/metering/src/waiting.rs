//! The calls of a node that wait until NATS counts again. Each holds its answer in memory, so that only so many may wait, and of one key
//! no more than a part of them: no key takes the places of all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemas::key::KeyId;

/// The number of calls that may wait on a node.
const PLACES: usize = 1_024;
/// The number of these that the calls of one key may take.
const PLACES_OF_KEY: usize = 256;

/// The places of a node.
#[derive(Debug, Default)]
pub(super) struct WaitingCalls {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_key: HashMap<KeyId, usize>,
}

/// A call that waits, while this lives.
#[derive(Debug)]
pub(super) struct Place {
    waiting: Arc<WaitingCalls>,
    key: KeyId,
}

impl WaitingCalls {
    /// Returns a place for a call of a key; `None` if there is none. A call that `may_count` always gets one: it was published, so that
    /// it must be answered, and of these there are no more than were under way.
    pub(super) fn place(self: &Arc<Self>, key: KeyId, may_count: bool) -> Option<Place> {
        let mut taken = self.taken();
        let Taken { all, by_key } = &mut *taken;
        let of_key = by_key.get(&key).copied().unwrap_or_default();
        if !may_count && (*all >= PLACES || of_key >= PLACES_OF_KEY) {
            return None;
        }
        *all += 1;
        by_key.insert(key, of_key + 1);
        Some(Place { waiting: self.clone(), key })
    }

    /// Returns the number of calls that wait.
    pub(super) fn number(&self) -> u64 {
        self.taken().all as u64
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.waiting.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(of_key) = taken.by_key.get_mut(&self.key) {
            *of_key -= 1;
            if *of_key == 0 {
                taken.by_key.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_a_part_of_the_places_and_a_call_that_ends_leaves_its_own() {
        let waiting = Arc::new(WaitingCalls::default());
        let keys: Vec<KeyId> = ["Ab3dEf9h", "Ab3dEf9i", "Ab3dEf9j", "Ab3dEf9k", "Ab3dEf9l"]
            .map(|key| key.parse().unwrap())
            .into();
        let all_of = |key: KeyId| std::iter::from_fn(|| waiting.place(key, false)).collect::<Vec<_>>();
        let mut places: Vec<Vec<Place>> = keys.iter().map(|key| all_of(*key)).collect();
        assert_eq!(places.iter().map(Vec::len).collect::<Vec<_>>(), [256, 256, 256, 256, 0]);
        assert_eq!(waiting.number(), 1_024);
        places[1].pop();
        assert!(waiting.place(keys[0], false).is_none(), "its part is taken");
        assert!(waiting.place(keys[0], true).is_some(), "what may count is answered");
        assert!(waiting.place(keys[4], false).is_some());
        drop(places);
        assert_eq!((waiting.number(), waiting.taken().by_key.len()), (0, 0));
    }
}
