//! A setting is one entry in the file of its section: a new one touches that file and the place that uses it.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// The page that is generated from the entries.
const PAGE: &str = "docs/operating/settings.md";

/// Settings that have no entry, or more than one.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let mut entries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in tree.text(PAGE).unwrap_or_default().lines() {
        if let Some(name) = line.strip_prefix("## `").and_then(|rest| rest.strip_suffix('`')) {
            entries.insert(name, Vec::new());
        }
    }
    for (path, text) in tree.ending_in(".rs").filter(|(path, _)| path.starts_with("src/")) {
        for name in text.lines().filter_map(entry) {
            if let Some(files) = entries.get_mut(name) {
                files.push(path);
            }
        }
    }
    let wrong = entries.into_iter().filter(|(_, files)| match files[..] {
        [file] => !file.starts_with("src/config/"),
        _ => true,
    });
    wrong.map(|(name, files)| format!("{name} has entries in {files:?}")).collect()
}

/// The name of the setting whose entry begins in this line, as `field: Type = read => "name"`.
fn entry(line: &str) -> Option<&str> {
    line.rsplit_once(" => \"")?.1.strip_suffix('"')
}

#[test]
fn settings_without_an_entry_or_with_two_are_found() {
    let one = "section! { Server {\n    data: PathBuf = Value::required => \"data\"\n    drain: Drain = read => \"drain\"";
    let two = "match x {\n    1 => \"log\",\n}\nsection! {\n    drain: Drain = Value::required => \"drain\"";
    let tree = Tree::of([
        (PAGE, "# Settings\n\n## `data`\n\n## `drain`\n\n## `log`\n\n## `mail`\n"),
        ("src/config/server.rs", one),
        ("src/config/process.rs", two),
        ("src/mail.rs", "mail: Route = Value::required => \"mail\""),
    ]);
    let expected = [
        "drain has entries in [\"src/config/process.rs\", \"src/config/server.rs\"]",
        "log has entries in []",
        "mail has entries in [\"src/mail.rs\"]",
    ];
    assert_eq!(violations(&tree), expected);
}
