//! Moves a subscription to another account, with all payments that are connected with it.

use jiff::Timestamp;
use schemas::account::{AccountEvent, PaymentsMoved};
use schemas::ids::AccountId;
use schemas::payment::{PaymentId, PaymentRecorded, Provider};
use schemas::tier::Tiers;

use super::{Account, Rejection, settle_payments};

/// Moves the payments that are connected with an id to the account `to`, and adjusts the tiers of this account's keys.
///
/// # Errors
///
/// Rejects an id without payments here, and an erased account.
pub fn release_payments(
    account: &Account,
    provider: Provider,
    id: &PaymentId,
    to: AccountId,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Rejection> {
    let payments = match account {
        Account::Open(_, payments) => payments,
        Account::Erased(_) => return Err(Rejection::PaidByErased(id.clone())),
        Account::Absent => return Err(Rejection::UnknownPayment(id.clone())),
    };
    let connected = payments.connected(provider, id);
    if connected.is_empty() {
        return Err(Rejection::UnknownPayment(id.clone()));
    }
    let mut ids: Vec<PaymentId> = connected.iter().flat_map(|notice| notice.ids()).cloned().collect();
    ids.sort();
    ids.dedup();
    let event_ids = connected.iter().map(|notice| notice.event_id.clone()).collect();
    let mut events = vec![AccountEvent::PaymentsMoved(PaymentsMoved { provider, ids, event_ids, to })];
    events.extend(settle_payments(&account.clone().after(&events, now), tiers, now));
    Ok(events)
}

/// Takes over these payments of the account `from`, and adjusts the tiers of this account's keys.
///
/// # Errors
///
/// Rejects if this account is not open.
pub fn receive_payments(
    account: &Account,
    payments: &[&PaymentRecorded],
    from: AccountId,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Rejection> {
    let Account::Open(..) = account else { return Err(Rejection::NoAccount) };
    let moved = |payment: &&PaymentRecorded| PaymentRecorded { moved_from: Some(from), ..(*payment).clone() };
    let mut events: Vec<_> = payments.iter().map(moved).map(AccountEvent::PaymentRecorded).collect();
    events.extend(settle_payments(&account.clone().after(&events, now), tiers, now));
    Ok(events)
}

#[cfg(test)]
mod tests {
    use schemas::payment::PaymentKind;

    use super::super::scenario::*;
    use super::*;

    fn other() -> AccountId {
        "01K3RA48000000000000000ADA".parse().unwrap()
    }

    fn named(text: &str) -> PaymentId {
        text.parse().unwrap()
    }

    /// An account with one proven key that pays for `studio` as one customer and for `pro` as another.
    fn paying_twice() -> Vec<(AccountEvent, Timestamp)> {
        let studio = paid("evt_1", 3, "studio", at(12, 3));
        let refund = PaymentRecorded {
            subscription: None,
            customer: None,
            references: vec![named("ch_1")],
            ..notice("evt_3", 5, PaymentKind::PartlyRefunded)
        };
        let studio = PaymentRecorded { references: vec![named("in_1"), named("ch_1")], ..studio };
        let pro = PaymentRecorded {
            subscription: Some(named("sub_t")),
            customer: Some(named("cus_d")),
            ..paid("evt_2", 4, "pro", at(12, 4))
        };
        let events =
            [opened(), issued("a"), proven(&["a"]), recorded(&studio), recorded(&pro), recorded(&refund)];
        let settled = [entitled("pro"), followed(&["a"], "pro")];
        events.into_iter().chain(settled).map(|event| (event, at(11, 5))).collect()
    }

    fn released(id: &str) -> impl FnOnce(&Account) -> Result<Vec<AccountEvent>, Rejection> {
        move |account| release_payments(account, Provider::Stripe, &named(id), other(), &tiers(), at(11, 6))
    }

    fn went(ids: &[&str], event_ids: &[&str]) -> AccountEvent {
        AccountEvent::PaymentsMoved(PaymentsMoved {
            provider: Provider::Stripe,
            ids: ids.iter().map(|id| named(id)).collect(),
            event_ids: event_ids.iter().map(|id| named(id)).collect(),
            to: other(),
        })
    }

    #[test]
    fn connected_payments_move_and_the_tiers_follow_the_others() {
        let studio = went(&["ch_1", "cus_c", "in_1", "sub_s"], &["evt_1", "evt_3"]);
        for id in ["cus_c", "sub_s", "in_1", "ch_1"] {
            given(&paying_twice()).when(released(id)).then(std::slice::from_ref(&studio));
        }
        let pro = went(&["cus_d", "sub_t"], &["evt_2"]);
        given(&paying_twice()).when(released("cus_d")).then(&[
            pro.clone(),
            entitled("studio"),
            followed(&["a"], "studio"),
        ]);
        let without = [paying_twice(), vec![(pro, at(11, 6))]].concat();
        let unknown = "no account has a payment that names “sub_t”; `loggia payments list` shows the ids of those that are \
                       recorded, and what still waits for an account";
        given(&without).when(released("sub_t")).then_rejected(unknown);
        given(&[]).when(released("sub_t")).then_rejected(unknown);
        let erased = [paying_twice(), vec![(erased(), at(11, 6))]].concat();
        given(&erased).when(released("sub_t")).then_rejected(
            "the account of “sub_t” was erased, and what was paid for it with it; cancel the subscription where it is paid, \
             and let its holder subscribe again",
        );
    }

    #[test]
    fn received_payments_raise_the_keys_and_name_the_former_account() {
        let payment = paid("evt_1", 3, "studio", at(12, 3));
        let receiving =
            |account: &Account| receive_payments(account, &[&payment], other(), &tiers(), at(11, 6));
        let copy = PaymentRecorded { moved_from: Some(other()), ..payment.clone() };
        let known = [opened(), issued("a"), proven(&["a"])].map(|event| (event, at(11, 1)));
        given(&known).when(receiving).then(&[
            recorded(&copy),
            entitled("studio"),
            followed(&["a"], "studio"),
        ]);
        given(&[(opened(), at(11, 1)), (erased(), at(11, 2))]).when(receiving).then_rejected(
            "there is no account under this address; issue a key under it first, and check how the address is written",
        );
    }
}
