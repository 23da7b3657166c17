//! What was last asked for, kept for those who ask again.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// At most `MAX` values by key, those that were asked for last.
#[derive(Debug)]
pub(super) struct Recent<K, V, const MAX: usize>(Mutex<Vec<(K, V)>>);

impl<K, V, const MAX: usize> Default for Recent<K, V, MAX> {
    fn default() -> Self {
        Recent(Mutex::default())
    }
}

impl<K, V: Clone, const MAX: usize> Recent<K, V, MAX> {
    /// Returns the value whose key `is_wanted`, if it is kept.
    pub(super) fn get(&self, is_wanted: impl Fn(&K) -> bool) -> Option<V> {
        let mut recent = self.lock();
        let at = recent.iter().position(|(key, _)| is_wanted(key))?;
        recent[..=at].rotate_right(1);
        Some(recent[0].1.clone())
    }

    /// Keeps a value in place of the one that was asked for longest ago. Nothing is locked while a value is made: two who ask at the same
    /// time may both keep it.
    pub(super) fn insert(&self, key: K, value: V) {
        let mut recent = self.lock();
        recent.truncate(MAX - 1);
        recent.insert(0, (key, value));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_values_are_made_once() {
        const MAX: usize = 16;
        let recent: Recent<usize, String, MAX> = Recent::default();
        let is_made = |number: usize| {
            let known = recent.get(|key| *key == number);
            match &known {
                Some(known) => assert_eq!(*known, number.to_string()),
                None => recent.insert(number, number.to_string()),
            }
            known.is_none()
        };
        let rounds = [(0..MAX).all(is_made), is_made(0), is_made(MAX)];
        assert_eq!(rounds, [true, false, true]);
        assert_eq!(
            [is_made(0), is_made(1), is_made(2), is_made(0)],
            [false, true, true, false],
            "1 was asked for longest ago, then 2"
        );
    }
}
