//! Who may call, and what calls are taken out of.

use std::sync::Arc;

use jiff::Timestamp;
use read::counters::Counted;
use read::keys::KnownKey;
use read::models::ReadModels;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};

use crate::bursts::Bursts;
use crate::fault::Fault;
use crate::key_desk::KeyDesk;
use crate::metering::{Budget, Meter};
use crate::proxies::TrustedProxies;

/// Who may call.
#[derive(Debug, Clone)]
pub enum Access {
    /// Everybody, and nothing is counted: for trusted networks.
    Open,
    /// Whoever presents a key; calls are counted.
    Keys(Arc<KeyAccess>),
}

/// What keys are held to.
#[derive(Debug)]
pub struct KeyAccess {
    /// Counts calls.
    pub meter: Meter,
    /// What a key of each tier may call in a month.
    pub tiers: Tiers,
    /// What may be called in a second.
    pub bursts: Bursts,
    /// Who is believed about where a call comes from.
    pub proxies: TrustedProxies,
    /// Where keys are handed out.
    pub desk: KeyDesk,
}

/// A caller whose key is good.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) key_id: KeyId,
    pub(crate) tier: Arc<TierName>,
    /// Calls that the tier allows in a month.
    pub(crate) limit: u64,
}

/// What is known of a caller's month.
#[derive(Debug, Clone)]
pub(crate) struct Balance {
    pub(crate) budget: Budget,
    /// What the counters say.
    pub(crate) counted: Counted,
    pub(crate) limit: u64,
    /// With the calls of this node that the counters have not seen.
    pub(crate) used: u64,
}

impl KeyAccess {
    /// What the holder of a key may call.
    pub(crate) fn known(&self, key: KnownKey) -> Result<Known, Fault> {
        let tier = self.tiers.get(&key.tier).ok_or_else(|| {
            Fault::internal(format!(
                "the tier {} of the key {} is not in the setting tiers",
                key.tier, key.key_id
            ))
        })?;
        Ok(Known { key_id: key.key_id, limit: tier.quota, tier: key.tier })
    }

    /// What a caller has used in the month of a moment. Where this node has no counters yet, nothing is known of
    /// earlier calls, and NATS alone decides.
    pub(crate) fn balance(&self, models: &ReadModels, known: &Known, now: Timestamp) -> Balance {
        let budget = Budget { key_id: known.key_id, tier: known.tier.clone(), month: Month::of(now) };
        let counted = models.counters().map_or(Counted { used: 0, through: 0 }, |counters| {
            counters.reader.counted(budget.key_id, &budget.tier, budget.month)
        });
        let used = self.meter.used(&budget, counted);
        Balance { budget, counted, limit: known.limit, used }
    }
}
