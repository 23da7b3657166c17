//! Records a payment notice once, and adjusts the tiers of the keys to what is paid for.

use jiff::Timestamp;
use schemas::account::{AccountEvent, AccountOpened, EntitlementChanged, TierChanged};
use schemas::key::KeyId;
use schemas::payment::{PaymentKind, PaymentRecorded};
use schemas::tier::{TierName, Tiers};

use super::{Account, KeyState, Rejection};

/// Records a notice at the time `now`; the first one opens the account. A notice that was recorded before changes nothing.
pub fn record_payment(
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
    events.extend(settle_payments(&paid, tiers, now));
    Ok(events)
}

/// Adjusts the tiers of the keys to what is paid for at the time `now`: a paid period may have ended since the last event.
/// Every proven key has the larger of its own tier and the paid one.
pub fn settle_payments(account: &Account, tiers: &Tiers, now: Timestamp) -> Vec<AccountEvent> {
    let Account::Open(_, payments) = account else { return Vec::new() };
    let tier = payments.entitlement(tiers, now);
    if tier == *payments.entitled.as_ref().unwrap_or(&tiers.first().name) {
        return Vec::new();
    }
    let proven = account.live().filter(|key| key.proven);
    let moves = tier_changes(proven, &tier, tiers);
    std::iter::once(AccountEvent::EntitlementChanged(EntitlementChanged { tier })).chain(moves).collect()
}

/// Adds to a decision that the keys it proves rise to the paid tier. A key whose tier the same decision sets keeps that tier.
pub fn raise_proven_keys(
    account: &Account,
    decided: Vec<AccountEvent>,
    tiers: &Tiers,
    now: Timestamp,
) -> Vec<AccountEvent> {
    let (mut proven, mut assigned): (Vec<KeyId>, Vec<KeyId>) = (Vec::new(), Vec::new());
    for event in &decided {
        match event {
            AccountEvent::EmailProven(event) => proven.extend(&event.key_ids),
            AccountEvent::TierChanged(event) => assigned.extend(&event.key_ids),
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
    let newly =
        |key: &&KeyState| proven.contains(&key.issued.key_id) && !assigned.contains(&key.issued.key_id);
    let moves = tier_changes(after.live().filter(newly), &payments.entitlement(tiers, now), tiers);
    decided.into_iter().chain(moves).collect()
}

/// Returns when the tiers next change without a notice; now, if they are out of date.
pub fn next_settlement(account: &Account, tiers: &Tiers, now: Timestamp) -> Option<Timestamp> {
    let Account::Open(_, payments) = account else { return None };
    if settle_payments(account, tiers, now).is_empty() { payments.next_end(now) } else { Some(now) }
}

/// Returns whether to write to the owner of the address after a notice: they paid, and have no key that can rise, or unproven
/// keys.
pub fn needs_mail(account: &Account, payment: &PaymentRecorded, tiers: &Tiers, now: Timestamp) -> bool {
    let Account::Open(_, payments) = account else { return false };
    payment.kind == PaymentKind::Paid
        && payments.entitlement(tiers, now) != tiers.first().name
        && (account.live().next().is_none() || account.live().any(|key| !key.proven))
}

/// Returns the tier changes that bring these keys to their due tiers.
fn tier_changes<'k>(
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
