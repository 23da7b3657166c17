//! The files of a checkout, or a small made-up set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Files by path from the root, with `/` between folders, and the contents of those that checks read.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
}

impl Tree {
    /// Returns the files that git tracks or would track; without git, all but build output.
    pub(crate) fn of_this_checkout() -> Self {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let paths = listed_by_git(root).unwrap_or_else(|| walked(root));
        assert!(paths.iter().any(|path| path == "Cargo.toml"), "the checkout at {} is empty", root.display());
        let with_text = paths.into_iter().filter(|path| root.join(path).is_file()).map(|path| {
            let is_read = [".rs", ".md", ".toml"].iter().any(|ending| path.ends_with(ending));
            let text = if is_read { std::fs::read_to_string(root.join(&path)) } else { Ok(String::new()) };
            (path, text.unwrap_or_default())
        });
        Self::of(with_text)
    }

    /// Returns a tree of these paths and contents.
    pub(crate) fn of(files: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {
        let files: BTreeMap<_, _> =
            files.into_iter().map(|(path, text)| (path.into(), text.into())).collect();
        let mut folders = BTreeSet::new();
        for path in files.keys() {
            folders.extend(Path::new(path).ancestors().skip(1).filter_map(Path::to_str).map(str::to_owned));
        }
        Self { files, folders }
    }

    /// Returns paths and contents of the files whose path has this ending.
    pub(crate) fn ending_in(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        files.filter(move |(path, _)| path.ends_with(ending))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the contents of a file, if it exists.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns whether a file or folder exists; the empty path is the root.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.files.contains_key(path) || self.folders.contains(path)
    }

    /// Returns whether the path of any file or folder has this ending.
    pub(crate) fn has_ending_in(&self, ending: &str) -> bool {
        self.paths().chain(self.folders.iter().map(String::as_str)).any(|path| path.ends_with(ending))
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").arg("-C").arg(root).args(list).output().ok()?;
    let paths: Vec<String> = String::from_utf8(output.stdout)
        .ok()?
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    // An unpacked archive inside another repository: git lists none of our files.
    (output.status.success() && paths.iter().any(|path| path == "Cargo.toml")).then_some(paths)
}

fn walked(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Some(relative) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            if [".git", ".tools", "target", "data", "tests/clients/node_modules"].contains(&relative) {
                continue;
            }
            match path.is_dir() {
                true => folders.push(path),
                false => paths.push(relative.to_owned()),
            }
        }
    }
    paths
}

#[test]
fn git_and_a_walk_find_this_file() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let this = "tests/architecture/tree.rs".to_owned();
    assert!(walked(root).contains(&this));
    if let Some(listed) = listed_by_git(root) {
        assert!(listed.contains(&this));
    }
}

#[test]
fn folders_are_derived_from_their_files() {
    let tree = Tree::of([("a/b/c.rs", "")]);
    let known = ["", "a", "a/b", "a/b/c.rs", "b", "a/b/c"].map(|path| tree.has(path));
    assert_eq!(known, [true, true, true, true, false, false]);
}
