//! The reasons why a command on an account is rejected.

use jiff::Timestamp;
use schemas::key::KeyId;
use schemas::payment::PaymentId;
use schemas::tier::TierName;

use super::MAX_KEYS;

/// A command on an account that breaks a rule; sending it again fails in the same way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No account has or had this key.
    #[error("there is no key “{0}”; check its id, the 8 characters after log_live_")]
    UnknownKey(KeyId),
    /// A key that was named with an address does not belong to that address.
    #[error("the key “{0}” was not issued under this address; check both")]
    NotOfThisAddress(KeyId),
    /// A revoked key cannot be changed.
    #[error("the key “{0}” is revoked permanently; issue another one")]
    Revoked(KeyId),
    /// The same key was to be kept and revoked.
    #[error("the key “{0}” is to be kept and to be revoked; choose one of both")]
    KeptAndRevoked(KeyId),
    /// The address has no live key.
    #[error("there is no key under this address that is not revoked; issue one first")]
    NoKeys,
    /// The account has the maximum number of keys.
    #[error("{}", full(*.live, *.room))]
    Full {
        /// The number of keys that are not revoked.
        live: usize,
        /// When there is room again, if a key is revoked today or was revoked this month.
        room: Timestamp,
    },
    /// The id of another key.
    #[error("a key with the id “{0}” exists already; make a new key")]
    Taken(KeyId),
    /// The tier is not configured.
    #[error("there is no tier “{tier}”; there are {}", listed(.known))]
    UnknownTier {
        /// The tier that was wanted.
        tier: TierName,
        /// The configured tiers.
        known: Vec<TierName>,
    },
    /// The name cannot be stored.
    #[error("the key's name {0}")]
    Name(String),
    /// The hint is not four letters or digits of a key.
    #[error("the hint is “{0}”; it must be the last four letters or digits of the key")]
    Hint(String),
    /// No account has payments with this id.
    #[error(
        "no account has a payment that names “{0}”; `loggia payments list` shows the ids of those that are recorded, and \
         what still waits for an account"
    )]
    UnknownPayment(PaymentId),
    /// The account of these payments was erased.
    #[error(
        "the account of “{0}” was erased, and what was paid for it with it; cancel the subscription where it is paid, and \
         let its holder subscribe again"
    )]
    PaidByErased(PaymentId),
    /// The receiving address has no account.
    #[error(
        "there is no account under this address; issue a key under it first, and check how the address is written"
    )]
    NoAccount,
    /// The account was erased.
    #[error("the account was erased; issue the key under the address again, which opens a new account")]
    Erased,
}

fn full(live: usize, room: Timestamp) -> String {
    let room = room.strftime("%-d %B (UTC)");
    match MAX_KEYS.saturating_sub(live) {
        0 => format!(
            "this address already has {MAX_KEYS} keys; if you revoke one now, you can create another from {room}"
        ),
        revoked => format!(
            "this address already has {MAX_KEYS} keys, {revoked} of them revoked this month, which counts until the \
             month ends; you can create another from {room}"
        ),
    }
}

fn listed(tiers: &[TierName]) -> String {
    tiers.iter().map(TierName::as_str).collect::<Vec<_>>().join(", ")
}
