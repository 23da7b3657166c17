//! The parameters that all lists of the archive have in common.

use answers::catalog::browse;
use answers::catalog::list_options::{self, ListOptions, is_colour};
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use read::archive::{Cursor, InvalidCursor};
use schemas::api::problem::ParameterFault;

/// The common parameters of a page.
#[derive(Debug, PartialEq)]
pub(crate) struct ArchiveParameters {
    pub(crate) options: ListOptions,
    pub(crate) limit: usize,
    /// The end of the previous page.
    pub(crate) cursor: Option<Cursor>,
    /// Parameters that are ignored.
    pub(crate) ignored: Vec<String>,
}

impl ArchiveParameters {
    /// The names of the common parameters, of which a list takes those that it has.
    pub(crate) const NAMES: [&str; 3 + list_options::NAMES.len()] = {
        let mut names = [""; 3 + list_options::NAMES.len()];
        (names[0], names[1], names[2]) = ("limit", "cursor", "key");
        let mut at = 3;
        while at < names.len() {
            names[at] = list_options::NAMES[at - 3];
            at += 1;
        }
        names
    };

    /// Reads the common parameters; `faults` has those of the list's own parameters. A list by taste `has_relevance`, and of the values of
    /// color only those with a number sign are colours.
    ///
    /// # Errors
    ///
    /// All invalid parameters.
    pub(crate) fn read<const N: usize>(
        sent: &QueryParams<'_, N>,
        has_relevance: bool,
        mut faults: Vec<ParameterFault>,
    ) -> Result<ArchiveParameters, ApiError> {
        let mut refused = Vec::new();
        let values = |name| {
            let mut values = sent.all(name, &mut faults);
            values.retain(|value| !(has_relevance && name == "color") || is_colour(value));
            values
        };
        let options = ListOptions::read(values, has_relevance, &mut refused);
        faults.extend(refused.into_iter().map(Into::into));
        let limit = query::limit(sent, &mut faults);
        let cursor = query::cursor(sent, &mut faults, browse::invalid_cursor);
        sent.single("key", &mut faults);
        if !faults.is_empty() {
            return Err(ApiError::invalid_parameters(faults));
        }
        Ok(ArchiveParameters { options, limit, cursor, ignored: sent.ignored() })
    }
}

/// Returns the error of a cursor of another list.
pub(crate) fn invalid_cursor(_: InvalidCursor) -> ApiError {
    ApiError::invalid_parameters(vec![browse::invalid_cursor()])
}
