//! The answers of `GET /v1/similar/{slug}` and `GET /v1/similar`.

use schemars::JsonSchema;
use serde::Serialize;

use super::summary::ListedSummary;

/// The most similar projects, nearest first. The server assembles it from stored parts; this type documents it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimilarAnswer<'a> {
    /// The requested project, which is not in the results.
    pub slug: &'a str,
    /// The number of results in this answer.
    pub count: usize,
    /// The number of similar projects, at most 50.
    pub total: usize,
    /// The results, nearest first.
    pub results: Vec<SimilarResult<'a>>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Why there are no results: the project cannot be compared, or a filter excludes them; and how many without a year are left out. Null
    /// otherwise.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// The projects nearest in meaning to a text, nearest first. The server assembles it from stored parts; this type documents it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimilarToTextAnswer<'a> {
    /// The text as sent.
    pub text: &'a str,
    /// The number of results in this answer.
    pub count: usize,
    /// The number of projects that are near.
    pub total: u64,
    /// The results, nearest first.
    pub results: Vec<NearResult<'a>>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Why there are no results: the text is not understood, nothing is near, or a filter excludes it; and how many without a year are left
    /// out. Null otherwise.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A project that is near in meaning.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NearResult<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: ListedSummary<'a>,
    /// The cosine of both meanings, at most 1, higher is nearer.
    pub score: f32,
}

/// A similar project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimilarResult<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: ListedSummary<'a>,
    /// The similarity from 0 to 1, higher is nearer: the mean of the sides that both projects have.
    pub score: f32,
    /// The parts of the score.
    pub basis: Basis<'a>,
}

/// The similarity of each side; null if one of the projects has no vector of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Basis<'a> {
    /// The similarity of the pictures, from 0 to 1.
    pub visual: Option<f32>,
    /// The similarity of the texts, from 0 to 1.
    pub semantic: Option<f32>,
    /// The encoder that made the vectors of both pictures; null without `visual`.
    pub visual_encoder: Option<&'a str>,
    /// The encoder that made the vectors of both texts; null without `semantic`.
    pub semantic_encoder: Option<&'a str>,
}
