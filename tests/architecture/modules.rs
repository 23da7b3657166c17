//! Rust files that a build reaches: a test file that no module declares would never run.

use std::collections::BTreeSet;

use crate::tree::Tree;

/// Returns every Rust file that is neither a crate or test root nor declared, directly or indirectly, by one.
pub(crate) fn unreachable(tree: &Tree) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<String> = tree.paths().filter(|path| is_root(tree, path)).map(str::to_owned).collect();
    while let Some(path) = next.pop() {
        let text = tree.text(&path).unwrap_or_default();
        let folder = folder_of_submodules(tree, &path);
        for module in text.lines().filter_map(declared) {
            let places = [format!("{folder}/{module}.rs"), format!("{folder}/{module}/mod.rs")];
            next.extend(places.into_iter().filter(|place| tree.has(place) && !reached.contains(place)));
        }
        reached.insert(path);
    }
    let files = tree.ending_in(".rs").map(|(path, _)| path);
    files.filter(|path| !reached.contains(*path)).map(str::to_owned).collect()
}

/// Returns every line with a `path` attribute for a module.
pub(crate) fn relocated(tree: &Tree) -> Vec<String> {
    let attribute = |line: &str| {
        let line: String = line.split_whitespace().collect();
        line.starts_with("#[path=") || (line.starts_with("#[cfg_attr(") && line.contains(",path="))
    };
    let in_file = |(path, text): (&str, &str)| -> Vec<String> {
        let numbered = text.lines().enumerate().filter(|(_, line)| attribute(line));
        numbered.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())).collect()
    };
    tree.ending_in(".rs").flat_map(in_file).collect()
}

/// Returns whether cargo compiles the file by its location.
fn is_root(tree: &Tree, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let in_package = |depth: usize| {
        let package = parts[..parts.len() - depth].join("/");
        tree.has(format!("{package}/Cargo.toml").trim_start_matches('/'))
    };
    match parts.as_slice() {
        [.., "build.rs"] => in_package(1),
        [.., "src", "lib.rs" | "main.rs"] => in_package(2),
        [.., "src", "bin", file] => file.ends_with(".rs") && in_package(3),
        [.., "tests" | "benches" | "examples", _, "main.rs"] => in_package(3),
        [.., "tests" | "benches" | "examples", file] => file.ends_with(".rs") && in_package(2),
        _ => false,
    }
}

/// Returns the folder in which `mod x;` of this file finds `x.rs`.
fn folder_of_submodules(tree: &Tree, path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    if stem == "mod" || is_root(tree, path) { folder.to_owned() } else { format!("{folder}/{stem}") }
}

/// Returns the name in a line such as `mod x;` or `pub(crate) mod x;`.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.trim().strip_suffix(';')?.split_whitespace().rev();
    let (name, keyword) = (words.next()?, words.next()?);
    let is_public = words.all(|word| word.starts_with("pub") || word.starts_with("#["));
    (keyword == "mod" && is_public).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_files_are_found() {
        let tree = Tree::of([
            ("Cargo.toml", ""),
            ("src/main.rs", "mod roles;\n// mod quoted;\nmod inline { }"),
            ("src/roles.rs", "pub(crate) mod serve;"),
            ("src/roles/serve.rs", "#[cfg(test)] mod tests;"),
            ("src/roles/serve/tests.rs", ""),
            ("src/inline.rs", ""),
            ("src/quoted.rs", ""),
            ("tests/fault/main.rs", "mod kill;"),
            ("tests/fault/kill.rs", "mod deep;"),
            ("tests/fault/kill/deep.rs", ""),
            ("tests/fault/forgotten.rs", ""),
            ("tests/e2e/first.rs", "mod second;"),
            ("tests/e2e/second.rs", ""),
            ("tests/single.rs", ""),
            ("tests/kit/Cargo.toml", ""),
            ("tests/kit/src/lib.rs", ""),
            ("tests/kit/src/lost.rs", ""),
            ("tests/kit/tests/kit.rs", ""),
            ("elsewhere/tests/no_package.rs", ""),
        ]);
        assert_eq!(
            unreachable(&tree),
            [
                "elsewhere/tests/no_package.rs",
                "src/inline.rs",
                "src/quoted.rs",
                "tests/e2e/first.rs",
                "tests/e2e/second.rs",
                "tests/fault/forgotten.rs",
                "tests/kit/src/lost.rs",
            ]
        );
    }

    #[test]
    fn modules_with_a_path_attribute_are_found() {
        let bad = "mod fine;\n  # [ path = \"../x.rs\" ]\nmod x;\n#[cfg_attr(unix, path = \"y.rs\")]\nmod y;";
        assert_eq!(
            relocated(&Tree::of([("src/lib.rs", bad), ("doc.md", "#[path = \"allowed here\"]")])),
            ["src/lib.rs:2: # [ path = \"../x.rs\" ]", "src/lib.rs:4: #[cfg_attr(unix, path = \"y.rs\")]"]
        );
    }
}
