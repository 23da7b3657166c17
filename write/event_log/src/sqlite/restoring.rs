//! The mark of a restore that was interrupted.

use std::path::Path;

use crate::StoreError;

/// Stands in a store's folder while a backup is restored into it, so that an interrupted restore is known.
pub const UNFINISHED: &str = "restore.unfinished";

/// Refuses a folder into which a backup was not restored to the end.
pub(crate) fn refuse_unfinished(folder: &Path) -> Result<(), StoreError> {
    if folder.join(UNFINISHED).exists() {
        return Err(StoreError::unavailable(format!(
            "a backup was not restored to the end into {}; run `loggia restore` again, which begins from the start",
            folder.display()
        )));
    }
    Ok(())
}
