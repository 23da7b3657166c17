//! The record of a line, parsed at most once before it is sent: to repair its texts, to take out pictures that cannot be used, and to
//! find the picture files that it names.

use record_files::windows_1252;
use schemas::import::{WrittenPicture, named_pictures, parse_json};
use serde_json::{Map, Value};

use crate::lacks::Lacks;
use crate::unusable_pictures::{RefusedPicture, take_out};

/// A record as it is in the file.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// A text, which the write side parses and validates.
    Text(String),
    /// The members from the cells of a row, or those of a record that was rejected before.
    Members(Map<String, Value>),
}

/// A record that is ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) text: String,
    /// The pictures that it names as files, not as URLs.
    pub(crate) files: Vec<WrittenPicture>,
    /// The number of characters that were repaired.
    pub(crate) repaired: u64,
    /// The pictures that were taken out.
    pub(crate) refused: Vec<RefusedPicture>,
    pub(crate) lacks: Lacks,
}

impl Content {
    /// Takes out the pictures that cannot be used, and finds the picture files of the record. With `repairs` it also replaces the control
    /// characters U+0080 to U+009F by the characters of those bytes in Windows-1252: texts have them if Windows-1252 was read as
    /// Latin-1. A text that is not JSON stays as it is.
    pub(crate) fn prepare(self, repairs: bool) -> Prepared {
        let (text, mut value) = match self {
            Content::Members(members) => (None, Value::Object(members)),
            Content::Text(text) => {
                // Most texts need neither and are not kept as a value.
                let is_needed = text.contains("\"pictures\"") || (repairs && may_need_repair(&text));
                match is_needed.then(|| parse_json(&text)) {
                    Some(Ok(value)) => (Some(text), value),
                    Some(Err(_)) | None => {
                        let lacks = Lacks::of_text(&text);
                        return Prepared { text, files: Vec::new(), repaired: 0, refused: Vec::new(), lacks };
                    }
                }
            }
        };
        let repaired = if repairs { repair(&mut value) } else { 0 };
        let (refused, has_changed) = value.as_object_mut().map(take_out).unwrap_or_default();
        let lacks = value.as_object().map(Lacks::of).unwrap_or_default();
        let text = text.filter(|_| repaired == 0 && !has_changed).unwrap_or_else(|| value.to_string());
        let mut files = match value {
            Value::Object(members) if members.contains_key("pictures") => named_pictures(members),
            _ => Vec::new(),
        };
        files.retain(|named| named.picture.is_file());
        Prepared { text, files, repaired, refused, lacks }
    }
}

/// Returns whether a text may have such control characters, written out or escaped.
fn may_need_repair(text: &str) -> bool {
    text.contains(|character| matches!(character, '\u{80}'..='\u{9f}')) || text.contains("\\u00")
}

/// Repairs every text in a value, and returns the number of characters that were replaced.
fn repair(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => {
            let mut repaired = 0;
            let replace = |character: char| {
                let right = u8::try_from(character).map_or(character, windows_1252);
                repaired += u64::from(right != character);
                right
            };
            *text = text.chars().map(replace).collect();
            repaired
        }
        Value::Array(values) => values.iter_mut().map(repair).sum(),
        Value::Object(members) => members.values_mut().map(repair).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests;
