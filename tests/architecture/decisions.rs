//! The architecture decision records: short, with status and date, and listed in the index.

use crate::tree::Tree;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";
/// The maximum number of lines.
const MOST_LINES: usize = 40;

/// Returns each decision that is too long, has no status and date, or differs from its row in the index.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let index = tree.text(INDEX).unwrap_or_default();
    let decisions = tree.ending_in(".md").filter(|(path, _)| path.starts_with(FOLDER) && *path != INDEX);
    let mut found = Vec::new();
    let mut rows = 0;
    for (path, text) in decisions {
        let lines = text.lines().count();
        if lines > MOST_LINES {
            found.push(format!("{path} has {lines} lines, {MOST_LINES} at most"));
        }
        let file = path.trim_start_matches(FOLDER);
        match row(file, text) {
            None => found.push(format!(
                "{path} does not begin with \"# 1. Title\" and \"Status: accepted, 2026-01-31\""
            )),
            Some(row) if !index.lines().any(|line| line == row) => {
                found.push(format!("{INDEX} lacks the line {row}"))
            }
            Some(_) => rows += 1,
        }
    }
    let listed = index.lines().filter(|line| line.starts_with("| ") && line.contains(".md)")).count();
    if listed > rows && found.is_empty() {
        found.push(format!("{INDEX} lists {listed} decisions, and there are {rows}"));
    }
    found
}

/// Returns the row of the index for a decision: number, title, status and date.
fn row(file: &str, text: &str) -> Option<String> {
    let mut lines = text.lines();
    let (number, title) = lines.next()?.strip_prefix("# ")?.split_once(". ")?;
    let (status, date) = lines.nth(1)?.strip_prefix("Status: ")?.rsplit_once(", ")?;
    let is_date = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (is_date && file.starts_with(&format!("{number:0>4}-")))
        .then(|| format!("| {number} | [{title}]({file}) | {status} | {date} |"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_missing_from_the_index_is_found() {
        let decision = "# 1. SQLite\n\nStatus: accepted, 2026-01-31\n\nText.\n";
        let right = "| 1 | [SQLite](0001-sqlite.md) | accepted | 2026-01-31 |\n";
        let found = |decision: &str, index: &str| {
            violations(&Tree::of([("docs/decisions/0001-sqlite.md", decision), (INDEX, index)])).len()
        };
        assert_eq!(found(decision, right), 0);
        assert_eq!(found(decision, ""), 1, "not listed");
        assert_eq!(found("# 1. SQLite\n\nText.\n", right), 1, "no status");
        assert_eq!(found("# 2. SQLite\n\nStatus: accepted, 2026-01-31\n", right), 1, "another number");
        assert_eq!(found(&format!("{decision}{}", "\n".repeat(40)), right), 1, "too long");
        let two = format!("{right}| 2 | [NATS](0002-nats.md) | accepted | 2026-01-31 |\n");
        assert_eq!(found(decision, &two), 1, "a line without a decision");
    }
}
