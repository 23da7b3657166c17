//! The answer of `GET /v1/search`.

use schemars::JsonSchema;
use serde::Serialize;

use super::summary::Summary;

/// The fewest results that may be asked for.
pub const MIN_LIMIT: usize = 1;
/// The most results that may be asked for.
pub const MAX_LIMIT: usize = 50;
/// How many results there are when nothing is asked for.
pub const DEFAULT_LIMIT: usize = 10;
/// The longest search text, in characters after trimming.
pub const MAX_QUERY_CHARACTERS: usize = 200;

/// A page of results. The server writes it from ready-rendered parts; this type is its description.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchAnswer<'a> {
    /// The search text as it was sent.
    pub query: &'a str,
    /// How many results are in this answer.
    pub count: usize,
    /// How many projects were found in all, exactly.
    pub total: u64,
    /// Whether results are there that do not hold every word as it was typed: those with a score below 1.
    pub approximate: bool,
    /// The words that no project has, as they were typed.
    pub missing_words: Vec<&'a str>,
    /// The words that results of this page hold instead of typed ones, at most ten.
    pub replaced: Vec<Replaced<'a>>,
    /// A query that finds more exactly, or null.
    pub did_you_mean: Option<&'a str>,
    /// What was forgiven, or why nothing is found, in words; null where every result holds every word.
    pub note: Option<&'a str>,
    /// The best first.
    pub results: Vec<SearchResult<'a>>,
    /// Send it as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
    /// Parameters of the request that this endpoint does not know. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A word that stands in for a typed one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Replaced<'a> {
    /// The word as it was typed.
    pub from: &'a str,
    /// The word of the catalog, in lower case and without accents.
    pub to: &'a str,
}

/// A found project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchResult<'a> {
    /// The project in short.
    #[serde(flatten)]
    pub summary: Summary<'a>,
    /// Its relevance, comparable within one answer only.
    pub score: f32,
}
