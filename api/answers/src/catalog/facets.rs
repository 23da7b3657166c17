//! The member `facets` of a list.

use read::archive::FacetCounts;
use serde::{Serialize, Serializer};

use super::json_writer::JsonWriter;
use crate::error::ApiError;

/// Writes the counts by the name of their facet; nothing if there are none.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(json: &mut JsonWriter<'_>, facets: &[FacetCounts]) -> Result<(), ApiError> {
    if facets.is_empty() { Ok(()) } else { json.member("facets", &Facets(facets)) }
}

struct Facets<'a>(&'a [FacetCounts]);

impl Serialize for Facets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|counts| (counts.facet.as_str(), &counts.values)))
    }
}
