//! The answers of `GET /v1/projects`, `/v1/taste`, `/v1/discover` and `/v1/terms`. The server assembles them from stored parts; these
//! types document them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::project::{Project, TasteAnswer};
use super::search::{FacetTotal, FacetValue};
use super::summary::{ConciseSummary, ListedSummary};

/// A page of the newest projects.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProjectsAnswer<'a> {
    /// The number of results in this answer.
    pub count: usize,
    /// The exact number of projects on all pages.
    pub total: u64,
    /// The results, the newest first, or in the order of `sort`.
    pub results: Vec<ListedSummary<'a>>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The counts that `facets` asked for, by facet; at most twenty values each, the most frequent first. Absent without `facets`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facets: BTreeMap<&'a str, Vec<FacetValue<'a>>>,
    /// How many values each of the facets has, shown or not, and how many of the projects have none. Absent without `facets`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facet_totals: BTreeMap<&'a str, FacetTotal>,
    /// Why there are none: which filter excludes most, and the recorded values that are near; or how many projects without a year come last
    /// or are left out; null otherwise.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// Several projects by their slugs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeveralAnswer<'a> {
    /// The number of results.
    pub count: usize,
    /// The full records, in the order of the request, each project once.
    pub results: Vec<Project<'a>>,
    /// The requested slugs that lead to no project: unknown or withdrawn.
    pub missing: Vec<&'a str>,
    /// The requested slugs that are former ones, with the present ones. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedSlug<'a>>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// Several projects by their slugs, with `detail=concise`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConciseSeveralAnswer<'a> {
    /// The number of results.
    pub count: usize,
    /// The projects, in the order of the request, each once.
    pub results: Vec<ConciseSummary<'a>>,
    /// The requested slugs that lead to no project: unknown or withdrawn.
    pub missing: Vec<&'a str>,
    /// The requested slugs that are former ones, with the present ones. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedSlug<'a>>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// Several projects by their slugs, with `detail=taste`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TasteSeveralAnswer<'a> {
    /// The number of results.
    pub count: usize,
    /// The projects, in the order of the request, each once.
    pub results: Vec<TasteSummary<'a>>,
    /// The requested slugs that lead to no project: unknown or withdrawn.
    pub missing: Vec<&'a str>,
    /// The requested slugs that are former ones, with the present ones. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedSlug<'a>>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A project in a list with `detail=taste`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TasteSummary<'a> {
    /// What names, places and cites the project.
    #[serde(flatten)]
    pub summary: ConciseSummary<'a>,
    /// The six taste dimensions.
    pub taste: TasteAnswer<'a>,
}

/// A former slug.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct RenamedSlug<'a> {
    /// The requested slug.
    pub from: &'a str,
    /// The present slug.
    pub to: &'a str,
}

/// A page of projects by taste.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "TasteAnswer")]
pub struct TasteSearchAnswer<'a> {
    /// The number of results in this answer.
    pub count: usize,
    /// The exact number of projects that match at least one dimension, with `match=all` all requested ones.
    pub total: u64,
    /// The results: those that match most dimensions first, the newest of them first.
    pub results: Vec<TasteResult<'a>>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The number of projects that match each requested dimension.
    pub matches: BTreeMap<&'a str, u64>,
    /// How many projects match exactly so many of the requested dimensions, from all of them down to 1, over all pages; with `match=all` it
    /// says what that leaves out.
    pub by_matched: BTreeMap<String, u64>,
    /// The counts that `facets` asked for, by facet; at most twenty values each, the most frequent first. Absent without `facets`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facets: BTreeMap<&'a str, Vec<FacetValue<'a>>>,
    /// How many values each of the facets has, shown or not, and how many of the projects have none. Absent without `facets`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facet_totals: BTreeMap<&'a str, FacetTotal>,
    /// Advice about dimensions that match nothing and about filters that exclude all, and how many projects without a year come last or are
    /// left out; null otherwise.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A project that matches a taste.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TasteResult<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: ListedSummary<'a>,
    /// The matching dimensions.
    pub matched: Vec<&'a str>,
}

/// A project drawn at random.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DiscoverAnswer<'a> {
    /// The number of results: one, or none if there is nothing to draw from.
    pub count: usize,
    /// The number of projects from which it was drawn.
    pub total: u64,
    /// The project.
    pub results: Vec<ListedSummary<'a>>,
    /// Why there is none; null otherwise.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// The words of the taste dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TermsAnswer<'a> {
    /// What the catalog records. Absent with any parameter but `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<Catalog>,
    /// The requested dimensions.
    pub dimensions: Vec<DimensionTerms<'a>>,
    /// The value of `cursor` for the next page of the words of the requested dimension; null on the last page, and without dimension.
    pub next_cursor: Option<String>,
    /// What is left out; null if nothing is.
    pub note: Option<&'a str>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// What the catalog records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Catalog {
    /// The number of projects.
    pub projects: u64,
    /// How many projects have each member of a record that may be without a value, also if none has it. `taste` counts those with a text in
    /// any dimension; `images` those with a picture stored here, and `thumbnail` those with one here or elsewhere; `alt`, `credit` and
    /// `rights` those that have it for any picture; `url` and `citation_url` those whose record names one elsewhere.
    #[serde(serialize_with = "counts")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub recorded: Vec<(&'static str, u64)>,
    /// The first and the last year of a project; `[]` if none has a year.
    #[schemars(length(max = 2))]
    pub years: Vec<u32>,
    /// The number of studios; spellings that are compared alike are one, as for a filter.
    pub studios: u64,
    /// The number of places as they are recorded, likewise.
    pub cities: u64,
    /// The number of curators, likewise.
    pub curators: u64,
}

fn counts<S: Serializer>(counts: &[(&'static str, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().copied())
}

/// The words of a taste dimension.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DimensionTerms<'a> {
    /// The dimension, such as material.
    pub dimension: &'a str,
    /// The number of different words on all pages.
    pub distinct: u64,
    /// The words, the most used first.
    pub terms: Vec<Term<'a>>,
}

/// A word or phrase of a taste dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Term<'a> {
    /// The word, in the most frequent of its forms.
    pub term: &'a str,
    /// The number of projects that a search for it finds in this dimension; for a phrase, in quotes.
    pub projects: u64,
}
