//! What is said about all records of a file at its end.

use std::collections::BTreeMap;

use mapping::{Mapping, PatternFile, Summary};

use crate::numbers::{counted, grouped, in_words};

/// How many names a sentence lists.
const LISTED: usize = 20;

/// What is said about all records of a file that a mapping was applied to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Sentences about what was rejected, left out, not sure or not there.
    pub sentences: Vec<String>,
    /// Those of them for which a strict import imports nothing.
    pub faults: Vec<String>,
}

/// The picture files of each pattern.
#[derive(Debug, Default)]
pub(crate) struct PatternFiles(BTreeMap<String, FilesOfPattern>);

/// How many files of a pattern exist and do not, and the first that does not.
#[derive(Debug, Default)]
struct FilesOfPattern {
    found: u64,
    missing: u64,
    first: String,
}

impl PatternFiles {
    pub(crate) fn add(&mut self, PatternFile { pattern, source }: PatternFile, exists: bool) {
        let files = self.0.entry(pattern).or_default();
        match exists {
            true => files.found += 1,
            false => {
                files.missing += 1;
                if files.first.is_empty() {
                    files.first = source;
                }
            }
        }
    }

    /// Returns a sentence for each pattern of which files are missing.
    fn sentences(&self) -> impl Iterator<Item = String> {
        let with_missing = self.0.iter().filter(|(_, files)| files.missing > 0);
        with_missing.map(|(pattern, FilesOfPattern { found, missing, first })| {
            let do_not = if *missing == 1 { "does not" } else { "do not" };
            let (found, missing) = (grouped(*found), grouped(*missing));
            format!("Pictures: {found} found, {missing} of the pattern {pattern} {do_not} exist (for example {first}); projects keep those that they have.")
        })
    }
}

impl Findings {
    /// Returns what is said about the records of a mapping. `headings` are those of a table; JSON has none.
    pub(crate) fn new(
        mapping: &Mapping,
        summary: &Summary,
        headings: &[String],
        files: &PatternFiles,
    ) -> Findings {
        let mut faults = Vec::new();
        faults.extend(rejected(summary));
        let (names, what) = match headings {
            [] => (summary.paths(), "path"),
            headings => (headings.to_vec(), "column"),
        };
        faults.extend(unused(&mapping.unused_columns(&names), what));
        let mut sentences = faults.clone();
        sentences.extend(files.sentences());
        sentences.extend(summary.sentences());
        // The sentences about these are among those of the summary.
        let unseen = summary.unseen_paths().filter(|_| summary.records > 0);
        faults.extend(unseen.map(|path| format!("The path {path} is in no record.")));
        let refused: u64 = summary.refused_pictures.values().map(|(count, _)| count).sum();
        if refused > 0 {
            faults.push(format!("{} cannot be used.", counted(refused, "picture")));
        }
        Findings { sentences, faults }
    }
}

/// Returns the sentence about the records that the mapping rejects, by reason.
fn rejected(summary: &Summary) -> Option<String> {
    let records = summary.records - summary.mapped;
    let reasons = summary.rejected.by_frequency();
    let mut parts: Vec<String> =
        reasons.iter().take(LISTED).map(|(reason, count)| format!("{reason} {}", grouped(*count))).collect();
    let listed: u64 = reasons.iter().take(LISTED).map(|(_, count)| count).sum();
    let others = summary.rejected.total() - listed;
    if others > 0 {
        parts.push(format!("other reasons {}", grouped(others)));
    }
    (records > 0)
        .then(|| format!("The mapping rejects {}: {}.", counted(records, "record"), parts.join(", ")))
}

/// Returns the sentence about columns that the mapping does not name.
fn unused(names: &[&str], what: &str) -> Option<String> {
    let listed = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    let (subject, verb) = match names.len() {
        0 => return None,
        1 => (format!("One {what}"), "is"),
        count => (format!("{} {what}s", in_words(count)), "are"),
    };
    let others = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    Some(format!("{subject} {verb} in neither the mapping nor [ignore]: {listed}{others}."))
}

#[cfg(test)]
mod tests {
    use mapping::Application;
    use serde_json::json;

    use super::*;

    #[test]
    fn unused_columns_are_said_in_one_sentence() {
        let sentence = |names: &[&str], what| unused(names, what).unwrap();
        assert_eq!(unused(&[], "column"), None);
        assert_eq!(sentence(&["OnView"], "path"), "One path is in neither the mapping nor [ignore]: OnView.");
        assert_eq!(
            sentence(&["Cataloged", "OnView", "Gender"], "column"),
            "Three columns are in neither the mapping nor [ignore]: Cataloged, OnView, Gender."
        );
        let many = vec!["a"; 22];
        assert!(sentence(&many, "column").starts_with("22 columns are"));
        assert!(sentence(&many, "column").ends_with("a, a and 2 more."));
    }

    #[test]
    fn records_are_rejected_in_one_sentence_with_counts() {
        let mapping = Mapping::parse(
            "a.toml",
            "[record]\nname = \"T\"\ncategory = { from = \"K\", table = { chair = \"design\" } }\n[[pictures]]\nsource = \"{T}.jpg\"",
        )
        .unwrap();
        let mut application = Application::new(&mapping);
        for record in [
            json!({"T": "A", "K": "Vessels"}),
            json!({"T": "B", "K": "Vessels"}),
            json!({"T": "", "K": "chair"}),
            json!({"T": "C", "K": "chair", "X": 1}),
        ] {
            let _ = application.record(record.as_object().unwrap());
        }
        let mut files = PatternFiles::default();
        for (source, exists) in [("B.jpg", true), ("C.jpg", false)] {
            files.add(PatternFile { pattern: "{T}.jpg".into(), source: source.into() }, exists);
        }
        let Findings { sentences, faults } = Findings::new(&mapping, application.summary(), &[], &files);
        let rejected =
            "The mapping rejects 3 records: “Vessels” is not in the table of category 2, no name 1.";
        let unused = "One path is in neither the mapping nor [ignore]: X.";
        assert_eq!(faults, [rejected, unused]);
        assert_eq!(
            sentences,
            [
                rejected,
                unused,
                "Pictures: 1 found, 1 of the pattern {T}.jpg does not exist (for example C.jpg); projects keep those that they have.",
                "Category: 2 records have “Vessels”. Add them to the table of category in a.toml or give it a default.",
            ]
        );
    }
}
