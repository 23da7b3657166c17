//! Uses a mailed link: the owner of the address says which keys to keep and which to revoke.

use jiff::Timestamp;
use schemas::account::{AccountEvent, KeyIssued, KeyRevoked};
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::Tiers;

use super::issue::issue_beyond_limit;
use super::prove::confirm;
use super::{Account, MAX_KEYS, Rejection, issue_key};

/// What the owner of the address asks for.
#[derive(Debug, Clone, Copy)]
pub struct LinkDecision<'w> {
    /// The keys to keep; they become proven.
    pub keep: &'w [KeyId],
    /// The keys to revoke.
    pub revoke: &'w [KeyId],
    /// A new key in the first tier.
    pub new_key: Option<&'w KeyIssued>,
}

/// Revokes the unwanted keys, issues the new one, and proves it and the kept ones. A key that is not named stays as it is: it
/// may have been issued after the owner loaded the page.
pub fn use_link(
    account: &Account,
    decision: LinkDecision<'_>,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Rejection> {
    let mut proven = keys_to_keep(account, decision.keep)?;
    let mut events = revocations(account, decision)?;
    if let Some(key) = decision.new_key {
        let key = KeyIssued { tier: tiers.first().name.clone(), ..key.clone() };
        let left = events.iter().fold(account.clone(), |account, event| account.evolve(event, now));
        events.extend(match issue_key(&left, &key, tiers, now) {
            Err(Rejection::Full { .. }) if may_replace_key(account) && !events.is_empty() => {
                issue_beyond_limit(&left, &key, tiers)?
            }
            other => other?,
        });
        proven.push(key.key_id);
    }
    events.extend(confirm(account, &proven));
    Ok(events)
}

/// Returns how many more keys the account may have.
pub fn free_places(account: &Account, now: Timestamp) -> usize {
    MAX_KEYS.saturating_sub(account.used_places(Month::of(now)))
}

/// Returns whether the new key may replace one that is revoked by the same command, although revoked keys count until the
/// month ends. Allowed with the first proof of the address: before it, anyone could have used up the limit to lock the owner
/// out. The new key is proven, so it cannot happen again.
pub fn may_replace_key(account: &Account) -> bool {
    account.live().next().is_some() && account.keys().iter().all(|key| !key.proven)
}

fn keys_to_keep(account: &Account, keep: &[KeyId]) -> Result<Vec<KeyId>, Rejection> {
    // An empty list would mean all keys.
    if keep.is_empty() {
        return Ok(Vec::new());
    }
    Ok(account.selected(keep)?.into_iter().map(|key| key.issued.key_id).collect())
}

/// Revokes each unwanted key that is still live, once.
fn revocations(account: &Account, decision: LinkDecision<'_>) -> Result<Vec<AccountEvent>, Rejection> {
    let mut ending: Vec<KeyId> = Vec::new();
    for key_id in decision.revoke.iter().copied() {
        let key = account.key(key_id).ok_or(Rejection::NotOfThisAddress(key_id))?;
        if decision.keep.contains(&key_id) {
            return Err(Rejection::KeptAndRevoked(key_id));
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
            let decision = LinkDecision { keep: &keep, revoke: &revoke, new_key: new_key.as_ref() };
            use_link(account, decision, &tiers(), at(11, 20))
        }
    }

    #[test]
    fn kept_keys_are_proven_and_unwanted_ones_revoked() {
        given(&three()).when(using("ca", "b", None)).then(&[revoked("b"), proven(&["c", "a"])]);
        given(&three()).when(using("", "ab", None)).then(&[revoked("a"), revoked("b")]);
        given(&three()).when(using("aa", "bb", None)).then(&[revoked("b"), proven(&["a"])]);
    }

    #[test]
    fn a_decision_without_a_difference_changes_nothing() {
        given(&[three(), vec![(proven(&["a"]), at(11, 2)), (revoked("b"), at(11, 3))]].concat())
            .when(using("a", "b", None))
            .then_nothing();
        given(&three()).when(using("", "", None)).then_nothing();
    }

    #[test]
    fn a_new_key_is_proven_at_once_and_in_the_first_tier() {
        given(&[(opened(), at(11, 1)), (issued("a"), at(11, 1))])
            .when(using("a", "", Some(key_in("d", "studio"))))
            .then(&[issued("d"), proven(&["a", "d"])]);
        given(&[]).when(using("", "", Some(key("d")))).then(&[opened(), issued("d"), proven(&["d"])]);
    }

    #[test]
    fn with_the_first_proof_a_new_key_may_replace_a_revoked_one() {
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
    fn a_replacement_needs_a_revocation_and_is_possible_once() {
        let full = "this address already has 3 keys, 1 of them revoked this month, which counts until the month ends; \
                    you can create another from 1 December (UTC)";
        given(&[three(), vec![(proven(&["a"]), at(11, 2))]].concat())
            .when(using("a", "b", Some(key("d"))))
            .then_rejected(full);
        given(&[three(), vec![(revoked("a"), at(11, 2))]].concat())
            .when(using("b", "", Some(key("d"))))
            .then_rejected(full);
    }

    #[test]
    fn foreign_and_revoked_keys_and_contradictions_are_rejected() {
        let other = "the key “qqqqqqqq” was not issued under this address; check both";
        given(&three()).when(using("aq", "", None)).then_rejected(other);
        given(&three()).when(using("", "aq", None)).then_rejected(other);
        given(&[three(), vec![(revoked("b"), at(11, 3))]].concat())
            .when(using("b", "", None))
            .then_rejected("the key “bbbbbbbb” is revoked permanently; issue another one");
        given(&three())
            .when(using("ab", "b", None))
            .then_rejected("the key “bbbbbbbb” is to be kept and to be revoked; choose one of both");
        given(&three())
            .when(using("b", "c", Some(key("a"))))
            .then_rejected("a key with the id “aaaaaaaa” exists already; make a new key");
    }

    #[test]
    fn the_free_places_and_a_possible_replacement_are_reported() {
        let three = replayed(&three());
        assert_eq!((free_places(&three, at(11, 20)), may_replace_key(&three)), (0, true));
        let two = replayed(&[(opened(), at(11, 1)), (issued("a"), at(11, 1)), (proven(&["a"]), at(11, 2))]);
        assert_eq!((free_places(&two, at(11, 20)), may_replace_key(&two)), (2, false));
    }
}
