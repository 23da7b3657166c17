//! Issues a key. The first key of an address opens its account.

use jiff::Timestamp;
use schemas::account::{AccountEvent, AccountOpened, KeyIssued};
use schemas::month::Month;
use schemas::text::normalised;
use schemas::tier::Tiers;

use super::{Account, MAX_KEYS, Rejection, check_tier, implied_proof};

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 100;

/// Issues a key at the time `now`. Its name is stored in the vault, not in the event. A tier other than the first implies
/// proof.
pub fn issue_key(
    account: &Account,
    key: &KeyIssued,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Rejection> {
    let events = issue_beyond_limit(account, key, tiers)?;
    let month = Month::of(now);
    if account.used_places(month) >= MAX_KEYS {
        return Err(Rejection::Full {
            live: account.live().count(),
            room: account.month_before_room(month).end(),
        });
    }
    Ok(events)
}

/// Issues a key without checking the limit.
pub(super) fn issue_beyond_limit(
    account: &Account,
    key: &KeyIssued,
    tiers: &Tiers,
) -> Result<Vec<AccountEvent>, Rejection> {
    let sealed_name = normal_name(key)?.and_then(|_| key.sealed_name.clone());
    if key.hint.len() != 4 || !key.hint.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Rejection::Hint(key.hint.chars().take(8).collect()));
    }
    check_tier(&key.tier, tiers)?;
    if account.key(key.key_id).is_some() {
        return Err(Rejection::Taken(key.key_id));
    }
    let opened = match account {
        Account::Absent => Some(AccountEvent::AccountOpened(AccountOpened {})),
        Account::Open(..) => None,
        Account::Erased(_) => return Err(Rejection::Erased),
    };
    let issued = AccountEvent::KeyIssued(KeyIssued { name: None, sealed_name, ..key.clone() });
    let implied_proof = implied_proof(&key.tier, tiers, [key.key_id].into_iter());
    Ok(opened.into_iter().chain([issued]).chain(implied_proof).collect())
}

/// Returns a key's name in its normal form, or `None` if it is blank.
///
/// # Errors
///
/// Rejects a name that is too long or has more than one line.
pub fn normal_name(key: &KeyIssued) -> Result<Option<String>, Rejection> {
    let Some(text) = &key.name else { return Ok(None) };
    match normalised(text, MAX_NAME).map_err(|fault| Rejection::Name(fault.to_string()))? {
        Some(name) if name.contains(char::is_control) => {
            Err(Rejection::Name("has line breaks or tabs; write it on one line".into()))
        }
        name => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use schemas::key::Key;

    use super::super::scenario::*;
    use super::*;

    /// Issues a key at noon of a day.
    fn issuing(
        key: KeyIssued,
        (month, day): (i8, i8),
    ) -> impl FnOnce(&Account) -> Result<Vec<AccountEvent>, Rejection> {
        move |account| issue_key(account, &key, &tiers(), at(month, day))
    }

    #[test]
    fn the_first_key_opens_the_account() {
        given(&[]).when(issuing(key("a"), (11, 20))).then(&[opened(), issued("a")]);
    }

    #[test]
    fn further_keys_do_not_open_it_again() {
        given(&[(opened(), at(11, 1)), (issued("a"), at(11, 1))])
            .when(issuing(key("b"), (11, 20)))
            .then(&[issued("b")]);
    }

    #[test]
    fn the_event_contains_a_key_name_only_in_its_sealed_form() {
        let sealed_name = Some(Key::generate(|bytes| bytes.fill(1)).seal_name("Zürich").unwrap());
        let named = |name: &str| {
            let sealed_name = sealed_name.clone();
            KeyIssued { name: Some(name.into()), sealed_name, ..key("a") }
        };
        assert_eq!(normal_name(&named("  Zu\u{308}rich ")), Ok(Some("Zürich".into())));
        let kept = AccountEvent::KeyIssued(KeyIssued { sealed_name: sealed_name.clone(), ..key("a") });
        given(&[]).when(issuing(named("  Zu\u{308}rich "), (11, 20))).then(&[opened(), kept]);
        given(&[]).when(issuing(named(" \t"), (11, 20))).then(&[opened(), issued("a")]);
        for (name, sentence) in [
            ("a\nb", "the key's name has line breaks or tabs; write it on one line"),
            (
                "a\u{0}",
                "the key's name has the control character U+0000 at character 2; only newline and tab are allowed",
            ),
            (&"é".repeat(101), "the key's name has 101 characters; at most 100 are allowed"),
        ] {
            given(&[]).when(issuing(named(name), (11, 20))).then_rejected(sentence);
        }
    }

    #[test]
    fn a_hint_is_four_letters_or_digits() {
        for hint in ["", "abc", "abcde", "ab-d", "äb"] {
            given(&[]).when(issuing(KeyIssued { hint: hint.into(), ..key("a") }, (11, 20))).then_rejected(
                &format!("the hint is “{hint}”; it must be the last four letters or digits of the key"),
            );
        }
    }

    #[test]
    fn a_tier_other_than_the_first_implies_proof() {
        given(&[]).when(issuing(key_in("a", "studio"), (11, 20))).then(&[
            opened(),
            AccountEvent::KeyIssued(key_in("a", "studio")),
            proven(&["a"]),
        ]);
        given(&[])
            .when(issuing(key_in("a", "gold"), (11, 20)))
            .then_rejected("there is no tier “gold”; there are free, studio, pro");
    }

    #[test]
    fn a_fourth_key_is_rejected() {
        given(&three())
            .when(issuing(key("d"), (11, 20)))
            .then_rejected(
                "this address already has 3 keys; if you revoke one now, you can create another from 1 December (UTC)",
            );
    }

    #[test]
    fn a_revoked_key_counts_until_its_month_ends() {
        let past = [three(), vec![(revoked("a"), at(11, 2))]].concat();
        given(&past)
            .when(issuing(key("d"), (11, 30)))
            .then_rejected(
                "this address already has 3 keys, 1 of them revoked this month, which counts until the month ends; you \
                 can create another from 1 December (UTC)",
            );
        given(&past).when(issuing(key("d"), (12, 1))).then(&[issued("d")]);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_make_room_for_a_key() {
        given(&[three(), vec![(revoked("a"), at(12, 1))]].concat())
            .when(issuing(key("d"), (11, 30)))
            .then_rejected(
                "this address already has 3 keys, 1 of them revoked this month, which counts until the month ends; you \
                 can create another from 1 January (UTC)",
            );
    }

    #[test]
    fn a_key_id_is_used_once() {
        given(&[(opened(), at(11, 1)), (issued("a"), at(11, 1)), (revoked("a"), at(11, 2))])
            .when(issuing(key("a"), (12, 20)))
            .then_rejected("a key with the id “aaaaaaaa” exists already; make a new key");
    }

    #[test]
    fn an_erased_account_gets_no_key() {
        given(&[(opened(), at(9, 1)), (issued("a"), at(9, 1)), (erased(), at(9, 2))])
            .when(issuing(key("b"), (11, 20)))
            .then_rejected(
                "the account was erased; issue the key under the address again, which opens a new account",
            );
    }
}
