//! The account aggregate: one email address, up to three keys, and its payments. Pure functions, one use case a file. The address
//! itself is in the vault only.

mod change_tier;
mod erase;
mod issue;
mod move_payments;
mod payments;
mod prove;
mod record_payment;
mod rejection;
mod revoke;
#[cfg(test)]
pub(crate) mod scenario;
mod use_link;

use jiff::Timestamp;
use schemas::account::{AccountEvent, EmailProven, KeyIssued};
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};

pub use change_tier::change_tier;
pub use erase::erase;
pub use issue::{issue_key, normal_name};
pub use move_payments::{receive_payments, release_payments};
pub use payments::{Payments, Period};
pub use prove::prove_keys;
pub use record_payment::{needs_mail, next_settlement, raise_proven_keys, record_payment, settle_payments};
pub use rejection::Rejection;
pub use revoke::revoke_key;
pub use use_link::{LinkDecision, free_places, may_replace_key, use_link};

/// The maximum number of keys of an account. A revoked key counts until the end of the UTC month in which it was revoked:
/// otherwise revoking and issuing would give a fresh quota.
pub const MAX_KEYS: usize = 3;

/// The state of an account, folded from its events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Account {
    /// No events yet.
    #[default]
    Absent,
    /// All keys in the order in which they were issued, revoked ones included, and all payments.
    Open(Vec<KeyState>, Payments),
    /// The address was erased and all keys are revoked. The same address opens another account with room for three keys: the
    /// keys of this one do not count there, since nothing connects the two accounts any more.
    Erased(Vec<KeyState>),
}

/// The state of a key, folded from the events of its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyState {
    /// As issued; the current tier is `tier`.
    pub issued: KeyIssued,
    /// The time of issue.
    pub issued_at: Timestamp,
    /// The tier whose quota and rate apply now.
    pub tier: TierName,
    /// The tier without payments: that of its issue, or the one that an operator set.
    pub own: TierName,
    /// Whether the owner of the address or an operator confirmed it.
    pub proven: bool,
    /// The time of revocation; `None` for a live key.
    pub revoked: Option<Timestamp>,
}

impl Account {
    /// Returns the account after one more event, with the event's time.
    pub fn evolve(self, event: &AccountEvent, time: Timestamp) -> Account {
        match event {
            AccountEvent::AccountOpened(_) => match self {
                Account::Absent => Account::Open(Vec::new(), Payments::default()),
                Account::Open(..) | Account::Erased(_) => self,
            },
            AccountEvent::KeyIssued(issued) => match self {
                Account::Open(mut keys, payments) => {
                    keys.push(KeyState::new(issued.clone(), time));
                    Account::Open(keys, payments)
                }
                Account::Absent | Account::Erased(_) => self,
            },
            AccountEvent::KeyRevoked(revoked) => {
                self.with_keys(&[revoked.key_id], |key| key.revoked = key.revoked.or(Some(time)))
            }
            AccountEvent::EmailProven(proven) => self.with_keys(&proven.key_ids, |key| key.proven = true),
            AccountEvent::TierChanged(changed) => self.with_keys(&changed.key_ids, |key| {
                key.tier.clone_from(&changed.tier);
                if !changed.by_payment {
                    key.own.clone_from(&changed.tier);
                }
            }),
            AccountEvent::PaymentRecorded(payment) => {
                self.with_payments(|payments| payments.add(payment.clone()))
            }
            AccountEvent::PaymentsMoved(moved) => self.with_payments(|payments| payments.remove(moved)),
            AccountEvent::EntitlementChanged(changed) => {
                self.with_payments(|payments| payments.entitled = Some(changed.tier.clone()))
            }
            AccountEvent::AccountErased(_) => match self {
                Account::Open(mut keys, _) => {
                    keys.iter_mut().for_each(|key| key.revoked = key.revoked.or(Some(time)));
                    Account::Erased(keys)
                }
                Account::Absent | Account::Erased(_) => self,
            },
        }
    }

    /// Folds all events of an account.
    pub fn replay<'e>(events: impl IntoIterator<Item = (&'e AccountEvent, Timestamp)>) -> Account {
        events.into_iter().fold(Account::Absent, |account, (event, time)| account.evolve(event, time))
    }

    /// Returns the account after these events, which have the same time.
    pub fn after(self, events: &[AccountEvent], time: Timestamp) -> Account {
        events.iter().fold(self, |account, event| account.evolve(event, time))
    }

    /// Returns its payments; empty unless the account is open.
    pub fn payments(&self) -> Option<&Payments> {
        match self {
            Account::Open(_, payments) => Some(payments),
            Account::Absent | Account::Erased(_) => None,
        }
    }

    /// Returns all keys, revoked ones included, in the order in which they were issued.
    pub fn keys(&self) -> &[KeyState] {
        match self {
            Account::Absent => &[],
            Account::Open(keys, _) | Account::Erased(keys) => keys,
        }
    }

    /// Returns the key with this id.
    pub fn key(&self, id: KeyId) -> Option<&KeyState> {
        self.keys().iter().find(|key| key.issued.key_id == id)
    }

    /// Returns the keys that are not revoked.
    pub fn live(&self) -> impl Iterator<Item = &KeyState> {
        self.keys().iter().filter(|key| key.revoked.is_none())
    }

    /// Counts the keys that fill the limit in a month: live ones and those revoked in it. A clock that was set back makes
    /// no room.
    pub fn used_places(&self, month: Month) -> usize {
        self.keys().iter().filter(|key| key.revoked.is_none_or(|at| Month::of(at) >= month)).count()
    }

    /// Returns the month after which there is room again, if the limit is reached in `month`.
    fn month_before_room(&self, month: Month) -> Month {
        let revoked = self.keys().iter().filter_map(|key| key.revoked).map(Month::of);
        revoked.filter(|revoked| *revoked >= month).min().unwrap_or(month)
    }

    fn with_keys(mut self, ids: &[KeyId], change: impl Fn(&mut KeyState)) -> Account {
        if let Account::Open(keys, _) | Account::Erased(keys) = &mut self {
            keys.iter_mut().filter(|key| ids.contains(&key.issued.key_id)).for_each(change);
        }
        self
    }

    fn with_payments(mut self, change: impl FnOnce(&mut Payments)) -> Account {
        if let Account::Open(_, payments) = &mut self {
            change(payments);
        }
        self
    }

    /// Returns the keys that a command names, or all live keys if it names none, each once.
    fn selected(&self, ids: &[KeyId]) -> Result<Vec<&KeyState>, Rejection> {
        let mut chosen: Vec<&KeyState> = Vec::new();
        for id in ids {
            let key = self.key(*id).ok_or(Rejection::NotOfThisAddress(*id))?;
            if key.revoked.is_some() {
                return Err(Rejection::Revoked(*id));
            }
            if !chosen.contains(&key) {
                chosen.push(key);
            }
        }
        if ids.is_empty() {
            chosen = self.live().collect();
        }
        if chosen.is_empty() { Err(Rejection::NoKeys) } else { Ok(chosen) }
    }
}

impl KeyState {
    fn new(issued: KeyIssued, at: Timestamp) -> KeyState {
        KeyState {
            tier: issued.tier.clone(),
            own: issued.tier.clone(),
            issued,
            issued_at: at,
            proven: false,
            revoked: None,
        }
    }
}

/// Returns the proof that a tier change implies. Only an operator's command sets a tier other than the first, and it counts as
/// proof: no unproven key is ever in such a tier.
fn implied_proof(tier: &TierName, tiers: &Tiers, keys: impl Iterator<Item = KeyId>) -> Option<AccountEvent> {
    let key_ids: Vec<KeyId> = keys.collect();
    let implied_proof = *tier != tiers.first().name && !key_ids.is_empty();
    implied_proof.then_some(AccountEvent::EmailProven(EmailProven { key_ids }))
}

fn check_tier(tier: &TierName, tiers: &Tiers) -> Result<(), Rejection> {
    match tiers.get(tier) {
        Some(_) => Ok(()),
        None => Err(Rejection::UnknownTier {
            tier: tier.clone(),
            known: tiers.iter().map(|tier| tier.name.clone()).collect(),
        }),
    }
}

#[cfg(test)]
mod tests;
