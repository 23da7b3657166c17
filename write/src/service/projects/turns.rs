//! Turns of commands that change the same project.

use std::hash::{BuildHasher, RandomState};

use schemas::slug::Slug;
use tokio::sync::{Mutex, MutexGuard};

/// The number of locks: more than the commands that are executed at once, so that those on different projects rarely share one.
const LOCKS: usize = 1_024;

/// Locks by slug. Two slugs may share one.
pub(super) struct Turns {
    locks: Vec<Mutex<()>>,
    hasher: RandomState,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns {
            locks: std::iter::repeat_with(Mutex::default).take(LOCKS).collect(),
            hasher: RandomState::new(),
        }
    }
}

impl Turns {
    /// Waits until no other command changes the project at this slug; those that wait get their turns in order.
    pub(super) async fn take(&self, slug: &Slug) -> MutexGuard<'_, ()> {
        let hash = self.hasher.hash_one(slug.as_str());
        // The remainder is smaller than the number of locks.
        let index = usize::try_from(hash % LOCKS as u64).unwrap_or_default();
        self.locks[index].lock().await
    }
}
