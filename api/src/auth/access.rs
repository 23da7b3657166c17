//! Who may call, and what calls are taken out of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use read::counters::Counted;
use read::keys::KnownKey;
use read::models::ReadModels;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};

use crate::auth::proxies::TrustedProxies;
use crate::auth::rate_limit::Bursts;
use crate::command_client::CommandClient;
use crate::letters::Letters;
use crate::metering::{Budget, Meter};

/// How often a tier that is not set is logged.
const REPEAT: Duration = Duration::from_secs(60);

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
    /// The way to the write side, which issues keys.
    pub commands: CommandClient,
    /// Whether links to keys can be mailed.
    pub letters: Letters,
    /// Tiers of keys that `tiers` lacks.
    pub unknown_tiers: UnknownTiers,
}

/// Tiers that keys have and the setting `tiers` lacks; each is logged once a minute while its keys call.
#[derive(Debug, Default)]
pub struct UnknownTiers {
    logged: Mutex<HashMap<TierName, Instant>>,
}

impl UnknownTiers {
    fn warn(&self, tier: &TierName, first: &TierName) {
        // A panic while the lock was held leaves a whole map.
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.get(tier).is_some_and(|at| at.elapsed() < REPEAT) {
            return;
        }
        logged.insert(tier.clone(), Instant::now());
        tracing::warn!(
            "a key of the tier “{tier}” calls, which the setting tiers lacks: it is served as one of “{first}”; set \
             tiers as on the write side"
        );
    }
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
    /// What the holder of a key may call. A key of a tier that this node's setting lacks is served as one of the first
    /// tier.
    pub(crate) fn known(&self, key: KnownKey) -> Known {
        match self.tiers.get(&key.tier) {
            Some(tier) => Known { key_id: key.key_id, limit: tier.quota, tier: key.tier },
            None => {
                let first = self.tiers.first();
                self.unknown_tiers.warn(&key.tier, &first.name);
                Known { key_id: key.key_id, limit: first.quota, tier: Arc::new(first.name.clone()) }
            }
        }
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
