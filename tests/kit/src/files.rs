//! Searches the files that a program left in its folder.

use std::path::Path;

/// Returns whether any file below a folder contains this text, ignoring case.
pub fn any_file_contains(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return any_file_contains(&path, text);
        }
        // A file that was deleted meanwhile contains nothing.
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    })
}
