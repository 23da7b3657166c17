//! What differs between two revisions of a project, as `GET /v1/project/{slug}?compare_to=N` answers it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ids::Revision;

/// The members of a project's record that differ between two of its revisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Comparison")]
pub struct ComparisonAnswer {
    /// The project's present slug.
    pub slug: String,
    /// The number of the revision that `compare_to` names.
    pub from: Revision,
    /// The number of the present revision, or of the one that `revision` or `as_of` names.
    pub to: Revision,
    /// The address of revision `from`.
    pub from_url: String,
    /// The address of revision `to`.
    pub to_url: String,
    /// The members that differ, in the order of the record; empty if both say the same.
    pub changes: Vec<MemberChange>,
    /// The citation of revision `to` in the style or format that `cite` names. Absent without `cite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A member that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemberChange {
    /// Its name in the record; within `taste` and `provenance` both names, for example `taste.light`.
    pub member: String,
    /// Its value in revision `from`; null if it was not recorded.
    pub before: Value,
    /// Its value in revision `to`; null if it is not recorded.
    pub now: Value,
}
