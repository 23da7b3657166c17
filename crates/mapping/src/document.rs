//! The TOML of a mapping with the lines of its parts, and the faults that are found in it.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::member::nearest;

/// A part of the document.
pub(crate) type Node<'t> = Spanned<DeValue<'t>>;

/// Why a mapping cannot be used: every fault of its file. `Display` has one line for each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct MappingError {
    /// The name of the file, as faults name it.
    pub file: String,
    /// The faults, in the order of the file.
    pub faults: Vec<MappingFault>,
}

/// One fault of a mapping.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappingFault {
    /// The number of the line, from 1; `None` for what is missing.
    pub line: Option<usize>,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, MappingFault { line, reason }) in self.faults.iter().enumerate() {
            let separator = if number > 0 { "\n" } else { "" };
            match line {
                Some(line) => write!(f, "{separator}{} line {line}: {reason}.", self.file)?,
                None => write!(f, "{separator}{}: {reason}.", self.file)?,
            }
        }
        Ok(())
    }
}

/// Collects the faults of a document.
pub(crate) struct Faults<'t> {
    text: &'t str,
    faults: Vec<MappingFault>,
}

impl<'t> Faults<'t> {
    pub(crate) fn new(text: &'t str) -> Faults<'t> {
        Faults { text, faults: Vec::new() }
    }

    /// Adds a fault of the part with this span.
    pub(crate) fn add(&mut self, span: Range<usize>, reason: impl Into<String>) {
        let line = self.text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count() + 1;
        self.faults.push(MappingFault { line: Some(line), reason: reason.into() });
    }

    /// Adds a fault of the whole file.
    pub(crate) fn add_missing(&mut self, reason: impl Into<String>) {
        self.faults.push(MappingFault { line: None, reason: reason.into() });
    }

    /// Adds the fault of a word that is none of the known ones. `expected` completes “… is not …”.
    pub(crate) fn add_unknown<'c>(
        &mut self,
        span: Range<usize>,
        word: &str,
        expected: &str,
        known: impl IntoIterator<Item = &'c str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match nearest(word, known.iter().copied()) {
            Some(nearest) => format!("the nearest is {nearest}"),
            None => format!("there are {}", known.join(", ")),
        };
        self.add(span, format!("“{word}” is not {expected}; {hint}"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Returns every fault, in the order of the file.
    pub(crate) fn of(mut self, file: &str) -> MappingError {
        self.faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
        self.faults.dedup();
        MappingError { file: file.to_owned(), faults: self.faults }
    }

    /// Reads the document; `None` if it is not TOML.
    pub(crate) fn document(&mut self) -> Option<DeTable<'t>> {
        match DeTable::parse(self.text) {
            Ok(document) => Some(document.into_inner()),
            Err(error) => {
                let message = error.message().trim_end_matches('.');
                let span = error.span().unwrap_or(0..0);
                match message {
                    "duplicate key" => {
                        let key = self.text.get(span.clone()).unwrap_or_default().trim().trim_matches('"');
                        let reason = format!(
                            "“{key}” is there twice; keep one line, and name several columns with from = [\"A\", \"B\"] or first = [\"A\", \"B\"]"
                        );
                        self.add(span, reason);
                    }
                    _ => self.add(span, format!("this is not TOML: {message}")),
                }
                None
            }
        }
    }

    /// Reads a text; a number is one too.
    pub(crate) fn text(&mut self, node: &Node<'_>) -> Option<String> {
        match node.get_ref() {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Integer(number) => Some(number.as_str().to_owned()),
            _ => {
                self.add(node.span(), "a text in quotes is expected here");
                None
            }
        }
    }

    /// Reads a text or a list of texts.
    pub(crate) fn texts(&mut self, node: &Node<'_>) -> Vec<String> {
        match node.get_ref() {
            DeValue::Array(elements) => elements.iter().filter_map(|element| self.text(element)).collect(),
            _ => self.text(node).into_iter().collect(),
        }
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&mut self, node: &Node<'_>) -> Option<bool> {
        let flag = node.get_ref().as_bool();
        if flag.is_none() {
            self.add(node.span(), "true or false is expected here");
        }
        flag
    }

    /// Reads one of several words.
    pub(crate) fn word<T: Copy>(&mut self, node: &Node<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(node)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word);
            self.add_unknown(node.span(), &text, &format!("a value of {key}"), known);
        }
        found
    }

    /// Reads a table of texts, in the order of the file.
    pub(crate) fn pairs(&mut self, node: &Node<'t>) -> Vec<(String, String)> {
        let Some(table) = self.table(node) else { return Vec::new() };
        let pairs = in_order(table).into_iter();
        pairs.filter_map(|(key, node)| Some((key.get_ref().clone().into_owned(), self.text(node)?))).collect()
    }

    /// Reads a table.
    pub(crate) fn table<'n>(&mut self, node: &'n Node<'t>) -> Option<&'n DeTable<'t>> {
        let table = node.get_ref().as_table();
        if table.is_none() {
            self.add(node.span(), "a table is expected here");
        }
        table
    }
}

/// Returns the entries of a table in the order of the file.
pub(crate) fn in_order<'n, 't>(
    table: &'n DeTable<'t>,
) -> Vec<(&'n Spanned<std::borrow::Cow<'t, str>>, &'n Node<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
