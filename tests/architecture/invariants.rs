//! The invariants in `docs/architecture.md`: each names existing tests.

use crate::tree::Tree;

const PAGE: &str = "docs/architecture.md";

/// Returns each invariant without a test, and each named test that does not exist.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let page = tree.text(PAGE).unwrap_or_default();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit());
    let mut found = Vec::new();
    let mut count = 0;
    for row in rows {
        count += 1;
        let tests: Vec<&str> = row.split('`').skip(1).step_by(2).filter(|word| word.contains("::")).collect();
        if tests.is_empty() {
            found.push(format!("no test holds: {row}"));
        }
        found.extend(
            tests.into_iter().filter(|test| !exists(tree, test)).map(|test| format!("{test} is not a test")),
        );
    }
    if count == 0 {
        found.push(format!("{PAGE} lists no invariant"));
    }
    found
}

/// Returns whether `folder::module::function` is a function of that module: of a test below `tests`, or of a crate.
fn exists(tree: &Tree, test: &str) -> bool {
    let Some((module, function)) = test.rsplit_once("::") else { return false };
    tree.ending_in(".rs").any(|(path, text)| {
        let parts = path.trim_end_matches(".rs").split('/');
        let parts: Vec<&str> =
            parts.filter(|part| !["tests", "src", "crates", "main"].contains(part)).collect();
        let is_defined = |end| text.contains(&format!("fn {function}{end}"));
        parts.join("::") == module && (is_defined("(") || is_defined("<"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invariant_without_a_test_is_found() {
        let found = |page: &str| {
            let test = ("tests/fault/metering.rs", "#[test]\nfn quotas_hold() {}\n");
            violations(&Tree::of([(PAGE, page), test])).len()
        };
        assert_eq!(found("| 1 | Quotas hold. | `fault::metering::quotas_hold` |\n"), 0);
        assert_eq!(found("| 1 | Quotas hold. | `fault::metering::quotas` |\n"), 1, "another function");
        assert_eq!(found("| 1 | Quotas hold. | `fault::spool::quotas_hold` |\n"), 1, "another file");
        assert_eq!(found("| 1 | Quotas hold. | by hope |\n"), 1, "no test");
        assert_eq!(found("# Architecture\n"), 1, "no invariant");
    }
}
