//! Changes the tier of keys, with immediate effect.

use schemas::account::{AccountEvent, TierChanged};
use schemas::key::KeyId;
use schemas::tier::{TierName, Tiers};

use super::{Account, KeyState, Rejection, check_tier, implied_proof};

/// Moves the named keys, or all live keys if none is named, to a tier. This is an operator's command: a tier other than the
/// first also proves the keys.
pub fn change_tier(
    account: &Account,
    key_ids: &[KeyId],
    tier: &TierName,
    tiers: &Tiers,
) -> Result<Vec<AccountEvent>, Rejection> {
    check_tier(tier, tiers)?;
    let changed: Vec<&KeyState> =
        account.selected(key_ids)?.into_iter().filter(|key| key.tier != *tier || key.own != *tier).collect();
    let unproven = changed.iter().filter(|key| !key.proven).map(|key| key.issued.key_id);
    let proof = implied_proof(tier, tiers, unproven);
    let key_ids: Vec<KeyId> = changed.iter().map(|key| key.issued.key_id).collect();
    let change = (!key_ids.is_empty())
        .then(|| AccountEvent::TierChanged(TierChanged { key_ids, tier: tier.clone(), by_payment: false }));
    Ok(proof.into_iter().chain(change).collect())
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn moving(letters: &[&str], to: &str) -> impl FnOnce(&Account) -> Result<Vec<AccountEvent>, Rejection> {
        let (key_ids, to) = (letters.iter().map(|letter| id(letter)).collect::<Vec<_>>(), tier(to));
        move |account| change_tier(account, &key_ids, &to, &tiers())
    }

    #[test]
    fn a_higher_tier_set_by_an_operator_proves_the_keys() {
        given(&[three(), vec![(proven(&["a"]), at(11, 2)), (revoked("b"), at(11, 3))]].concat())
            .when(moving(&[], "studio"))
            .then(&[proven(&["c"]), moved(&["a", "c"], "studio")]);
    }

    #[test]
    fn the_first_tier_needs_no_proof() {
        given(&[(opened(), at(11, 1)), (AccountEvent::KeyIssued(key_in("a", "studio")), at(11, 1))])
            .when(moving(&["a"], "free"))
            .then(&[moved(&["a"], "free")]);
    }

    #[test]
    fn only_keys_of_another_tier_change() {
        given(&[three(), vec![(moved(&["a"], "studio"), at(11, 2))]].concat())
            .when(moving(&["a", "b"], "studio"))
            .then(&[proven(&["b"]), moved(&["b"], "studio")]);
        given(&three()).when(moving(&[], "free")).then_nothing();
    }

    #[test]
    fn an_unknown_tier_or_key_is_rejected() {
        given(&three())
            .when(moving(&[], "gold"))
            .then_rejected("there is no tier “gold”; there are free, studio, pro");
        given(&three())
            .when(moving(&["q"], "studio"))
            .then_rejected("the key “qqqqqqqq” was not issued under this address; check both");
        given(&[three(), vec![(erased(), at(11, 2))]].concat())
            .when(moving(&[], "studio"))
            .then_rejected("there is no key under this address that is not revoked; issue one first");
    }
}
