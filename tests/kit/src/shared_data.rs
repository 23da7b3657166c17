use std::path::{Path, PathBuf};

use crate::skip::skipped;

/// The folder of real records for tests: what `LOGGIA_SHARED_DATA` names, else `shared/data` beside the checkout.
///
/// The records are no part of the project, so without them a test is skipped everywhere: `None`, told loudly.
pub fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LOGGIA_SHARED_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(format_args!("there is no folder {} (LOGGIA_SHARED_DATA may name another)", folder.display()));
    None
}
