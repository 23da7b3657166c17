//! The keys in memory, by hash. Every call is authenticated here, so a lookup waits only for the lock of a shard that a refresh is
//! writing.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;
use schemas::key::{KeyHash, KeyId};
use schemas::tier::TierName;

/// The number of shards, selected by the first byte of the hash: a shard that grows moves a 256th of all keys.
const SHARDS: usize = 256;

/// A key that is not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveKey {
    /// The public id.
    pub key_id: KeyId,
    /// The tier, which sets the quota.
    pub tier: Arc<TierName>,
}

/// Every key, including revoked ones.
#[derive(Debug)]
pub(super) struct Table {
    shards: Box<[RwLock<Shard>]>,
}

type Shard = HashMap<KeyHash, Entry, RandomState>;

#[derive(Debug)]
struct Entry {
    key_id: KeyId,
    /// `None` once the key is revoked.
    tier: Option<Arc<TierName>>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }

    /// Returns the key with this hash unless it is revoked.
    pub(super) fn find(&self, hash: &KeyHash) -> Option<ActiveKey> {
        let shard = self.shard(hash).read().unwrap_or_else(PoisonError::into_inner);
        let entry = shard.get(hash)?;
        entry.tier.as_ref().map(|tier| ActiveKey { key_id: entry.key_id, tier: tier.clone() })
    }

    /// Inserts or replaces a key; without a tier it is revoked.
    pub(super) fn set(&self, hash: KeyHash, key_id: KeyId, tier: Option<Arc<TierName>>) {
        let mut shard = self.shard(&hash).write().unwrap_or_else(PoisonError::into_inner);
        shard.insert(hash, Entry { key_id, tier });
    }

    fn shard(&self, hash: &KeyHash) -> &RwLock<Shard> {
        &self.shards[usize::from(hash.0.0[0])]
    }
}
