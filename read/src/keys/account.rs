//! The state of an account: its keys, folded from its events.

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

/// A key with the columns that only the model uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AccountKey {
    pub(super) key: StoredKey,
    pub(super) hash: KeyHash,
    /// The last event that changed it.
    pub(super) changed: Position,
}

/// The reason why an event cannot follow the previous ones. The write side never appends such an event; a log that contains one is
/// damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnexpectedEvent {
    /// There is a key with this id or hash.
    #[error("it issues a key that was issued before")]
    IssuedTwice,
    #[error("it refers to a key that was not issued to this account before")]
    NotIssued,
}

impl Account {
    /// Applies an event, or nothing of it if it fails. The caller has checked that a new key's id and hash are unused.
    pub(super) fn apply(
        &mut self,
        event: AccountEvent,
        position: Position,
        time: Timestamp,
    ) -> Result<(), UnexpectedEvent> {
        match event {
            // Payments do not affect keys directly; their consequences are separate events.
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
        ids: &[KeyId],
        position: Position,
        change: impl Fn(&mut StoredKey),
    ) -> Result<(), UnexpectedEvent> {
        if !ids.iter().all(|id| self.keys.iter().any(|known| known.key.key_id == *id)) {
            return Err(UnexpectedEvent::NotIssued);
        }
        for known in self.keys.iter_mut().filter(|known| ids.contains(&known.key.key_id)) {
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

/// Revokes a key; one that is revoked already keeps its time.
fn revoke(key: &mut StoredKey, time: Timestamp) {
    key.revoked_at.get_or_insert(time);
}
