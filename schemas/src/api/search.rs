//! The answer of `GET /v1/search`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::summary::ListedSummary;

/// The smallest `limit`.
pub const MIN_LIMIT: usize = 1;
/// The largest `limit`.
pub const MAX_LIMIT: usize = 50;
/// The default of `limit`.
pub const DEFAULT_LIMIT: usize = 10;
/// The maximum length of the search text, in characters after trimming.
pub const MAX_QUERY_CHARACTERS: usize = 200;

/// The values of `mode`, the usual one first.
pub const MODES: [&str; 3] = ["words", "meaning", "both"];

/// A page of results. The server assembles it from stored parts; this type documents it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchAnswer<'a> {
    /// The search text as sent.
    pub query: &'a str,
    /// The number of results in this answer.
    pub count: usize,
    /// The exact number of matching projects.
    pub total: u64,
    /// Whether some results do not contain every typed word in some form: number forms and possessives of a word, `and` beside `&`, and
    /// spellings with and without hyphens are the same word. Those have a score below 1, unless their name has all words next to each
    /// other and goes on with the last one, as an unfinished text does.
    pub approximate: bool,
    /// The typed words that no project contains in any form.
    pub missing_words: Vec<&'a str>,
    /// The words that stand in for typed words in results of this page, but for forms of these; at most ten.
    pub replaced: Vec<Replaced<'a>>,
    /// A query that projects contain in full, or null: what is shown already is not suggested.
    pub did_you_mean: Option<&'a str>,
    /// How results differ from the query, or why there are none: which filter excludes most, and the recorded values that are near; and how
    /// many projects without a year come last or are left out. Null otherwise.
    pub note: Option<&'a str>,
    /// The counts that `facets` asked for, by facet; at most twenty values each, the most frequent first. Absent without `facets`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facets: BTreeMap<&'a str, Vec<FacetValue<'a>>>,
    /// How many values each of the facets has, shown or not, and how many of the projects have none. Absent without `facets`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facet_totals: BTreeMap<&'a str, FacetTotal>,
    /// The results, best first, or in the order of `sort`.
    pub results: Vec<SearchResult<'a>>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A value and the number of projects that have it, over all pages and without the filter by this value's kind; a range of years applies to
/// the years, too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FacetValue<'a> {
    /// The value: a category, a place, studio or curator in the spelling that most of the projects have, a year, or a word of a taste
    /// dimension.
    pub value: &'a str,
    /// The number of projects.
    pub count: u64,
}

/// The values of a facet as a whole, over the same projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FacetTotal {
    /// The number of different values.
    pub distinct: u64,
    /// The number of projects without a value.
    pub unrecorded: u64,
}

/// A word of the catalog that replaces a typed one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Replaced<'a> {
    /// The typed word, or two neighbours with a blank between them.
    pub from: &'a str,
    /// The word of the catalog, in lowercase and without accents; of a word that was taken apart the two.
    pub to: &'a str,
}

/// Why a project is a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Matched {
    /// It has the words.
    Words,
    /// It is near in meaning.
    Meaning,
}

/// A matching project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchResult<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: ListedSummary<'a>,
    /// Its relevance, comparable within one answer only. The integer part says how the project contains the text: 7 as its whole
    /// name, 6 as the beginning of its name, 5 the same within a word, 4 next to each other in its name, 3 the same within a word, 2 all
    /// words as they were typed, 1 all words in some form, 0 approximately. Of a result by meaning it is the cosine of both meanings, below 1.
    pub score: f32,
    /// With `mode=meaning` and `mode=both`, why it is a result: `words` if it has the words, `meaning` if it is near in meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<Matched>,
    /// With `highlights=true`: of name, studio, city, category and intro those in which words match, as HTML: escaped, each such word in a
    /// `mark` element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highlights: Option<BTreeMap<&'a str, String>>,
}
