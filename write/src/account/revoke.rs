//! Revokes a key permanently.

use schemas::account::{AccountEvent, KeyRevoked};
use schemas::key::KeyId;

use super::{Account, Rejection};

/// Revokes a key; no events if it is revoked already.
pub fn revoke_key(account: &Account, key_id: KeyId) -> Result<Vec<AccountEvent>, Rejection> {
    let key = account.key(key_id).ok_or(Rejection::UnknownKey(key_id))?;
    let event = key.revoked.is_none().then_some(AccountEvent::KeyRevoked(KeyRevoked { key_id }));
    Ok(event.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    #[test]
    fn a_key_is_revoked_once_and_with_its_account() {
        given(&three()).when(|account| revoke_key(account, id("b"))).then(&[revoked("b")]);
        for end in [revoked("b"), erased()] {
            let past = [three(), vec![(end, at(11, 2))]].concat();
            given(&past).when(|account| revoke_key(account, id("b"))).then_nothing();
        }
    }

    #[test]
    fn an_unknown_key_cannot_be_revoked() {
        given(&three())
            .when(|account| revoke_key(account, id("q")))
            .then_rejected("there is no key “qqqqqqqq”; check its id, the 8 characters after log_live_");
    }
}
