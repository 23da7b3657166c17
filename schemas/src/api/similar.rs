//! The answer of `GET /v1/similar/{slug}`.

use schemars::JsonSchema;
use serde::Serialize;

use super::summary::Summary;

/// The nearest projects of a project, the nearest first. The server writes it from ready-rendered parts; this type is its
/// description.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimilarAnswer<'a> {
    /// The project whose neighbours these are; it is not among them.
    pub slug: &'a str,
    /// How many results are in this answer.
    pub count: usize,
    /// How many neighbours there are in all, at most 50.
    pub total: usize,
    /// The nearest first.
    pub results: Vec<SimilarResult<'a>>,
    /// Send it as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
    /// Why there are no neighbours, where the project can be compared with nothing; null otherwise.
    pub note: Option<&'a str>,
    /// Parameters of the request that this endpoint does not know. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimilarResult<'a> {
    /// The project in short.
    #[serde(flatten)]
    pub summary: Summary<'a>,
    /// From 0 to 1, higher is nearer: the mean of the sides that both projects have.
    pub score: f32,
    /// What the score is made of.
    pub basis: Basis,
}

/// How near two projects are, side by side; null where one of them has no vector of the side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Basis {
    /// How alike they look, from 0 to 1.
    pub visual: Option<f32>,
    /// How alike they read, from 0 to 1.
    pub semantic: Option<f32>,
}
