//! Who may call this node, and the quota that the calls of a key are charged against.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;
use jiff::Timestamp;
use metering::{Budget, Meter};
use read::counters::Counted;
use read::keys::ActiveKey;
use read::models::ReadModels;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};

use crate::auth::proxies::TrustedProxies;
use crate::auth::rate_limit::RateLimits;
use crate::command_client::CommandClient;
use crate::mail::MailStatus;

/// The minimum interval between two warnings about an unknown tier.
const REPEAT: Duration = Duration::from_secs(60);

/// Who may call.
#[derive(Debug, Clone)]
pub enum Access {
    /// Everyone, without metering: for trusted networks.
    Open,
    /// Callers with a key, whose calls are charged; others get the pages and a preview.
    Keys(Arc<KeyAccess>),
}

/// How keys are checked, limited and charged.
#[derive(Debug)]
pub struct KeyAccess {
    /// Counts calls.
    pub meter: Meter,
    /// The monthly quota of each tier.
    pub tiers: Tiers,
    /// The rate limits.
    pub rate_limits: RateLimits,
    /// The proxies that may name the address of a caller.
    pub proxies: TrustedProxies,
    /// Sends commands to the write side, which issues keys.
    pub commands: CommandClient,
    /// Whether links can be mailed.
    pub mail: MailStatus,
    /// Limits warnings about tiers that `tiers` lacks.
    pub unknown_tiers: UnknownTiers,
}

/// Tiers that keys have and the setting `tiers` lacks; each is logged once a minute while its keys call.
#[derive(Debug, Default)]
pub struct UnknownTiers {
    logged: Mutex<HashMap<TierName, Instant>>,
}

impl Access {
    /// Returns how keys are checked and charged; `None` on a node without keys.
    pub fn keys(&self) -> Option<&KeyAccess> {
        match self {
            Access::Keys(access) => Some(access),
            Access::Open => None,
        }
    }

    /// Returns the address of the caller: that of the peer, or the one that a trusted proxy names.
    pub fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        self.keys().map_or(peer, |access| access.proxies.caller(peer, headers))
    }
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

/// A valid key, as the caller presented it.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// Its id.
    pub key_id: KeyId,
    /// Its tier.
    pub tier: Arc<TierName>,
    /// Calls that the tier allows in a month.
    pub limit: u64,
}

/// What a key has used of its quota in a month.
#[derive(Debug, Clone)]
pub struct Balance {
    /// Key, tier and month.
    pub budget: Budget,
    /// Calls that the counters have seen.
    pub counted: Counted,
    /// Calls that the tier allows in a month.
    pub limit: u64,
    /// Calls used: those that the counters have seen, and this node's own that they have not.
    pub used: u64,
}

impl Balance {
    /// Returns whether no call is left.
    pub fn is_used_up(&self) -> bool {
        self.used >= self.limit
    }
}

impl KeyAccess {
    /// Returns the key with its quota. A key of a tier that this node's setting lacks is served as one of the first tier.
    pub(crate) fn api_key(&self, key: ActiveKey) -> ApiKey {
        match self.tiers.get(&key.tier) {
            Some(tier) => ApiKey { key_id: key.key_id, limit: tier.quota, tier: key.tier },
            None => {
                let first = self.tiers.first();
                self.unknown_tiers.warn(&key.tier, &first.name);
                ApiKey { key_id: key.key_id, limit: first.quota, tier: Arc::new(first.name.clone()) }
            }
        }
    }

    /// Returns what a key has used in the month of `now`. Where this node has no counters yet, earlier calls are missing, and
    /// NATS alone decides.
    pub fn balance(&self, models: &ReadModels, key: &ApiKey, now: Timestamp) -> Balance {
        let budget = Budget { key_id: key.key_id, tier: key.tier.clone(), month: Month::of(now) };
        let counted = counted(models, &budget);
        let used = self.meter.used(&budget, counted);
        Balance { budget, counted, limit: key.limit, used }
    }
}

/// Returns what the counters of this node have seen of a budget; nothing where it has none yet.
pub(crate) fn counted(models: &ReadModels, budget: &Budget) -> Counted {
    models.counters().map_or(Counted { used: 0, through: 0 }, |counters| {
        counters.reader.counted(budget.key_id, &budget.tier, budget.month)
    })
}
