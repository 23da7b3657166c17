//! The keys in memory, by their hash. A call is let in or refused here, so nothing is waited for but a table of some
//! thousand keys that is being changed in a few places.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;
use schemas::key::{KeyHash, KeyId};
use schemas::tier::TierName;

/// Tables by the first byte of the hash: one that grows moves a 256th of all keys.
const SHARDS: usize = 256;

/// A key that may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    /// Its name in public.
    pub key_id: KeyId,
    /// What it may call.
    pub tier: Arc<TierName>,
}

/// Every key, those that have ended too.
#[derive(Debug)]
pub(super) struct Table {
    shards: Box<[RwLock<Shard>]>,
}

type Shard = HashMap<KeyHash, Entry, RandomState>;

#[derive(Debug)]
struct Entry {
    key_id: KeyId,
    /// None once the key has ended.
    tier: Option<Arc<TierName>>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }

    /// The key of this hash while it is good. One that has ended is looked for just as one that never was.
    pub(super) fn find(&self, hash: &KeyHash) -> Option<KnownKey> {
        let shard = self.shard(hash).read().unwrap_or_else(PoisonError::into_inner);
        let entry = shard.get(hash)?;
        entry.tier.as_ref().map(|tier| KnownKey { key_id: entry.key_id, tier: tier.clone() })
    }

    /// Makes a key known; without a tier it has ended.
    pub(super) fn set(&self, hash: KeyHash, key_id: KeyId, tier: Option<Arc<TierName>>) {
        let mut shard = self.shard(&hash).write().unwrap_or_else(PoisonError::into_inner);
        shard.insert(hash, Entry { key_id, tier });
    }

    fn shard(&self, hash: &KeyHash) -> &RwLock<Shard> {
        &self.shards[usize::from(hash.0.0[0])]
    }
}
