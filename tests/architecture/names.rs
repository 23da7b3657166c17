//! Meaningful file names, and the maximum length of files.

use crate::tree::Tree;

/// The maximum number of lines of a file; 300 is the goal.
const LONGEST: usize = 500;

/// Catch-all names. (`mod` would hide the name of its module in every list of files.)
const MEANINGLESS: &[&str] =
    &["mod", "util", "utils", "common", "helper", "helpers", "misc", "type", "types"];

/// Returns every Rust file or folder of Rust files with a meaningless name.
pub(crate) fn meaningless(tree: &Tree) -> Vec<String> {
    let bad = |path: &&str| path.trim_end_matches(".rs").split('/').any(|part| MEANINGLESS.contains(&part));
    tree.ending_in(".rs").map(|(path, _)| path).filter(bad).map(str::to_owned).collect()
}

/// Returns every Rust file that is too long, with its number of lines.
pub(crate) fn too_long(tree: &Tree) -> Vec<String> {
    let counted = tree.ending_in(".rs").map(|(path, text)| (path, text.lines().count()));
    counted
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meaningless_names_of_files_and_folders_are_found() {
        let bad = ["a/mod.rs", "a/util.rs", "common/x.rs", "src/helpers/y.rs", "types.rs"];
        let good = ["a/utility_poles.rs", "common/readme.md", "src/modes.rs"];
        let tree = Tree::of(bad.iter().chain(&good).map(|path| (*path, "")));
        assert_eq!(meaningless(&tree), bad);
    }

    #[test]
    fn a_file_one_line_too_long_is_found() {
        let tree = Tree::of([
            ("just.rs", "x\n".repeat(LONGEST)),
            ("over.rs", "x\n".repeat(LONGEST + 1)),
            ("data.toml", "x\n".repeat(LONGEST + 1)),
        ]);
        assert_eq!(too_long(&tree), [format!("over.rs: {} lines", LONGEST + 1)]);
    }
}
