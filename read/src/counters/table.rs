//! The totals of the months around the present one, in memory. Every call looks its total up, so a lookup waits only for the lock of a
//! shard that a refresh is writing.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::Counted;

/// The number of shards, selected by the key's id: a shard that grows moves a small part of all totals.
const SHARDS: usize = 64;

#[derive(Debug)]
pub(super) struct Table {
    shards: Box<[RwLock<Shard>]>,
    /// All tiers; totals refer to them by index.
    tiers: RwLock<Vec<TierName>>,
}

type Shard = HashMap<(KeyId, Month, u16), Counted, RandomState>;

impl Table {
    pub(super) fn new() -> Table {
        Table { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), tiers: RwLock::default() }
    }

    /// Returns a total; zeros if there is none in memory.
    pub(super) fn get(&self, key: KeyId, tier: &TierName, month: Month) -> Counted {
        let tiers = self.tiers.read().unwrap_or_else(PoisonError::into_inner);
        let Some(tier) = index_of(&tiers, tier) else { return Counted::default() };
        drop(tiers);
        let shard = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        shard.get(&(key, month, tier)).copied().unwrap_or_default()
    }

    pub(super) fn set(&self, key: KeyId, tier: TierName, month: Month, counted: Counted) {
        let mut tiers = self.tiers.write().unwrap_or_else(PoisonError::into_inner);
        if !tiers.contains(&tier) {
            tiers.push(tier.clone());
        }
        let Some(tier) = index_of(&tiers, &tier) else { return };
        drop(tiers);
        let mut shard = self.shard(key).write().unwrap_or_else(PoisonError::into_inner);
        shard.insert((key, month, tier), counted);
    }

    /// Removes all other months.
    pub(super) fn retain(&self, kept: &RangeInclusive<Month>) {
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|(_, month, _), _| kept.contains(month));
            shard.shrink_to_fit();
        }
    }

    fn shard(&self, key: KeyId) -> &RwLock<Shard> {
        // The last two characters have more than six bits of entropy, in keys and in tests.
        let [.., a, b] = key.as_bytes();
        &self.shards[(usize::from(*a) * 10 + usize::from(*b)) % SHARDS]
    }
}

/// Returns the index of a tier; `None` beyond the 65,536th, which no configuration reaches.
fn index_of(tiers: &[TierName], tier: &TierName) -> Option<u16> {
    u16::try_from(tiers.iter().position(|known| known == tier)?).ok()
}
