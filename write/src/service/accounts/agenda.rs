//! When the keys of which account have to follow what is paid for, though nobody tells anything. It is kept in memory
//! and made anew from the log at each start.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use schemas::ids::AccountId;
use tokio::sync::Notify;

/// The accounts that something is to be done for, each with its time.
#[derive(Default)]
pub(in crate::service) struct Agenda {
    times: Mutex<BTreeMap<AccountId, Timestamp>>,
    changed: Notify,
}

impl Agenda {
    /// Notes the next time for an account, or that there is none any more.
    pub(in crate::service) fn note(&self, account: AccountId, time: Option<Timestamp>) {
        let before = match time {
            Some(time) => self.times().insert(account, time),
            None => self.times().remove(&account),
        };
        if before != time {
            self.changed.notify_one();
        }
    }

    /// The accounts whose time has come.
    pub(in crate::service) fn due(&self, now: Timestamp) -> Vec<AccountId> {
        self.times().iter().filter(|(_, time)| **time <= now).map(|(account, _)| *account).collect()
    }

    /// The next time of all.
    pub(in crate::service) fn next(&self) -> Option<Timestamp> {
        self.times().values().min().copied()
    }

    /// Waits until a time is noted; returns at once where one was since the last call.
    pub(in crate::service) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn times(&self) -> MutexGuard<'_, BTreeMap<AccountId, Timestamp>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
