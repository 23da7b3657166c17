//! Erases an account: the address is deleted and all keys are revoked.

use schemas::account::{AccountErased, AccountEvent};

use super::Account;

/// Revokes all keys and closes the account; no events if it is closed or was never opened.
pub fn erase(account: &Account) -> Vec<AccountEvent> {
    match account {
        Account::Open(..) => vec![AccountEvent::AccountErased(AccountErased {})],
        Account::Absent | Account::Erased(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rejection;
    use super::super::scenario::*;
    use super::*;

    #[test]
    fn an_account_is_erased_once() {
        let erasing = |account: &Account| Ok::<_, Rejection>(erase(account));
        given(&three()).when(erasing).then(&[erased()]);
        given(&[three(), vec![(erased(), at(11, 2))]].concat()).when(erasing).then_nothing();
        given(&[]).when(erasing).then_nothing();
    }
}
