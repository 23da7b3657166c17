//! The events of an account: one email address with up to three API keys. The address is kept in the vault of the write
//! side and is in no event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::AccountId;
use crate::key::{Key, KeyHash, KeyId, SealedName};
use crate::payment::{PaymentId, PaymentRecorded, Provider};
use crate::text::normalised;
use crate::tier::TierName;

/// An event of an account, in its newest shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountEvent {
    /// The first key for an email address was requested.
    AccountOpened(AccountOpened),
    /// An API key was issued.
    KeyIssued(KeyIssued),
    /// A key was revoked. It counts towards the limit of three until the end of its month.
    KeyRevoked(KeyRevoked),
    /// The holder of the address confirmed these keys.
    EmailProven(EmailProven),
    /// Keys were assigned to another tier.
    TierChanged(TierChanged),
    /// A payment provider sent a notice.
    PaymentRecorded(PaymentRecorded),
    /// Payments were moved to another account.
    PaymentsMoved(PaymentsMoved),
    /// The payments of the account pay for another tier than before, or for none.
    EntitlementChanged(EntitlementChanged),
    /// The address was erased. All keys are revoked; their usage counts stay.
    AccountErased(AccountErased),
}

/// The first event of every account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountOpened {}

/// A new key. Only its holder has the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyIssued {
    /// The key's public id.
    pub key_id: KeyId,
    /// SHA-256 of the key, in hexadecimal.
    pub hash: KeyHash,
    /// The last four characters of the key.
    pub hint: String,
    /// The holder's name for the key. Only commands and events of version 0.1 have it; newer events have `sealed_name`,
    /// and the write side keeps the plain name in its vault.
    pub name: Option<String>,
    /// The holder's name for the key, encrypted with the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_name: Option<SealedName>,
    /// The key's tier.
    pub tier: TierName,
}

impl KeyIssued {
    /// Returns the payload of a command that issues `key`.
    pub fn of(key: &Key, tier: TierName, name: Option<String>) -> KeyIssued {
        // The write side rejects an invalid name; here it is only left unencrypted.
        let taken = name.as_deref().and_then(|name| normalised(name, usize::MAX).ok().flatten());
        let sealed_name = taken.and_then(|name| key.seal_name(&name));
        KeyIssued { key_id: key.id(), hash: key.hash(), hint: key.hint(), name, sealed_name, tier }
    }
}

/// A key was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRevoked {
    /// The revoked key.
    pub key_id: KeyId,
}

/// The holder of the email address confirmed these keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmailProven {
    /// The confirmed keys.
    pub key_ids: Vec<KeyId>,
}

/// Keys were assigned to another tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TierChanged {
    /// The keys.
    pub key_ids: Vec<KeyId>,
    /// Their new tier.
    pub tier: TierName,
    /// Whether the tier follows the payments. Otherwise an operator assigned it, and it stays when a payment ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_payment: bool,
}

/// Payments now count for another account, whose events have the same notices, each with `moved_from`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentsMoved {
    /// The provider of the payments.
    pub provider: Provider,
    /// All ids in the moved notices: subscriptions, customers, invoices, payments and charges. Later notices with one
    /// of these ids belong to the other account.
    pub ids: Vec<PaymentId>,
    /// The ids of the moved notices.
    pub event_ids: Vec<PaymentId>,
    /// The account to which the payments now belong.
    #[schemars(with = "String")]
    pub to: AccountId,
}

/// The lowest tier of the account's confirmed keys from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntitlementChanged {
    /// The paid tier; the first configured tier if nothing is paid.
    pub tier: TierName,
}

/// The account was erased.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountErased {}
