//! A crate is small enough to be known and built as one thing.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// The most lines of Rust in a package, its examples too, but without the tests that have files of their own: they are read one by one.
/// The package of the tests of the whole product is several programs.
const MAX_LINES: usize = 13_500;

/// Packages with too many lines.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let manifests = tree.ending_in("Cargo.toml");
    let packages: Vec<&str> =
        manifests.map(|(path, _)| path.trim_end_matches("Cargo.toml").trim_end_matches('/')).collect();
    let mut lines: BTreeMap<&str, usize> = packages.iter().map(|package| (*package, 0)).collect();
    for (path, text) in tree.ending_in(".rs") {
        let around = packages.iter().filter(|package| path.starts_with(&format!("{package}/")));
        // The tests of the root are those of the whole product.
        let package = around.max_by_key(|package| package.len()).copied();
        let package = package.or(path.starts_with("src/").then_some(""));
        let own = &path[package.map_or(0, str::len)..];
        if package == Some("tests") || own.contains("src/tests/") || own.ends_with("/tests.rs") {
            continue;
        }
        if let Some(count) = package.and_then(|package| lines.get_mut(package)) {
            *count += text.lines().count();
        }
    }
    let large = lines.into_iter().filter(|(_, lines)| *lines > MAX_LINES);
    large.map(|(package, lines)| format!("{package} has {lines} lines of at most {MAX_LINES}")).collect()
}

#[test]
fn large_packages_are_found() {
    let (small, large) = ("\n".repeat(MAX_LINES), "\n".repeat(MAX_LINES + 1));
    let tree = Tree::of([
        ("Cargo.toml", ""),
        ("src/main.rs", &small),
        ("tests/e2e/a.rs", &large),
        ("a/Cargo.toml", ""),
        ("a/src/lib.rs", &small),
        ("a/src/one.rs", "one"),
        ("a/src/tests.rs", &large),
        ("a/src/tests/one.rs", &large),
        ("b/Cargo.toml", ""),
        ("b/src/lib.rs", &small),
        ("b/tests/kit/Cargo.toml", ""),
        ("b/tests/kit/src/lib.rs", &large),
    ]);
    let expected = ["a has 13501 lines of at most 13500", "b/tests/kit has 13501 lines of at most 13500"];
    assert_eq!(violations(&tree), expected);
}
