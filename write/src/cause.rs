//! What stands behind an error.

use std::error::Error;

/// The innermost cause of an error, which says most: those around it repeat where it was.
pub(crate) fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}
