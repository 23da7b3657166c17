//! The parameters that all lists of the archive have in common.

use read::archive::{Cursor, InvalidCursor};
use schemas::api::problem::ParameterFault;

use super::browse;
use super::list_options::{self, ListOptions, is_colour};
use crate::error::ApiError;
use crate::query::{self, QueryParams};

/// The common parameters of a page.
#[derive(Debug, PartialEq)]
pub struct ArchiveParameters {
    /// Filters, detail, order and facets.
    pub options: ListOptions,
    /// The maximum number of projects.
    pub limit: usize,
    /// The end of the previous page.
    pub cursor: Option<Cursor>,
    /// Parameters that are ignored.
    pub ignored: Vec<String>,
}

impl ArchiveParameters {
    /// The names of the common parameters.
    pub const NAMES: [&str; 3 + list_options::NAMES.len()] =
        query::join_names(&["limit", "cursor", "key"], &list_options::NAMES);

    /// Reads the common parameters; `faults` has those of the list's own parameters. A list by taste `has_relevance`, and of the values of
    /// color only those with a number sign are colours.
    ///
    /// # Errors
    ///
    /// All invalid parameters.
    pub fn read<const N: usize>(
        sent: &QueryParams<'_, N>,
        has_relevance: bool,
        mut faults: Vec<ParameterFault>,
    ) -> Result<ArchiveParameters, ApiError> {
        let is_option = |name: &str, value: &str| !(has_relevance && name == "color") || is_colour(value);
        let options = ListOptions::of_query(sent, 0, has_relevance, is_option, &mut faults);
        let limit = query::limit(sent, &mut faults);
        let cursor = query::cursor(sent, &mut faults, browse::invalid_cursor);
        let ignored = sent.finish(faults).map_err(ApiError::invalid_parameters)?;
        Ok(ArchiveParameters { options, limit, cursor, ignored })
    }
}

/// Returns the error of a cursor of another list.
pub fn invalid_cursor(_: InvalidCursor) -> ApiError {
    ApiError::invalid_parameters(vec![browse::invalid_cursor()])
}
