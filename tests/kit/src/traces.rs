//! What a program left behind in its folder.

use std::path::Path;

/// Whether any file below a folder holds this text, in upper or lower case.
pub fn any_file_holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return any_file_holds(&path, text);
        }
        // What is deleted meanwhile holds nothing.
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    })
}
