//! Names that say what is inside, and files that fit into a head.

use crate::tree::Tree;

/// A file holds one idea: this many lines are the bound, and 300 the wish.
const LONGEST: usize = 500;

/// Names for whatever found no place. (`mod` would hide the name of its module in every list of files.)
const MEANINGLESS: &[&str] =
    &["mod", "util", "utils", "common", "helper", "helpers", "misc", "type", "types"];

/// Every Rust file or folder of Rust files with a name that says nothing.
pub(crate) fn meaningless(tree: &Tree) -> Vec<String> {
    let bad = |path: &&str| path.trim_end_matches(".rs").split('/').any(|part| MEANINGLESS.contains(&part));
    tree.ending_in(".rs").map(|(path, _)| path).filter(bad).map(str::to_owned).collect()
}

/// Every Rust file above the bound, with its number of lines.
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
