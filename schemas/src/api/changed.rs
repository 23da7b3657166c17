//! The answer of `GET /v1/projects?changed_since=…`. The server assembles it from stored parts; these types document it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::summary::ListedSummary;
use crate::ids::Revision;

/// A page of the projects that changed since a time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedAnswer<'a> {
    /// The number of results in this answer.
    pub count: usize,
    /// The exact number of projects on all pages.
    pub total: u64,
    /// The results, each project once: the one that changed last comes first. All pages are as of the time of the first one: what
    /// changes between two pages comes with the next call without a cursor.
    pub results: Vec<ChangedResult<'a>>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// When the last change was, if there is none since; what filters leave out; and which results were withdrawn; null otherwise.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A project that changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ChangedResult<'a> {
    /// It is listed.
    Listed(Box<ChangedProject<'a>>),
    /// It is withdrawn.
    Withdrawn(WithdrawnProject<'a>),
}

/// A listed project that changed: its summary as it is now, and its change.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedProject<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: ListedSummary<'a>,
    /// Its last change of the requested kinds.
    pub change: LastChange<'a>,
}

/// A withdrawn project that changed. Its revisions can be read at `/project/{slug}?revision=N`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WithdrawnProject<'a> {
    /// The project's identifier in URLs.
    pub slug: &'a str,
    /// Its last change of the requested kinds.
    pub change: LastChange<'a>,
}

/// The last change of a project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LastChange<'a> {
    /// What happened; an attached or erased picture revises, too.
    #[schemars(extend("enum" = ["selected", "revised", "renamed", "withdrawn", "restored"]))]
    pub kind: &'a str,
    /// The slug before it. Absent unless it is a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a str>,
    /// When it happened.
    pub at: Timestamp,
    /// The revision of the record after it.
    pub revision: Revision,
    /// The names of the members that it changed: those that differ between this revision and the one before, named as `compare_to` does,
    /// and those that changed with a picture. Empty unless the kind is `revised`.
    pub fields: Vec<String>,
}
