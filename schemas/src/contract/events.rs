//! The JSON Schemas of the event payloads.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::event::{
    ProjectRenamed, ProjectRestored, ProjectRevised, ProjectSelected, ProjectWithdrawn, VectorsRecorded,
};

/// The schema of each newest payload under its CloudEvents type.
pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("loggia.curation.project_selected.v1", schema_of::<ProjectSelected>()),
        ("loggia.curation.project_revised.v1", schema_of::<ProjectRevised>()),
        ("loggia.curation.project_renamed.v1", schema_of::<ProjectRenamed>()),
        ("loggia.curation.project_withdrawn.v1", schema_of::<ProjectWithdrawn>()),
        ("loggia.curation.project_restored.v1", schema_of::<ProjectRestored>()),
        ("loggia.curation.vectors_recorded.v1", schema_of::<VectorsRecorded>()),
    ]
}

fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}
