mod rejected;
mod stored;
mod uploads;

use schemas::picture::{Colour, PictureFormat};

use super::*;

/// Returns a new store in a folder of its own.
pub(crate) fn store() -> (tempfile::TempDir, MediaStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = MediaStore::open(folder.path()).unwrap();
    (folder, store)
}
