//! Paths in documents: in backticks, and as targets of links.

use crate::tree::Tree;

/// Extensions by which a word without a slash counts as a file name.
const KNOWN: &[&str] = &[
    ".rs", ".md", ".toml", ".json", ".sql", ".sh", ".ndjson", ".csv", ".lock", ".yaml", ".yml", ".txt",
    ".html",
];

/// Files and folders that exist only on an operator's machine, or that are named as absent.
const NOT_OURS: &[&str] =
    &["erasures.ndjson", "pictures-erased.ndjson", "vectors-aside.ndjson", "loggia.toml", "mod.rs", "foo.rs"];

/// Folders that a build or a run creates; git ignores them.
const MADE: &[&str] = &["target", ".tools", "data"];

/// The first parts of media types, which look like paths: `text/event-stream`.
const MEDIA: &[&str] = &["application", "audio", "font", "image", "model", "multipart", "text", "video"];

/// Returns every path in a document that does not exist, with document and line.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let in_document = |(document, text): (&str, &str)| -> Vec<String> {
        let named = prose(text).flat_map(|(number, line)| {
            let links = links(line).into_iter().filter(|target| !link_exists(tree, document, target));
            let words = backticked(line).into_iter().filter(|word| is_path(tree, word));
            let words = words.filter(|word| !word_exists(tree, document, word));
            links.chain(words).map(move |path| format!("{document}:{number}: {path}")).collect::<Vec<_>>()
        });
        named.collect()
    };
    tree.ending_in(".md").flat_map(in_document).collect()
}

/// Returns the lines outside fenced blocks with their numbers; blocks hold examples and drawings.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= is_fence;
        (!is_fence && !fenced).then_some((at + 1, line))
    })
}

fn backticked(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// Returns the targets of `[text](target "title")` and of `[name]: target`.
fn links(line: &str) -> Vec<&str> {
    let without_code: Vec<&str> = line.split('`').step_by(2).collect();
    let inline = without_code.iter().flat_map(|part| part.split("](").skip(1));
    let inline = inline.filter_map(|rest| rest.split([')', ' ']).next());
    let reference = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    inline.chain(reference.and_then(|(_, target)| target.split_whitespace().next())).collect()
}

fn link_exists(tree: &Tree, document: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    let is_elsewhere = path.contains("://") || path.starts_with("mailto:");
    path.is_empty() || is_elsewhere || beside(document, path).is_some_and(|path| tree.has(&path))
}

/// Returns whether a word in backticks denotes a file or folder of this project.
fn is_path(tree: &Tree, word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let word = without_line_number(word);
    let first = word.split('/').next().unwrap_or_default();
    let looks_so = word.contains('/') || KNOWN.iter().any(|ending| word.ends_with(ending) && word != *ending);
    // A word with a leading slash is a route of the API.
    looks_so
        && word.chars().all(plain)
        && word.contains(|letter: char| letter.is_ascii_alphabetic())
        && !word.starts_with('/')
        && !MEDIA.contains(&first)
        && !NOT_OURS.contains(&word)
        && !MADE.contains(&word.trim_start_matches("./").split('/').next().unwrap_or_default())
        && !is_feature(tree, word)
}

/// Resolves a word from the document's folder, from the root, or as the end of a path.
fn word_exists(tree: &Tree, document: &str, word: &str) -> bool {
    let word = without_line_number(word).trim_end_matches('/');
    let from_root = word.trim_start_matches("./");
    let ending = format!("/{from_root}");
    beside(document, word).is_some_and(|path| tree.has(&path))
        || tree.has(from_root)
        || tree.has_ending_in(&ending)
}

/// Returns whether a word is `package/feature` in cargo's notation.
fn is_feature(tree: &Tree, word: &str) -> bool {
    let Some((package, feature)) = word.split_once('/') else { return false };
    let manifest =
        tree.text(&format!("{package}/Cargo.toml")).and_then(|text| text.parse::<toml::Table>().ok());
    manifest.is_some_and(|manifest| manifest.get("features").is_some_and(|all| all.get(feature).is_some()))
}

/// Returns `file.rs:12` without the number.
fn without_line_number(word: &str) -> &str {
    match word.rsplit_once(':') {
        Some((file, number)) if number.chars().all(|letter| letter.is_ascii_digit()) => file,
        _ => word,
    }
}

/// Resolves a relative path from a document's folder; `None` if it leaves the checkout.
fn beside(document: &str, path: &str) -> Option<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let start = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(document: &str, text: &str) -> Vec<String> {
        violations(&Tree::of([
            ("README.md", ""),
            ("bin/up", ""),
            ("docs/decisions/1-sqlite.md", ""),
            ("read/Cargo.toml", "[features]\napply = []"),
            ("read/src/search.rs", ""),
            (document, text),
        ]))
    }

    #[test]
    fn missing_paths_are_found_with_their_line() {
        let text = "\
            See `bin/down` and\n\
            `read/src/lost.rs:12`, `lost.sql`, `read/write`, `docs/gone/`,\n\
            [one](docs/gone.md) and [two](../outside.md#here) ![three](pictures/a.png \"title\").\n\
            [four]: gone.md\n";
        assert_eq!(
            found_in("NEW.md", text),
            [
                "NEW.md:1: bin/down",
                "NEW.md:2: read/src/lost.rs:12",
                "NEW.md:2: lost.sql",
                "NEW.md:2: read/write",
                "NEW.md:2: docs/gone/",
                "NEW.md:3: docs/gone.md",
                "NEW.md:3: ../outside.md#here",
                "NEW.md:3: pictures/a.png",
                "NEW.md:4: gone.md",
            ]
        );
    }

    #[test]
    fn existing_paths_pass_absolute_relative_and_shortened() {
        let text = "\
            `bin/up`, `./bin/up`, `src/search.rs`, `search.rs:7`, `docs/decisions/`, `1-sqlite.md`, `decisions/`\n\
            [a](../../README.md) [b](1-sqlite.md#why) [c](/bin/up) [d](#below)\n";
        assert_eq!(found_in("docs/decisions/2-nats.md", text), [""; 0]);
    }

    #[test]
    fn words_that_only_look_like_paths_are_ignored() {
        let text = "\
            `/v1/search`, `$LOGGIA_DATA/run/api.addr`, `~/x/y`, `https://a.b/c`, `text/event-stream`, `tests/*/x.rs`,\n\
            `read/apply`, `.tools/bin/nats-server`, `./data`, `loggia.toml`, `GET /a/b`, `std::fs`, `.rs`, `1/2`,\n\
            `{base}/x`, `application/problem+json`, [web](https://a.b/c), [mail](mailto:a@b.c), `[no](link)`\n\
            ```\n\
            `fenced/away` [x](gone.md)\n\
            ```\n";
        assert_eq!(found_in("NEW.md", text), [""; 0]);
    }
}
