//! The words that curators use in the taste dimensions.

use read::archive::{DimensionTerms, Listing, Term};
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::{Serialize, Serializer};

use super::json_writer::JsonWriter;
use crate::error::ApiError;

/// What words are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermsRequest {
    /// One dimension, or all.
    pub dimension: Option<Dimension>,
    /// One category, or all.
    pub category: Option<Category>,
    /// The maximum number of words of each dimension.
    pub limit: usize,
}

#[derive(Serialize)]
struct UsedTerms<'a> {
    dimension: &'static str,
    /// The number of different words.
    distinct: u64,
    #[serde(serialize_with = "terms")]
    terms: &'a [Term],
}

fn terms<S: Serializer>(terms: &&[Term], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct UsedTerm<'a> {
        term: &'a str,
        projects: u64,
    }
    serializer.collect_seq(terms.iter().map(|one| UsedTerm { term: &one.term, projects: one.projects }))
}

/// Writes the member `dimensions` and returns a note if words are missing.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(
    json: &mut JsonWriter<'_>,
    now: &Listing,
    request: TermsRequest,
) -> Result<Option<String>, ApiError> {
    let TermsRequest { dimension, category, limit } = request;
    let used: Vec<DimensionTerms> = now.terms(dimension, category, limit);
    let shown = used.iter().map(|of| UsedTerms {
        dimension: of.dimension.as_str(),
        distinct: of.distinct,
        terms: &of.terms,
    });
    json.member("dimensions", &shown.collect::<Vec<_>>())?;
    Ok(if used.iter().all(|of| of.terms.is_empty()) {
        Some("No project says anything here yet. Leave category or dimension out.".to_owned())
    } else if used.iter().any(|of| of.distinct > of.terms.len() as u64) {
        Some(format!(
            "Only the first {limit} words of a dimension are shown, the most used; distinct says how many there are."
        ))
    } else {
        None
    })
}
