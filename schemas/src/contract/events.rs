//! The JSON Schemas of the event payloads.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::account::{
    AccountErased, AccountOpened, EmailProven, EntitlementChanged, KeyIssued, KeyRevoked, PaymentsMoved,
    TierChanged,
};
use crate::event::{
    PictureAttached, PictureErased, PictureRefused, ProjectRenamed, ProjectRestored, ProjectRevised,
    ProjectSelected, ProjectWithdrawn, VectorsRecorded,
};
use crate::payment::PaymentRecorded;

/// Returns the schema of each newest payload with its CloudEvents type.
pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("loggia.curation.project_selected.v1", schema_of::<ProjectSelected>()),
        ("loggia.curation.project_revised.v1", schema_of::<ProjectRevised>()),
        ("loggia.curation.project_renamed.v1", schema_of::<ProjectRenamed>()),
        ("loggia.curation.project_withdrawn.v1", schema_of::<ProjectWithdrawn>()),
        ("loggia.curation.project_restored.v1", schema_of::<ProjectRestored>()),
        ("loggia.curation.picture_attached.v1", schema_of::<PictureAttached>()),
        ("loggia.curation.picture_refused.v1", schema_of::<PictureRefused>()),
        ("loggia.curation.picture_erased.v1", schema_of::<PictureErased>()),
        ("loggia.curation.vectors_recorded.v1", schema_of::<VectorsRecorded>()),
        ("loggia.account.account_opened.v1", schema_of::<AccountOpened>()),
        ("loggia.account.key_issued.v1", schema_of::<KeyIssued>()),
        ("loggia.account.key_revoked.v1", schema_of::<KeyRevoked>()),
        ("loggia.account.email_proven.v1", schema_of::<EmailProven>()),
        ("loggia.account.tier_changed.v1", schema_of::<TierChanged>()),
        ("loggia.account.payment_recorded.v1", schema_of::<PaymentRecorded>()),
        ("loggia.account.payments_moved.v1", schema_of::<PaymentsMoved>()),
        ("loggia.account.entitlement_changed.v1", schema_of::<EntitlementChanged>()),
        ("loggia.account.account_erased.v1", schema_of::<AccountErased>()),
    ]
}

pub(super) fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}
