//! The parameters that all lists of the archive have in common.

use read::archive::{Cursor, InvalidCursor};

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

    /// Reads the common parameters, after those of the list itself. A list by taste `has_relevance`, and of the values of color only those
    /// with a number sign are colours.
    ///
    /// # Errors
    ///
    /// All invalid parameters.
    pub fn read<const N: usize>(
        mut sent: QueryParams<'_, N>,
        has_relevance: bool,
    ) -> Result<ArchiveParameters, ApiError> {
        let is_option = |name: &str, value: &str| !(has_relevance && name == "color") || is_colour(value);
        let options = ListOptions::of_query(&mut sent, 0, has_relevance, is_option);
        let limit = sent.limit();
        let cursor = sent.cursor(browse::invalid_cursor);
        let ignored = sent.finish()?;
        Ok(ArchiveParameters { options, limit, cursor, ignored })
    }

    /// Returns the options by which the number of projects is found with the least work.
    pub fn of_total(&self) -> ListOptions {
        self.options.of_total(self.cursor.is_some())
    }
}

/// Returns the error of a cursor of another list.
pub fn invalid_cursor(_: InvalidCursor) -> ApiError {
    ApiError::invalid_parameters(vec![browse::invalid_cursor()])
}
