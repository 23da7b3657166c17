use std::path::{Path, PathBuf};

use crate::skip::skipped;

/// Returns the folder of real records for tests: `LOGGIA_SHARED_DATA`, or `shared/data` next to the checkout.
///
/// The records are not part of the project, so without them tests are skipped everywhere, with a message.
pub fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LOGGIA_SHARED_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(format_args!("there is no folder {} (LOGGIA_SHARED_DATA may name another)", folder.display()));
    None
}
