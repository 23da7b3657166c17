//! What an account's events add up to: the keys that were issued under it.

use jiff::Timestamp;
use schemas::account::{AccountEvent, KeyIssued};
use schemas::ids::Position;
use schemas::key::{KeyHash, KeyId};

use super::StoredKey;

/// The keys of one account, in the order in which they were issued.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) keys: Vec<AccountKey>,
}

/// A key and what only the model itself is concerned with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AccountKey {
    pub(super) key: StoredKey,
    pub(super) hash: KeyHash,
    /// The last event that changed it.
    pub(super) changed: Position,
}

/// An event that cannot follow what was before it. The write side never makes one; a log that holds one is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum OutOfPlace {
    /// A key of this id or this hash is there.
    #[error("it issues a key that was issued before")]
    IssuedTwice,
    /// No such key is there.
    #[error("it speaks of a key that was not issued to this account before")]
    NotIssued,
}

impl Account {
    /// Applies an event wholly or not at all. That a new key's id and hash are free everywhere is the caller's to say.
    pub(super) fn apply(
        &mut self,
        event: AccountEvent,
        position: Position,
        time: Timestamp,
    ) -> Result<(), OutOfPlace> {
        match event {
            // What was paid is no concern of a call; what follows from it comes as an event of its own.
            AccountEvent::AccountOpened(_)
            | AccountEvent::PaymentRecorded(_)
            | AccountEvent::PaymentsMoved(_)
            | AccountEvent::EntitlementChanged(_) => {}
            AccountEvent::KeyIssued(issued) => self.keys.push(AccountKey::new(issued, position, time)),
            AccountEvent::KeyRevoked(revoked) => {
                self.change(&[revoked.key_id], position, |key| revoke(key, time))?;
            }
            AccountEvent::EmailProven(proven) => {
                self.change(&proven.key_ids, position, |key| key.proven = true)?;
            }
            AccountEvent::TierChanged(changed) => {
                self.change(&changed.key_ids, position, |key| key.tier.clone_from(&changed.tier))?;
            }
            AccountEvent::AccountErased(_) => {
                let all: Vec<KeyId> = self.keys.iter().map(|known| known.key.key_id).collect();
                self.change(&all, position, |key| revoke(key, time))?;
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        wanted: &[KeyId],
        position: Position,
        change: impl Fn(&mut StoredKey),
    ) -> Result<(), OutOfPlace> {
        if !wanted.iter().all(|id| self.keys.iter().any(|known| known.key.key_id == *id)) {
            return Err(OutOfPlace::NotIssued);
        }
        for known in self.keys.iter_mut().filter(|known| wanted.contains(&known.key.key_id)) {
            change(&mut known.key);
            known.changed = position;
        }
        Ok(())
    }
}

impl AccountKey {
    fn new(issued: KeyIssued, position: Position, time: Timestamp) -> AccountKey {
        let KeyIssued { key_id, hash, hint, name, sealed_name, tier } = issued;
        let (created_at, revoked_at, proven) = (time, None, false);
        let key = StoredKey { key_id, hint, name, sealed_name, tier, created_at, revoked_at, proven };
        AccountKey { key, hash, changed: position }
    }
}

/// A key that has ended already ended then.
fn revoke(key: &mut StoredKey, time: Timestamp) {
    key.revoked_at.get_or_insert(time);
}
