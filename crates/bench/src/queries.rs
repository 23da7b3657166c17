//! A query log: distinct queries of all kinds that people type, generated from the words of the catalog.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The most queries in the log.
const MAX_QUERIES: usize = 2_000;

/// Returns the REST paths of the log.
pub fn paths(records: impl Iterator<Item = Map<String, Value>>) -> Vec<String> {
    texts(records).iter().map(|text| format!("/v1/search?q={}", encode(text))).collect()
}

/// Returns the queries of the log, in a fixed mixed order.
pub fn texts(records: impl Iterator<Item = Map<String, Value>>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    for (index, record) in records.enumerate() {
        let text = query(index, &record);
        if let Some(text) = text.filter(|text| seen.insert(text.clone())) {
            texts.push(text);
        }
        if texts.len() == MAX_QUERIES {
            break;
        }
    }
    texts
}

/// Returns a query of kind `index % 10` for a record; `None` if its texts are too short.
fn query(index: usize, record: &Map<String, Value>) -> Option<String> {
    let text = |member: &str| record.get(member).and_then(Value::as_str).unwrap_or_default();
    let words = |member: &str| -> Vec<String> {
        text(member).split_whitespace().filter(|word| word.chars().count() > 2).map(str::to_owned).collect()
    };
    let (name, studio, intro, city) = (words("name"), words("studio"), words("intro"), words("city"));
    let long = name.iter().chain(&intro).max_by_key(|word| word.chars().count())?;
    match index % 10 {
        0 => name.first().cloned(),
        1 => Some(format!("{} {}", name.first()?, name.last()?)),
        2 => Some(format!("{} {}", studio.first()?, name.last()?)),
        3 => Some(format!("{} {} {}", intro.first()?, intro.get(3)?, intro.last()?)),
        4 => Some(format!("\"{} {}\"", name.first()?, name.get(1)?)),
        5 => Some(long.chars().take(long.chars().count().saturating_sub(3).max(3)).collect()),
        6 => Some(with_typo(long, index)),
        7 => Some(format!("{} {}", city.first()?, text("category"))),
        8 => Some(ascii(city.first()?)),
        _ => Some(text("name").to_owned()),
    }
}

/// Swaps two adjacent letters.
fn with_typo(word: &str, index: usize) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() > 3 {
        let at = 1 + index % (letters.len() - 3);
        letters.swap(at, at + 1);
    }
    letters.into_iter().collect()
}

fn ascii(word: &str) -> String {
    schemas::slug::Slug::from_name(word).map(String::from).unwrap_or_default()
}

/// Encodes a text as the value of a parameter in a URL.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}
