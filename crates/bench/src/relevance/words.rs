//! The words of a record, folded as people expect: without accents and apostrophes, in lower case.

use std::collections::HashSet;

use anyhow::{Context, Result};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// The members of a record that are searched.
const FIELDS: [&str; 5] = ["name", "studio", "city", "category", "intro"];

/// A record of the catalog.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) slug: String,
    pub(super) name: String,
    pub(super) studio: Option<String>,
    fields: Vec<Folded>,
}

/// A folded text.
#[derive(Debug)]
pub(super) struct Folded {
    /// Its words with a blank between them.
    pub(super) text: String,
    /// Its words; the parts of those with an apostrophe; and hyphened words and initials as one word.
    pub(super) words: HashSet<String>,
}

impl Record {
    /// Reads an exported record.
    ///
    /// # Errors
    ///
    /// If it has no slug or no name.
    pub(super) fn new(record: &Value) -> Result<Record> {
        let text = |member: &str| record[member].as_str();
        Ok(Record {
            slug: text("slug").context("an exported record has no slug")?.to_owned(),
            name: text("name").context("an exported record has no name")?.to_owned(),
            studio: text("studio").map(str::to_owned),
            fields: FIELDS.into_iter().filter_map(text).map(fold).collect(),
        })
    }

    /// Returns whether it has a folded word or, if there is a blank in it, a sequence of words.
    pub(super) fn has(&self, words: &str) -> bool {
        let is_phrase = words.contains(' ');
        self.fields.iter().any(|field| {
            if is_phrase {
                format!(" {} ", field.text).contains(&format!(" {words} "))
            } else {
                field.words.contains(words)
            }
        })
    }

    /// Returns all its words.
    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        self.fields.iter().flat_map(|field| &field.words)
    }
}

/// Folds a text.
pub(super) fn fold(text: &str) -> Folded {
    let plain = plain(text);
    let (mut order, mut words) = (Vec::new(), HashSet::new());
    for piece in plain.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        let parts: Vec<&str> = piece.split('\'').filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            continue;
        }
        order.push(parts.concat());
        words.insert(parts.concat());
        words.extend(parts.into_iter().map(str::to_owned));
    }
    for piece in plain.split(|c: char| !c.is_alphanumeric() && c != '-') {
        let mut parts = piece.split('-');
        if piece.contains('-') && parts.all(|part| !part.is_empty() && part.chars().all(char::is_alphabetic))
        {
            words.insert(piece.replace('-', ""));
        }
    }
    words.extend(initials(&plain));
    Folded { text: order.join(" "), words }
}

/// Returns sequences of letters that each have a point, `j. m. w.`, as one word.
fn initials(plain: &str) -> Vec<String> {
    let (mut found, mut sequence) = (Vec::new(), String::new());
    // The empty piece ends the last sequence.
    for piece in plain.split_whitespace().chain([""]) {
        let piece = piece.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut rest = piece;
        while let Some(letter) = rest.chars().next().filter(|c| c.is_alphabetic())
            && let Some(after) = rest[letter.len_utf8()..].strip_prefix('.')
        {
            sequence.push(letter);
            rest = after;
        }
        // What follows the points, be it a word or a comma, belongs to no further initial.
        if rest.len() == piece.len() || !rest.is_empty() {
            let sequence = std::mem::take(&mut sequence);
            found.extend((sequence.chars().count() > 1).then_some(sequence));
        }
    }
    found
}

/// Returns a text in lower case without accents, with plain apostrophes and hyphens.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let lowercase = text.chars().map(unified).nfkd().flat_map(char::to_lowercase);
    for letter in lowercase.nfd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc() {
        match letter {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' | 'ð' => plain.push('d'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            other => plain.push(other),
        }
    }
    plain
}

fn unified(character: char) -> char {
    match character {
        '`' | '\u{b4}' | '\u{b7}' | '\u{2018}'..='\u{201b}' | '\u{2b9}'..='\u{2bd}' | '\u{2032}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words: Vec<String> = fold(text).words.into_iter().collect();
        words.sort_unstable();
        words
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(plain("Łódź, Straße der ÆON"), "lodz, strasse der aeon");
        assert_eq!(fold("The Barber’s — Door, 2nd").text, "the barbers door 2nd");
        assert_eq!(words("Barber’s"), ["barber", "barbers", "s"]);
        assert_eq!(words("large-format 1-2"), ["1", "2", "format", "large", "largeformat"]);
        // A dakuten is part of its character.
        assert_eq!(plain("ガラス"), "ガラス");
    }

    #[test]
    fn initials_are_one_word() {
        let of = |text: &str| initials(&plain(text));
        assert_eq!(of("J.M.W. Turner"), ["jmw"]);
        assert_eq!(of("(P. L. Mills), N.A.T.O., and R.B.Kitaj"), ["pl", "nato", "rb"]);
        assert_eq!(of("St. L. Mark"), [""; 0]);
    }

    #[test]
    fn a_record_has_words_and_sequences_of_one_field() {
        let record = json!({"slug": "a", "name": "Stair House", "studio": null, "city": "Łódź"});
        let record = Record::new(&record).unwrap();
        assert!(record.has("stair") && record.has("lodz") && record.has("stair house"));
        assert!(!record.has("sta") && !record.has("house stair") && !record.has("house lodz"));
        assert!(Record::new(&json!({"slug": "a"})).is_err());
    }
}
