//! Paying: what a provider told is recorded once, and the keys follow what is paid for.

use jiff::Timestamp;
use schemas::account::{AccountEvent, AccountOpened, EntitlementChanged, PaymentRecorded, TierChanged};
use schemas::key::KeyId;
use schemas::payment::PaymentKind;
use schemas::tier::{TierName, Tiers};

use super::{Account, KeyState, Rejection};

/// Decides what follows from a notice at the time `now`; the first opens the account. One that was recorded before
/// changes nothing.
pub fn pay(
    account: &Account,
    payment: &PaymentRecorded,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Rejection> {
    let mut events = match account {
        Account::Absent => vec![AccountEvent::AccountOpened(AccountOpened {})],
        Account::Open(_, payments) if payments.has(payment) => return Ok(Vec::new()),
        Account::Open(..) => Vec::new(),
        Account::Erased(_) => return Err(Rejection::Erased),
    };
    events.push(AccountEvent::PaymentRecorded(payment.clone()));
    let paid = account.clone().after(&events, now);
    events.extend(settle(&paid, tiers, now));
    Ok(events)
}

/// Decides how the keys follow what is paid for at the time `now`: what was paid for may have run out since the last
/// event. Every proven key has at least the tier that is paid for, and otherwise the one that it has of its own.
pub fn settle(account: &Account, tiers: &Tiers, now: Timestamp) -> Vec<AccountEvent> {
    let Account::Open(_, payments) = account else { return Vec::new() };
    let tier = payments.entitlement(tiers, now);
    if tier == *payments.entitled.as_ref().unwrap_or(&tiers.first().name) {
        return Vec::new();
    }
    let proven = account.live().filter(|key| key.proven);
    let moves = following(proven, &tier, tiers);
    std::iter::once(AccountEvent::EntitlementChanged(EntitlementChanged { tier })).chain(moves).collect()
}

/// Adds to what was decided that keys which are proven by it rise to what is paid for. A key that is put into a tier by
/// the same decision stays there.
pub fn rise(
    account: &Account,
    decided: Vec<AccountEvent>,
    tiers: &Tiers,
    now: Timestamp,
) -> Vec<AccountEvent> {
    let (mut proven, mut placed): (Vec<KeyId>, Vec<KeyId>) = (Vec::new(), Vec::new());
    for event in &decided {
        match event {
            AccountEvent::EmailProven(event) => proven.extend(&event.key_ids),
            AccountEvent::TierChanged(event) => placed.extend(&event.key_ids),
            AccountEvent::AccountOpened(_)
            | AccountEvent::KeyIssued(_)
            | AccountEvent::KeyRevoked(_)
            | AccountEvent::PaymentRecorded(_)
            | AccountEvent::PaymentsMoved(_)
            | AccountEvent::EntitlementChanged(_)
            | AccountEvent::AccountErased(_) => {}
        }
    }
    let after = account.clone().after(&decided, now);
    let Account::Open(_, payments) = &after else { return decided };
    let newly = |key: &&KeyState| proven.contains(&key.issued.key_id) && !placed.contains(&key.issued.key_id);
    let moves = following(after.live().filter(newly), &payments.entitlement(tiers, now), tiers);
    decided.into_iter().chain(moves).collect()
}

/// When the keys next have to follow without anything being told: at once where they lag behind.
pub fn next_settling(account: &Account, tiers: &Tiers, now: Timestamp) -> Option<Timestamp> {
    let Account::Open(_, payments) = account else { return None };
    if settle(account, tiers, now).is_empty() { payments.next_end(now) } else { Some(now) }
}

/// Whether the holder of the address should be written to after a notice: they paid, and have no key that can have
/// what they paid for, or keys that nobody has confirmed.
pub fn calls_for_letter(account: &Account, payment: &PaymentRecorded, tiers: &Tiers, now: Timestamp) -> bool {
    let Account::Open(_, payments) = account else { return false };
    payment.kind == PaymentKind::Paid
        && payments.entitlement(tiers, now) != tiers.first().name
        && (account.live().next().is_none() || account.live().any(|key| !key.proven))
}

/// The moves that bring these keys to where they belong.
fn following<'k>(
    keys: impl Iterator<Item = &'k KeyState>,
    paid: &TierName,
    tiers: &Tiers,
) -> Vec<AccountEvent> {
    let mut moves: Vec<TierChanged> = Vec::new();
    for key in keys {
        let tier = if tiers.quota(paid) > tiers.quota(&key.own) { paid } else { &key.own };
        if key.tier == *tier {
            continue;
        }
        match moves.iter_mut().find(|moved| moved.tier == *tier) {
            Some(moved) => moved.key_ids.push(key.issued.key_id),
            None => moves.push(TierChanged {
                key_ids: vec![key.issued.key_id],
                tier: tier.clone(),
                by_payment: true,
            }),
        }
    }
    moves.into_iter().map(AccountEvent::TierChanged).collect()
}

#[cfg(test)]
mod tests;
