//! All shapes of all events, by CloudEvents type. The newest is written; all are read.
//!
//! To change a shape: keep the old struct here as `<Event>V1` with a `From` into the newest, add the new type name, and
//! add a golden file (see `schemas/README.md`).

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::account::AccountEvent;
use crate::event::Event;

/// A decoded payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Decoded {
    /// An event that this version of Loggia knows, in its newest shape.
    Known(Box<Event>),
    /// An event of a newer version, which is kept and skipped with a warning.
    Unknown,
}

/// A payload that does not have the shape of its type.
#[derive(Debug, thiserror::Error)]
#[error("the payload of a {kind} event does not have its shape: {source}")]
pub struct Malformed {
    /// The CloudEvents type.
    pub kind: String,
    /// The error of the parser.
    #[source]
    pub source: serde_json::Error,
}

/// Returns the JSON Schema of a payload.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

/// Returns the JSON Schema of the payload from which an event is made.
fn payload_of<T: JsonSchema>(_: fn(T) -> Event) -> Value {
    schema_of::<T>()
}

/// Declares for each event the type name that is written and the type names that are read.
macro_rules! versions {
    ($($($variant:ident).+ writes $newest:literal reads $($kind:literal)|+;)+) => {
        /// All readable type names, oldest first for each event.
        pub const KINDS: &[&str] = &[$($($kind),+),+];

        /// Returns the JSON Schema of each newest payload with its CloudEvents type.
        pub(crate) fn schemas() -> Vec<(&'static str, Value)> {
            vec![$(($newest, payload_of(|payload| versions!(@event payload, $($variant).+)))),+]
        }

        /// Returns the CloudEvents type under which an event is written.
        pub fn kind(event: &Event) -> &'static str {
            match event { $(versions!(@event _payload, $($variant).+) => $newest),+ }
        }

        /// Returns the payload of an event as JSON in its newest shape.
        pub fn encode(event: &Event) -> Result<Box<RawValue>, serde_json::Error> {
            match event { $(versions!(@event payload, $($variant).+) => serde_json::value::to_raw_value(payload)),+ }
        }

        /// Decodes a payload of any version into the newest shape.
        ///
        /// # Errors
        ///
        /// Returns an error if the payload of a known type does not have its shape.
        pub fn decode(kind: &str, data: &RawValue) -> Result<Decoded, Malformed> {
            let malformed = |source| Malformed { kind: kind.to_owned(), source };
            match kind {
                $($($kind)|+ => serde_json::from_str(data.get())
                    .map(|payload| Decoded::Known(Box::new(versions!(@event payload, $($variant).+))))
                    .map_err(malformed),)+
                _ => Ok(Decoded::Unknown),
            }
        }
    };
    // An expression or a pattern.
    (@event $payload:ident, Account.$variant:ident) => { Event::Account(AccountEvent::$variant($payload)) };
    (@event $payload:ident, $variant:ident) => { Event::$variant($payload) };
}

versions! {
    ProjectSelected writes "loggia.curation.project_selected.v1" reads "loggia.curation.project_selected.v1";
    ProjectRevised writes "loggia.curation.project_revised.v1" reads "loggia.curation.project_revised.v1";
    ProjectRenamed writes "loggia.curation.project_renamed.v1" reads "loggia.curation.project_renamed.v1";
    ProjectIdentified writes "loggia.curation.project_identified.v1" reads "loggia.curation.project_identified.v1";
    ProjectWithdrawn writes "loggia.curation.project_withdrawn.v1" reads "loggia.curation.project_withdrawn.v1";
    ProjectRestored writes "loggia.curation.project_restored.v1" reads "loggia.curation.project_restored.v1";
    PictureAttached writes "loggia.curation.picture_attached.v1" reads "loggia.curation.picture_attached.v1";
    PictureRefused writes "loggia.curation.picture_refused.v1" reads "loggia.curation.picture_refused.v1";
    PictureErased writes "loggia.curation.picture_erased.v1" reads "loggia.curation.picture_erased.v1";
    VectorsRecorded writes "loggia.curation.vectors_recorded.v1" reads "loggia.curation.vectors_recorded.v1";
    Account.AccountOpened writes "loggia.account.account_opened.v1" reads "loggia.account.account_opened.v1";
    Account.KeyIssued writes "loggia.account.key_issued.v1" reads "loggia.account.key_issued.v1";
    Account.KeyRevoked writes "loggia.account.key_revoked.v1" reads "loggia.account.key_revoked.v1";
    Account.EmailProven writes "loggia.account.email_proven.v1" reads "loggia.account.email_proven.v1";
    Account.TierChanged writes "loggia.account.tier_changed.v1" reads "loggia.account.tier_changed.v1";
    Account.PaymentRecorded writes "loggia.account.payment_recorded.v1" reads "loggia.account.payment_recorded.v1";
    Account.PaymentsMoved writes "loggia.account.payments_moved.v1" reads "loggia.account.payments_moved.v1";
    Account.EntitlementChanged writes "loggia.account.entitlement_changed.v1" reads "loggia.account.entitlement_changed.v1";
    Account.AccountErased writes "loggia.account.account_erased.v1" reads "loggia.account.account_erased.v1";
}
