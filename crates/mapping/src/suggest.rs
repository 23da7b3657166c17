//! Suggests a first mapping for a file of somebody else: what each column is about, by its name in six languages and by its values.
//!
//! 1. [`record_path`] finds where the records of a JSON file are.
//! 2. [`suggest`] compares names and values of a [`Sample`] with what columns of museums and studios are about, and returns the TOML of a
//!    mapping, in which each line has its reason, the share of records that are filled and the most frequent values.
//!
//! ```
//! use mapping::Mapping;
//! use mapping::suggest::{Sample, suggest};
//!
//! let headings = ["Inv.-Nr.", "Titel", "Künstler", "Datierung", "Gattung"].map(str::to_owned);
//! let rows = [["A 1", "Netze", "Pellow, Agnes", "um 1890", "Gemälde"], ["A 2", "Hafen", "Pellow, Agnes", "1891", "Foto"]];
//! let records = rows.map(|row| mapping::row(&headings, row.map(str::to_owned).to_vec()));
//! let sample = Sample { file: "works.csv", headings: &headings, records: &records, read: 2, options: &Default::default(), notes: &[], files: None };
//! let suggestion = suggest(&sample);
//! assert_eq!(suggestion.missing, [""; 0]);
//! assert!(suggestion.toml.contains("studio = { from = \"Künstler\", invert = true }"), "{}", suggestion.toml);
//! assert!(Mapping::parse("works.toml", &suggestion.toml).is_ok());
//! ```

mod column;
mod concepts;
mod countries;
mod credits;
mod details;
mod document;
mod draft;
mod files_beside;
mod forms;
mod kinds;
mod members;
mod picture_files;
mod places;
mod qualifiers;
mod record_path;
mod sample;
mod scores;
mod words;

#[cfg(test)]
mod tests;

pub use files_beside::FilesBeside;
pub use record_path::record_path;
pub use sample::Sample;

/// A first mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The mapping. It can be read by [`Mapping::parse`](crate::Mapping::parse) if nothing is missing.
    pub toml: String,
    /// A sentence for each member without which nothing can be imported, with the columns that were considered.
    pub missing: Vec<String>,
    /// Sentences about what was looked for and is not there.
    pub notes: Vec<String>,
    /// The number of columns that are used, and of all.
    pub used: (usize, usize),
}

/// Returns a first mapping for the file of a sample.
pub fn suggest(sample: &Sample<'_>) -> Suggestion {
    let columns = column::columns(sample.headings, sample.records);
    let guesses = columns.iter().map(scores::guesses).collect();
    let known = members::Columns { columns: &columns, guesses, files: sample.files };
    let mut draft = draft::Draft::default();
    known.members(&mut draft);
    known.pictures(&mut draft);
    known.details(&mut draft);
    let toml = document::write(sample, &columns, &draft);
    let used = (columns.len() - draft.ignored.len(), columns.len());
    Suggestion { toml, used, missing: draft.missing, notes: draft.notes }
}
