//! The answer of `GET /v1/changes`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::project::Project;

/// The default of `limit`.
pub const DEFAULT_CHANGES: usize = 50;
/// The largest `limit`.
pub const MAX_CHANGES: usize = 100;

/// What happened to the projects, in log order. The server assembles it from stored parts; this type documents it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangesAnswer<'a> {
    /// The changes, the earliest first.
    pub changes: Vec<Change<'a>>,
    /// The value of `since` for what follows; never null.
    pub next_cursor: String,
    /// Whether there is nothing after these changes yet.
    pub caught_up: bool,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A change of a project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change<'a> {
    /// The value of `since` for what follows this change.
    pub cursor: String,
    /// What happened; an attached or erased picture is a revision too.
    #[schemars(extend("enum" = ["selected", "revised", "renamed", "withdrawn", "restored"]))]
    pub kind: &'a str,
    /// The slug after the change.
    pub slug: &'a str,
    /// The slug before it. Absent unless it is a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a str>,
    /// When it happened.
    pub at: Timestamp,
    /// The full record as it is now, under its present slug; null while the project is withdrawn.
    pub project: Option<Project<'a>>,
}
