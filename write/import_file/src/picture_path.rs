//! Where the file of a picture is, in whichever Unicode form the disk has its name.

use std::path::{Path, PathBuf};

use schemas::text::{canonical, composed, decomposed};

/// Finds the file of a name: as the name is written, in NFC, or in NFD, in that order for each folder of the path. Archives
/// and disks of macOS have NFD where the table has NFC, or the other way round. `None` if there is none.
pub fn find(folder: &Path, name: &Path) -> Option<PathBuf> {
    let mut rest = name.components();
    let Some(part) = rest.next() else { return Some(folder.to_owned()) };
    let rest = rest.as_path();
    let written = Path::new(&part);
    let mut spellings = vec![written.to_owned()];
    if let Some(text) = written.to_str().filter(|text| !text.is_ascii()) {
        spellings.extend([PathBuf::from(&*composed(text)), PathBuf::from(decomposed(text))]);
    }
    let paths = spellings.into_iter().map(|spelling| folder.join(spelling));
    // What cannot be examined is left to reading, which says why.
    let mut existing = paths.filter(|path| path.try_exists().unwrap_or(true));
    existing.find_map(|path| find(&path, rest))
}

/// Returns whether there is a file of this name, which may have blanks at its ends.
pub(crate) fn exists(folder: &Path, name: &str) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    find(folder, Path::new(name)).is_some() || find(folder, Path::new(&*canonical(name))).is_some()
}
