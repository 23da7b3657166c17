//! The results of a search, and the errors of searches.

use read::search::{Hit, SearchError};
use schemas::api::problem::ParameterFault;

use super::json_writer::JsonWriter;
use crate::error::ApiError;
use crate::query;

/// Returns the error of a search that failed.
pub fn api_error(error: SearchError) -> ApiError {
    match error {
        SearchError::InvalidCursor(_) => ApiError::invalid_parameters(vec![invalid_cursor()]),
        SearchError::Unavailable(_) => ApiError::unavailable_because(error),
        SearchError::Busy | SearchError::Corrupt(_) | SearchError::Rejected(_) => ApiError::internal(error),
    }
}

/// Returns the description of a cursor of another search, or of a list that cannot be continued.
pub fn invalid_cursor() -> ParameterFault {
    query::fault(
        "cursor",
        "It is not a cursor of this search, or its list can no longer be continued. Start again from the first page, without \
         a cursor.",
        "next_cursor of the page before, with the same q and category",
    )
}

/// Writes the member `results`.
///
/// # Errors
///
/// If a value cannot be serialised.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(json: &mut JsonWriter<'_>, hits: &[Hit<'_>]) -> Result<(), ApiError> {
    let results = hits.iter().map(|hit| (hit.summary, hit.score));
    json.projects("results", results, |json, score| json.member("score", &score))
}
