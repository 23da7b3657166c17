//! A draft of a mapping: what each of its lines reads, and why.

use super::column::Column;
use super::scores::Guess;

/// What is written about a column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Line {
    /// The member, or the label of a detail.
    pub(crate) key: String,
    /// The numbers of the columns that it reads, from 0.
    pub(crate) columns: Vec<usize>,
    /// The column of what stands before names.
    pub(crate) qualifier: Option<usize>,
    /// Whether these are tried one after the other, rather than joined.
    pub(crate) is_first_of: bool,
    /// Further keys of its source with their TOML values.
    pub(crate) keys: Vec<(&'static str, String)>,
    /// How certain it is, from 0 to 100.
    pub(crate) score: u32,
    /// Why.
    pub(crate) reason: String,
}

/// Pictures and the texts about them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) source: Line,
    /// The pattern of its files, where the column has only keys, or names of files in another folder.
    pub(crate) pattern: Option<String>,
    /// `alt`, `credit` and `rights`.
    pub(crate) texts: Vec<Line>,
}

/// A draft of a mapping.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) record: Vec<Line>,
    pub(crate) details: Vec<Line>,
    pub(crate) pictures: Vec<Picture>,
    /// Kinds with their numbers of records and their categories.
    pub(crate) kinds: Vec<(String, usize, Option<&'static str>)>,
    /// Codes of countries in lower case with their numbers of records and the names of the countries.
    pub(crate) countries: Vec<(String, usize, Option<String>)>,
    /// Numbers of columns that are left out, with the reasons.
    pub(crate) ignored: Vec<(usize, String)>,
    /// Numbers of columns that may be internal or personal.
    pub(crate) private: Vec<usize>,
    /// Sentences about a member without which nothing can be imported.
    pub(crate) missing: Vec<String>,
    /// Sentences about what was looked for and is not there.
    pub(crate) notes: Vec<String>,
}

impl Line {
    /// Returns the line of one column.
    pub(crate) fn of(key: impl Into<String>, column: usize, guess: &Guess) -> Line {
        Line {
            key: key.into(),
            columns: vec![column],
            score: guess.score(),
            reason: format!(
                "{} ({} of 60), its values fit ({} of 40)",
                guess.reason, guess.name, guess.values
            ),
            ..Line::default()
        }
    }

    pub(crate) fn with(mut self, key: &'static str, value: impl Into<String>) -> Line {
        self.keys.push((key, value.into()));
        self
    }

    /// Adds what cuts cells at bars, if they have any.
    pub(crate) fn split_at_bars(self, columns: &[Column]) -> Line {
        match self.columns.iter().find_map(|number| columns[*number].separator()) {
            Some(separator) => self.with("split", format!("{separator:?}")),
            None => self,
        }
    }
}

impl Draft {
    /// Returns the line of a member.
    pub(crate) fn member(&self, name: &str) -> Option<&Line> {
        self.record.iter().find(|line| line.key == name)
    }

    /// Returns whether a column is read or left out.
    pub(crate) fn has(&self, column: usize) -> bool {
        let pictures =
            self.pictures.iter().flat_map(|picture| std::iter::once(&picture.source).chain(&picture.texts));
        let mut lines = self.record.iter().chain(&self.details).chain(pictures);
        lines.any(|line| line.columns.contains(&column) || line.qualifier == Some(column))
            || self.ignored.iter().any(|(other, _)| *other == column)
    }

    pub(crate) fn ignore(&mut self, column: usize, reason: impl Into<String>) {
        if !self.has(column) {
            self.ignored.push((column, reason.into()));
        }
    }
}
