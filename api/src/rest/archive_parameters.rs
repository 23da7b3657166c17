//! The parameters that all lists of the archive have in common.

use answers::catalog::browse;
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use read::archive::{Cursor, InvalidCursor};
use schemas::api::problem::ParameterFault;
use schemas::record::Category;

/// The common parameters of a page.
#[derive(Debug, PartialEq)]
pub(crate) struct ArchiveParameters {
    pub(crate) category: Option<Category>,
    pub(crate) limit: usize,
    /// The end of the previous page.
    pub(crate) cursor: Option<Cursor>,
    /// Parameters that are ignored.
    pub(crate) ignored: Vec<String>,
}

impl ArchiveParameters {
    /// The names of the common parameters, of which a list takes those that it has.
    pub(crate) const NAMES: [&str; 4] = ["category", "limit", "cursor", "key"];

    /// Reads the common parameters; `faults` has those of the list's own parameters.
    ///
    /// # Errors
    ///
    /// All invalid parameters.
    pub(crate) fn read<const N: usize>(
        sent: &QueryParams<'_, N>,
        mut faults: Vec<ParameterFault>,
    ) -> Result<ArchiveParameters, ApiError> {
        let category = query::category(sent, &mut faults);
        let limit = query::limit(sent, &mut faults);
        let cursor = query::cursor(sent, &mut faults, browse::invalid_cursor);
        sent.single("key", &mut faults);
        if !faults.is_empty() {
            return Err(ApiError::invalid_parameters(faults));
        }
        Ok(ArchiveParameters { category, limit, cursor, ignored: sent.ignored() })
    }
}

/// Returns the error of a cursor of another list.
pub(crate) fn invalid_cursor(_: InvalidCursor) -> ApiError {
    ApiError::invalid_parameters(vec![browse::invalid_cursor()])
}
