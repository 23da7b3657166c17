//! The totals of the months around this node's in memory. Every call looks its own up, so nothing is waited for but a table of
//! some keys that is being changed in a few places.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;

/// Tables by a byte of the key's id: one that grows moves a small part of all totals.
const SHARDS: usize = 64;

/// What is counted of an allowance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls that count against the quota.
    pub used: u64,
    /// Where the last message among them stands in the JetStream stream that meters the tier; 0 without any.
    pub through: u64,
}

#[derive(Debug)]
pub(super) struct Table {
    shards: Box<[RwLock<Shard>]>,
    /// The tiers there are; totals name them by their places.
    tiers: RwLock<Vec<TierName>>,
}

type Shard = HashMap<(KeyId, Month, u16), Counted, RandomState>;

impl Table {
    pub(super) fn new() -> Table {
        Table { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), tiers: RwLock::default() }
    }

    /// Zeros where nothing is counted, or no longer in memory.
    pub(super) fn get(&self, key: KeyId, tier: &TierName, month: Month) -> Counted {
        let tiers = self.tiers.read().unwrap_or_else(PoisonError::into_inner);
        let Some(tier) = place(&tiers, tier) else { return Counted::default() };
        drop(tiers);
        let shard = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        shard.get(&(key, month, tier)).copied().unwrap_or_default()
    }

    pub(super) fn set(&self, key: KeyId, tier: TierName, month: Month, counted: Counted) {
        let mut tiers = self.tiers.write().unwrap_or_else(PoisonError::into_inner);
        if !tiers.contains(&tier) {
            tiers.push(tier.clone());
        }
        let Some(tier) = place(&tiers, &tier) else { return };
        drop(tiers);
        let mut shard = self.shard(key).write().unwrap_or_else(PoisonError::into_inner);
        shard.insert((key, month, tier), counted);
    }

    /// Lets go of all other months.
    pub(super) fn keep(&self, kept: &RangeInclusive<Month>) {
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|(_, month, _), _| kept.contains(month));
            shard.shrink_to_fit();
        }
    }

    fn shard(&self, key: KeyId) -> &RwLock<Shard> {
        // The last two characters hold more than six bits between them, in keys and in what tests make up.
        let [.., a, b] = key.as_bytes();
        &self.shards[(usize::from(*a) * 10 + usize::from(*b)) % SHARDS]
    }
}

/// A tier's place; none beyond the 65,536th, which no configuration reaches.
fn place(tiers: &[TierName], tier: &TierName) -> Option<u16> {
    u16::try_from(tiers.iter().position(|known| known == tier)?).ok()
}
