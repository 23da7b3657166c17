//! Proves keys: the owner of the address confirms them.

use schemas::account::{AccountEvent, EmailProven};
use schemas::key::KeyId;

use super::{Account, Rejection};

/// Proves the named keys, or all live keys if none is named.
pub fn prove_keys(account: &Account, key_ids: &[KeyId]) -> Result<Vec<AccountEvent>, Rejection> {
    let chosen: Vec<KeyId> = account.selected(key_ids)?.iter().map(|key| key.issued.key_id).collect();
    Ok(confirm(account, &chosen))
}

/// Proves those of these keys, each named once, that are not proven yet. A key that the account does not have yet is issued by
/// the same decision.
pub(super) fn confirm(account: &Account, key_ids: &[KeyId]) -> Vec<AccountEvent> {
    let unproven = |id: &KeyId| account.key(*id).is_none_or(|key| !key.proven);
    let key_ids: Vec<KeyId> = key_ids.iter().copied().filter(unproven).collect();
    let event = (!key_ids.is_empty()).then_some(AccountEvent::EmailProven(EmailProven { key_ids }));
    event.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn proving(letters: &[&str]) -> impl FnOnce(&Account) -> Result<Vec<AccountEvent>, Rejection> {
        let key_ids: Vec<KeyId> = letters.iter().map(|letter| id(letter)).collect();
        move |account| prove_keys(account, &key_ids)
    }

    #[test]
    fn the_named_keys_are_proven_each_once() {
        given(&three()).when(proving(&["c", "a", "c"])).then(&[proven(&["c", "a"])]);
        given(&[three(), vec![(proven(&["a", "c"]), at(11, 2))]].concat())
            .when(proving(&["a"]))
            .then_nothing();
    }

    #[test]
    fn without_key_ids_all_live_keys_are_proven() {
        given(&[three(), vec![(proven(&["a"]), at(11, 2)), (revoked("b"), at(11, 3))]].concat())
            .when(proving(&[]))
            .then(&[proven(&["c"])]);
    }

    #[test]
    fn revoked_and_foreign_keys_cannot_be_proven() {
        given(&[three(), vec![(revoked("b"), at(11, 3))]].concat())
            .when(proving(&["a", "b"]))
            .then_rejected("the key “bbbbbbbb” is revoked permanently; issue another one");
        given(&three())
            .when(proving(&["q"]))
            .then_rejected("the key “qqqqqqqq” was not issued under this address; check both");
        given(&[(opened(), at(11, 1)), (issued("a"), at(11, 1)), (revoked("a"), at(11, 2))])
            .when(proving(&[]))
            .then_rejected("there is no key under this address that is not revoked; issue one first");
    }
}
