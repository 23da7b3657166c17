//! Uses a mailed link: the owner of the address says which keys to keep and which to revoke.

use jiff::Timestamp;
use schemas::account::{AccountEvent, KeyIssued, KeyRevoked};
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::Tiers;

use super::issue::hand_out;
use super::prove::confirm;
use super::{Account, MOST_KEYS, Rejection, issue};

/// What the owner of the address asks for.
#[derive(Debug, Clone, Copy)]
pub struct Wishes<'w> {
    /// The keys to keep; they become proven.
    pub keep: &'w [KeyId],
    /// The keys to revoke.
    pub revoke: &'w [KeyId],
    /// A new key in the first tier.
    pub new_key: Option<&'w KeyIssued>,
}

/// Revokes the unwanted keys, issues the new one, and proves it and the kept ones. A key that is not named stays as it is: it
/// may have been issued after the owner loaded the page.
pub fn claim(
    account: &Account,
    wishes: Wishes<'_>,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Rejection> {
    let mut proven = kept(account, wishes.keep)?;
    let mut events = unwanted(account, wishes)?;
    if let Some(key) = wishes.new_key {
        let key = KeyIssued { tier: tiers.first().name.clone(), ..key.clone() };
        let left = events.iter().fold(account.clone(), |account, event| account.evolve(event, now));
        events.extend(match issue(&left, &key, tiers, now) {
            Err(Rejection::Full { .. }) if replaces(account) && !events.is_empty() => {
                hand_out(&left, &key, tiers)?
            }
            decided => decided?,
        });
        proven.push(key.key_id);
    }
    events.extend(confirm(account, &proven));
    Ok(events)
}

/// Returns how many more keys the account may have.
pub fn places_free(account: &Account, now: Timestamp) -> usize {
    MOST_KEYS.saturating_sub(account.places_taken(Month::of(now)))
}

/// Returns whether the new key may replace one that is revoked by the same command, although revoked keys count until the
/// month ends. Allowed with the first proof of the address: before it, anyone could have used up the limit to lock the owner
/// out. The new key is proven, so it cannot happen again.
pub fn replaces(account: &Account) -> bool {
    account.live().next().is_some() && account.keys().iter().all(|key| !key.proven)
}

fn kept(account: &Account, keep: &[KeyId]) -> Result<Vec<KeyId>, Rejection> {
    // An empty list would mean all keys.
    if keep.is_empty() {
        return Ok(Vec::new());
    }
    Ok(account.chosen(keep)?.into_iter().map(|key| key.issued.key_id).collect())
}

/// Revokes each unwanted key that is still live, once.
fn unwanted(account: &Account, wishes: Wishes<'_>) -> Result<Vec<AccountEvent>, Rejection> {
    let mut ending: Vec<KeyId> = Vec::new();
    for key_id in wishes.revoke.iter().copied() {
        let key = account.key(key_id).ok_or(Rejection::NotOfThisAddress { key_id })?;
        if wishes.keep.contains(&key_id) {
            return Err(Rejection::KeptAndRevoked { key_id });
        }
        if key.revoked.is_none() && !ending.contains(&key_id) {
            ending.push(key_id);
        }
    }
    Ok(ending.into_iter().map(|key_id| AccountEvent::KeyRevoked(KeyRevoked { key_id })).collect())
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn ids(letters: &str) -> Vec<KeyId> {
        letters.chars().map(|letter| id(&letter.to_string())).collect()
    }

    /// Uses the link on 20 November, to keep and revoke keys and perhaps to get a new one.
    fn using(
        keep: &str,
        revoke: &str,
        new_key: Option<KeyIssued>,
    ) -> impl FnOnce(&Account) -> Result<Vec<AccountEvent>, Rejection> {
        let (keep, revoke) = (ids(keep), ids(revoke));
        move |account| {
            let wishes = Wishes { keep: &keep, revoke: &revoke, new_key: new_key.as_ref() };
            claim(account, wishes, &tiers(), at(11, 20))
        }
    }

    #[test]
    fn kept_keys_are_proven_and_unwanted_ones_end() {
        given(&three()).when(using("ca", "b", None)).then(&[revoked("b"), proven(&["c", "a"])]);
        given(&three()).when(using("", "ab", None)).then(&[revoked("a"), revoked("b")]);
        given(&three()).when(using("aa", "bb", None)).then(&[revoked("b"), proven(&["a"])]);
    }

    #[test]
    fn what_is_so_already_needs_nothing() {
        given(&[three(), vec![(proven(&["a"]), at(11, 2)), (revoked("b"), at(11, 3))]].concat())
            .when(using("a", "b", None))
            .then_nothing();
        given(&three()).when(using("", "", None)).then_nothing();
    }

    #[test]
    fn a_new_key_is_proven_from_its_beginning_and_in_the_first_tier() {
        given(&[(opened(), at(11, 1)), (issued("a"), at(11, 1))])
            .when(using("a", "", Some(key_in("d", "studio"))))
            .then(&[issued("d"), proven(&["a", "d"])]);
        given(&[]).when(using("", "", Some(key("d")))).then(&[opened(), issued("d"), proven(&["d"])]);
    }

    #[test]
    fn with_the_first_proof_a_new_key_takes_the_place_of_a_revoked_one() {
        given(&three()).when(using("", "abc", Some(key("d")))).then(&[
            revoked("a"),
            revoked("b"),
            revoked("c"),
            issued("d"),
            proven(&["d"]),
        ]);
        given(&three()).when(using("ab", "c", Some(key("d")))).then(&[
            revoked("c"),
            issued("d"),
            proven(&["a", "b", "d"]),
        ]);
    }

    #[test]
    fn there_is_no_second_time_and_none_without_a_revocation() {
        let full = "there are 3 keys under this address, 1 of them revoked this month, and a revoked key keeps its \
                    place until its month ends; there is room for another from 2026-12-01 00:00 UTC on";
        given(&[three(), vec![(proven(&["a"]), at(11, 2))]].concat())
            .when(using("a", "b", Some(key("d"))))
            .then_rejected(full);
        given(&[three(), vec![(revoked("a"), at(11, 2))]].concat())
            .when(using("b", "", Some(key("d"))))
            .then_rejected(full);
    }

    #[test]
    fn keys_of_others_ended_ones_and_contradictions_are_refused() {
        let other = "the key “qqqqqqqq” was not issued under this address; check both";
        given(&three()).when(using("aq", "", None)).then_rejected(other);
        given(&three()).when(using("", "aq", None)).then_rejected(other);
        given(&[three(), vec![(revoked("b"), at(11, 3))]].concat())
            .when(using("b", "", None))
            .then_rejected("the key “bbbbbbbb” is revoked for ever; issue another one");
        given(&three())
            .when(using("ab", "b", None))
            .then_rejected("the key “bbbbbbbb” is to be kept and to be revoked; choose one of both");
        given(&three())
            .when(using("b", "c", Some(key("a"))))
            .then_rejected("a key with the id “aaaaaaaa” exists already; make a new key");
    }

    #[test]
    fn room_is_told() {
        let three = replayed(&three());
        assert_eq!((places_free(&three, at(11, 20)), replaces(&three)), (0, true));
        let two = replayed(&[(opened(), at(11, 1)), (issued("a"), at(11, 1)), (proven(&["a"]), at(11, 2))]);
        assert_eq!((places_free(&two, at(11, 20)), replaces(&two)), (2, false));
    }
}
