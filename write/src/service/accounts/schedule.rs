//! The times at which paid periods end. It is kept in memory and rebuilt from the log at each start.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use schemas::ids::AccountId;
use tokio::sync::Notify;

/// The accounts whose keys change their tiers at a known time without a further notice.
#[derive(Default)]
pub(in crate::service) struct SettlementSchedule {
    times: Mutex<BTreeMap<AccountId, Timestamp>>,
    changed: Notify,
}

impl SettlementSchedule {
    /// Sets the next time of an account; `None` removes it.
    pub(in crate::service) fn set(&self, account: AccountId, time: Option<Timestamp>) {
        let before = match time {
            Some(time) => self.times().insert(account, time),
            None => self.times().remove(&account),
        };
        if before != time {
            self.changed.notify_one();
        }
    }

    /// Returns the accounts whose time has come.
    pub(in crate::service) fn due(&self, now: Timestamp) -> Vec<AccountId> {
        self.times().iter().filter(|(_, time)| **time <= now).map(|(account, _)| *account).collect()
    }

    /// Returns the earliest time.
    pub(in crate::service) fn next(&self) -> Option<Timestamp> {
        self.times().values().min().copied()
    }

    /// Waits until a time is set; returns at once if one was set since the last call.
    pub(in crate::service) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn times(&self) -> MutexGuard<'_, BTreeMap<AccountId, Timestamp>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
