//! The account: one address, at most three keys, and what may be done with them. Everything here is pure; one use
//! case, one file. The address itself is not known here; the vault has it.

mod change_tier;
mod claim;
mod erase;
mod issue;
mod move_payments;
mod pay;
mod payments;
mod prove;
mod rejection;
mod revoke;
#[cfg(test)]
mod scenario;

use jiff::Timestamp;
use schemas::account::{AccountEvent, EmailProven, KeyIssued};
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};

pub use change_tier::change_tier;
pub use claim::{Wishes, claim, places_free, replaces};
pub use erase::erase;
pub use issue::{issue, name_of};
pub use move_payments::{receive, release};
pub use pay::{calls_for_letter, next_settling, pay, rise, settle};
pub use payments::{Payments, Period};
pub use prove::prove;
pub use rejection::Rejection;
pub use revoke::revoke;

/// How many keys an account has at most. A revoked key keeps its place until the UTC month ends in which it was
/// revoked: otherwise revoking and issuing would give a fresh quota.
pub const MOST_KEYS: usize = 3;

/// An account as its events tell it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Account {
    /// Nothing happened yet.
    #[default]
    Absent,
    /// It has these keys, in the order in which they were issued, revoked ones included, and these payments.
    Open(Vec<KeyState>, Payments),
    /// Its address was erased; all its keys are revoked. The same address opens another account, which starts with
    /// three free places: the keys of this one are not counted there, since nothing tells any more that the two
    /// belong together.
    Erased(Vec<KeyState>),
}

/// A key as the events tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyState {
    /// As it was handed out; `tier` may be another one by now.
    pub issued: KeyIssued,
    /// When it was handed out.
    pub issued_at: Timestamp,
    /// What it may call.
    pub tier: TierName,
    /// What it may call when nothing is paid: the tier in which it was issued or to which an operator moved it.
    pub own: TierName,
    /// Whether the holder of the address confirmed it, or an operator vouched for it.
    pub proven: bool,
    /// When it was taken back, if it was.
    pub revoked: Option<Timestamp>,
}

impl Account {
    /// The account after one more event, and the time that the event bears.
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
                self.with(&[revoked.key_id], |key| key.revoked = key.revoked.or(Some(time)))
            }
            AccountEvent::EmailProven(proven) => self.with(&proven.key_ids, |key| key.proven = true),
            AccountEvent::TierChanged(changed) => self.with(&changed.key_ids, |key| {
                key.tier.clone_from(&changed.tier);
                if !changed.by_payment {
                    key.own.clone_from(&changed.tier);
                }
            }),
            AccountEvent::PaymentRecorded(payment) => self.paying(|payments| payments.add(payment.clone())),
            AccountEvent::PaymentsMoved(moved) => self.paying(|payments| payments.remove(moved)),
            AccountEvent::EntitlementChanged(changed) => {
                self.paying(|payments| payments.entitled = Some(changed.tier.clone()))
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

    /// The account after these events, from its first on.
    pub fn replay<'e>(events: impl IntoIterator<Item = (&'e AccountEvent, Timestamp)>) -> Account {
        events.into_iter().fold(Account::Absent, |account, (event, time)| account.evolve(event, time))
    }

    /// The account after all these events, which bear the same time.
    pub fn after(self, events: &[AccountEvent], time: Timestamp) -> Account {
        events.iter().fold(self, |account, event| account.evolve(event, time))
    }

    /// What was told of its payments; nothing is where it is not open.
    pub fn payments(&self) -> Option<&Payments> {
        match self {
            Account::Open(_, payments) => Some(payments),
            Account::Absent | Account::Erased(_) => None,
        }
    }

    /// All keys it ever had, in the order in which they were issued.
    pub fn keys(&self) -> &[KeyState] {
        match self {
            Account::Absent => &[],
            Account::Open(keys, _) | Account::Erased(keys) => keys,
        }
    }

    /// The key of this id.
    pub fn key(&self, id: KeyId) -> Option<&KeyState> {
        self.keys().iter().find(|key| key.issued.key_id == id)
    }

    /// The keys that are not revoked.
    pub fn live(&self) -> impl Iterator<Item = &KeyState> {
        self.keys().iter().filter(|key| key.revoked.is_none())
    }

    /// How many of the three places are taken in a month: by live keys, and by those revoked in it. A clock that
    /// went back frees no place.
    pub fn places_taken(&self, month: Month) -> usize {
        self.keys().iter().filter(|key| key.revoked.is_none_or(|at| Month::of(at) >= month)).count()
    }

    /// The month behind which the first place is free, where all are taken in a month.
    fn room_after(&self, month: Month) -> Month {
        let revoked = self.keys().iter().filter_map(|key| key.revoked).map(Month::of);
        revoked.filter(|revoked| *revoked >= month).min().unwrap_or(month)
    }

    fn with(mut self, ids: &[KeyId], change: impl Fn(&mut KeyState)) -> Account {
        if let Account::Open(keys, _) | Account::Erased(keys) = &mut self {
            keys.iter_mut().filter(|key| ids.contains(&key.issued.key_id)).for_each(change);
        }
        self
    }

    fn paying(mut self, change: impl FnOnce(&mut Payments)) -> Account {
        if let Account::Open(_, payments) = &mut self {
            change(payments);
        }
        self
    }

    /// The keys that a command names, or all live ones where it names none, each once.
    fn chosen(&self, ids: &[KeyId]) -> Result<Vec<&KeyState>, Rejection> {
        let mut chosen: Vec<&KeyState> = Vec::new();
        for id in ids {
            let key = self.key(*id).ok_or(Rejection::NotOfThisAddress { key_id: *id })?;
            if key.revoked.is_some() {
                return Err(Rejection::Revoked { key_id: *id });
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

/// The proof that goes with a tier for these keys. Only an operator hands out a tier other than the first by a
/// command, and an operator's word counts as proof: such a tier never lands on a key that nobody vouched for.
fn vouched(tier: &TierName, tiers: &Tiers, keys: impl Iterator<Item = KeyId>) -> Option<AccountEvent> {
    let key_ids: Vec<KeyId> = keys.collect();
    let vouched = *tier != tiers.first().name && !key_ids.is_empty();
    vouched.then_some(AccountEvent::EmailProven(EmailProven { key_ids }))
}

/// Refuses a tier that the configuration does not have.
fn configured(tier: &TierName, tiers: &Tiers) -> Result<(), Rejection> {
    match tiers.get(tier) {
        Some(_) => Ok(()),
        None => Err(Rejection::UnknownTier {
            tier: tier.clone(),
            known: tiers.iter().map(|tier| tier.name.clone()).collect(),
        }),
    }
}

/// The key id that an event claims for its account, for ever.
pub fn claimed(event: &AccountEvent) -> Option<KeyId> {
    match event {
        AccountEvent::KeyIssued(issued) => Some(issued.key_id),
        AccountEvent::AccountOpened(_)
        | AccountEvent::KeyRevoked(_)
        | AccountEvent::EmailProven(_)
        | AccountEvent::TierChanged(_)
        | AccountEvent::PaymentRecorded(_)
        | AccountEvent::PaymentsMoved(_)
        | AccountEvent::EntitlementChanged(_)
        | AccountEvent::AccountErased(_) => None,
    }
}

#[cfg(test)]
mod tests;
