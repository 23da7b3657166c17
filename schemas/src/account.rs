//! What happens to an account: one address, at most three keys. The address itself stands in the vault of the write
//! side and never in an event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::AccountId;
use crate::key::{Key, KeyHash, KeyId, SealedName};
use crate::payment::{PaymentId, PaymentRecorded, Provider};
use crate::text::normalised;
use crate::tier::TierName;

/// Anything that happened to an account, in its newest shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountEvent {
    /// Somebody asked for the first key under an address.
    AccountOpened(AccountOpened),
    /// A key was handed out.
    KeyIssued(KeyIssued),
    /// A key was taken back; it keeps its place among the three until its month ends.
    KeyRevoked(KeyRevoked),
    /// The holder of the address confirmed that these keys are theirs.
    EmailProven(EmailProven),
    /// Keys came into another tier.
    TierChanged(TierChanged),
    /// A provider told of a payment.
    PaymentRecorded(PaymentRecorded),
    /// Payments went to another account.
    PaymentsMoved(PaymentsMoved),
    /// What was paid entitles to another tier than before, or nothing is paid any more.
    EntitlementChanged(EntitlementChanged),
    /// The address was erased; all keys end with it, their counts stay.
    AccountErased(AccountErased),
}

/// The first event of every account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountOpened {}

/// A new key. Its text is known to its holder alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyIssued {
    /// Its name in public.
    pub key_id: KeyId,
    /// SHA-256 of the whole key.
    pub hash: KeyHash,
    /// Its last four characters.
    pub hint: String,
    /// What its holder calls it, if anything. Commands and events of version 0.1 have it; newer events have `sealed_name`
    /// instead, and the write side keeps the name in its vault.
    pub name: Option<String>,
    /// The name, encrypted with the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_name: Option<SealedName>,
    /// What it may call.
    pub tier: TierName,
}

impl KeyIssued {
    /// Returns what a command says of a key that was made.
    pub fn of(key: &Key, tier: TierName, name: Option<String>) -> KeyIssued {
        // A name that is not taken is refused by the write side.
        let taken = name.as_deref().and_then(|name| normalised(name, usize::MAX).ok().flatten());
        let sealed_name = taken.and_then(|name| key.seal_name(&name));
        KeyIssued { key_id: key.id(), hash: key.hash(), hint: key.hint(), name, sealed_name, tier }
    }
}

/// The end of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRevoked {
    /// Which key.
    pub key_id: KeyId,
}

/// Keys whose holder has shown that the address is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmailProven {
    /// Which keys.
    pub key_ids: Vec<KeyId>,
}

/// Keys that may call more, or less, from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TierChanged {
    /// Which keys.
    pub key_ids: Vec<KeyId>,
    /// What they may call from now on.
    pub tier: TierName,
    /// Whether they follow what was paid; otherwise somebody put them there, and they stay when a payment ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_payment: bool,
}

/// Payments that count for another account from now on. The events of that account hold the same notices, each with
/// `moved_from`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentsMoved {
    /// Who told of them.
    pub provider: Provider,
    /// Everything that the moved notices name: subscriptions, customers, invoices, payments and charges. Later notices that
    /// name one of these belong to the other account.
    pub ids: Vec<PaymentId>,
    /// The moved notices.
    pub event_ids: Vec<PaymentId>,
    /// The account that has them from now on.
    #[schemars(with = "String")]
    pub to: AccountId,
}

/// What the account's proven keys have at least from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntitlementChanged {
    /// The tier; the first one where nothing is paid.
    pub tier: TierName,
}

/// The end of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountErased {}
