//! What every search answers alike: its results, and the problem of one that cannot be answered.

use read::search::{Hit, SearchError};
use schemas::api::problem::ParameterFault;

use super::json_writer::JsonWriter;
use crate::error::ApiError;
use crate::query;

/// Returns the problem of a search that failed.
pub(crate) fn fault(error: SearchError) -> ApiError {
    match error {
        SearchError::InvalidCursor(_) => ApiError::invalid_parameters(vec![invalid_cursor()]),
        SearchError::Unavailable(_) => ApiError::unavailable_because(error),
        SearchError::Busy | SearchError::Corrupt(_) | SearchError::Rejected(_) => ApiError::internal(error),
    }
}

/// A cursor that this search did not give out, or whose list cannot be continued.
pub(crate) fn invalid_cursor() -> ParameterFault {
    query::fault(
        "cursor",
        "It is not a cursor of this search, or its list can no longer be continued. Start again from the first page, without \
         a cursor.",
        "next_cursor of the page before, with the same q and category",
    )
}

/// Writes the member `results`.
pub(crate) fn write(json: &mut JsonWriter<'_>, hits: &[Hit<'_>]) -> Result<(), ApiError> {
    let results = hits.iter().map(|hit| (hit.summary, hit.score));
    json.projects("results", results, |json, score| json.member("score", &score))
}
