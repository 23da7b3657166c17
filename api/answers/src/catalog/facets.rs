//! The facets of a list: their counts, and the members `facets` and `facet_totals`.

use std::sync::Arc;

use read::archive::{Facet, FacetCounts, Listing};
use read::search::OrdinalSet;
use schemas::api::search::FacetTotal;
use serde::{Serialize, Serializer};

use super::json_writer::JsonWriter;
use super::list_options::ListOptions;
use crate::error::ApiError;

/// Counts the projects of a list by each facet, without the filter by its own values; a range applies to its own facet, too. `matching` returns the projects that match all
/// filters; with a facet, all filters but its own.
///
/// # Errors
///
/// The error of `matching`.
pub fn count<E>(
    now: &Listing,
    options: &ListOptions,
    matching: impl Fn(Option<Facet>) -> Result<Arc<OrdinalSet>, E>,
) -> Result<Vec<FacetCounts>, E> {
    let restricts = |facet: &Facet| options.filters.restricts(*facet);
    let (own, common): (Vec<Facet>, Vec<Facet>) = options.facets.iter().partition(|facet| restricts(facet));
    let mut counts = Vec::with_capacity(options.facets.len());
    if !common.is_empty() {
        let set = matching(None)?;
        counts.extend(now.facets(&set, &common));
    }
    for facet in own {
        let set = matching(Some(facet))?;
        counts.push(now.facet(&set, facet));
    }
    counts.sort_by_key(|counts| options.facets.iter().position(|facet| *facet == counts.facet));
    Ok(counts)
}

/// Writes the counts by the name of their facet, and how many values there are and projects without one; nothing if there are none.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(json: &mut JsonWriter<'_>, facets: &[FacetCounts]) -> Result<(), ApiError> {
    if facets.is_empty() {
        return Ok(());
    }
    json.member("facets", &Facets(facets))?;
    json.member("facet_totals", &FacetTotals(facets))
}

struct Facets<'a>(&'a [FacetCounts]);

impl Serialize for Facets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|counts| (counts.facet.as_str(), &counts.values)))
    }
}

struct FacetTotals<'a>(&'a [FacetCounts]);

impl Serialize for FacetTotals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let total =
            |counts: &FacetCounts| FacetTotal { distinct: counts.distinct, unrecorded: counts.unrecorded };
        serializer.collect_map(self.0.iter().map(|counts| (counts.facet.as_str(), total(counts))))
    }
}
