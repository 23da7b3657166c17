//! Parses a line of JSON strictly: a duplicate member of an object is a fault, and so is a text with U+FFFD. Numbers keep
//! their texts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::numbers::keep_number_texts;
use super::{Fault, line_fault};

/// Parses the members of one object.
pub(super) fn members(text: &str) -> Result<Map<String, Value>, Vec<Fault>> {
    let mut value = Value::Null;
    let parsed = serde_json::from_str(text).and_then(|Strict(parsed)| {
        value = parsed;
        keep_number_texts(text, &mut value)
    });
    let members = match (parsed, value) {
        (Ok(()), Value::Object(members)) => members,
        (Ok(()), _) => {
            return Err(vec![line_fault("is JSON but not an object; a record is one JSON object a line")]);
        }
        (Err(error), _) if error.is_data() => {
            let message = error.to_string();
            let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
            return Err(vec![line_fault(reason)]);
        }
        (Err(error), _) => return Err(vec![line_fault(syntax_reason(&error))]),
    };
    // Most lines contain no U+FFFD, literal or escaped, and need no search.
    if text.contains(REPLACEMENT) || text.contains("\\u") {
        let faults = lost_characters(&members);
        if !faults.is_empty() {
            return Err(faults);
        }
    }
    Ok(members)
}

fn syntax_reason(error: &serde_json::Error) -> String {
    if error.to_string().starts_with("number out of range") {
        let column = error.column();
        return format!(
            "has a number that is too large, which ends at column {column}; write it as a text, in quotes"
        );
    }
    format!("is not JSON: {error}")
}

/// The character that decoders put in the place of undecodable bytes.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Returns a fault for each text with U+FFFD: an earlier program read it in a wrong encoding, and a character is lost.
pub fn lost_characters(members: &Map<String, Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, value) in members {
        find_lost(name.clone(), value, &mut faults);
    }
    faults
}

fn find_lost(path: String, value: &Value, faults: &mut Vec<Fault>) {
    match value {
        Value::String(text) => {
            if let Some(at) = text.chars().position(|c| c == REPLACEMENT) {
                let reason = format!(
                    "has U+FFFD at character {}, which replaces a lost character; export the file again in the right \
                     encoding",
                    at + 1
                );
                faults.push(Fault { field: path, reason });
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_lost(format!("{path}[{index}]"), item, faults);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                find_lost(format!("{path}.{name}"), value, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A JSON value whose objects have no duplicate members.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(Values).map(Strict)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if values.contains_key(&name) {
                return Err(Error::custom(format!("has the member “{name}” twice; leave one out")));
            }
            let Strict(value) = members.next_value()?;
            values.insert(name, value);
        }
        Ok(values.into())
    }
}
