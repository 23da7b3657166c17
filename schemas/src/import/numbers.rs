//! Keeps the text of numbers. A JSON number that is no integer of 64 bits is read as a floating-point number, which writes
//! `1e3` as `1000.0` and cuts long numbers; where a record means a text, the number is what the file says.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Parses JSON in which numbers may stand for texts: a number that a floating-point number would write in another way
/// becomes its text. The items of arrays, such as those of vectors, stay numbers.
///
/// # Errors
///
/// Returns an error if the text is not JSON.
pub fn parse_json(text: &str) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    keep_number_texts(text, &mut value)?;
    Ok(value)
}

/// Replaces the numbers in `value`, which was parsed from `text`, by their texts where they would lose them.
///
/// # Errors
///
/// Returns an error if the text is not JSON.
pub(super) fn keep_number_texts(text: &str, value: &mut Value) -> serde_json::Result<()> {
    match value {
        Value::Object(members) => keep_in_object(text, members),
        Value::Array(items) if items.iter().any(has_fraction_in_object) => {
            let texts: Vec<&RawValue> = serde_json::from_str(text)?;
            for (item, text) in items.iter_mut().zip(texts) {
                if !item.is_number() {
                    keep_number_texts(text.get(), item)?;
                }
            }
            Ok(())
        }
        Value::Number(number) if number.is_f64() && number.to_string() != text.trim() => {
            *value = text.trim().into();
            Ok(())
        }
        _ => Ok(()),
    }
}

fn keep_in_object(text: &str, members: &mut Map<String, Value>) -> serde_json::Result<()> {
    // Most objects have no such number, and are parsed once.
    if !members.values().any(|value| value.is_f64() || has_fraction_in_object(value)) {
        return Ok(());
    }
    let texts: HashMap<String, &RawValue> = serde_json::from_str(text)?;
    for (name, value) in members.iter_mut() {
        let Some(text) = texts.get(name) else { continue };
        // An id stays such a number, so that it is rejected: 7, 7.0 and 70e-1 are one number and three texts.
        if name != "id" || !text.get().contains(['.', 'e', 'E']) || !value.is_f64() {
            keep_number_texts(text.get(), value)?;
        }
    }
    Ok(())
}

/// Returns whether a member of an object in this value is a floating-point number.
fn has_fraction_in_object(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.values().any(|value| value.is_f64() || has_fraction_in_object(value))
        }
        Value::Array(items) => items.iter().any(has_fraction_in_object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_that_is_written_in_another_way_becomes_its_text() {
        let text = r#"{ "a": 1e3, "b" : 18446744073709551616, "c": 0.12345678901234567890, "d": 1.50, "e": -0,
            "same": [1.5, 7.0, 1984, -3, 18446744073709551615], "f": {"g": [{"h": 1E+2 }, 2.50]}, "i": [[{"j":2.0e0}]] }"#;
        assert_eq!(
            parse_json(text).unwrap(),
            json!({"a": "1e3", "b": "18446744073709551616", "c": "0.12345678901234567890", "d": "1.50", "e": "-0",
                "same": [1.5, 7.0, 1984, -3, 18_446_744_073_709_551_615_u64], "f": {"g": [{"h": "1E+2"}, 2.5]},
                "i": [[{"j": "2.0e0"}]]})
        );
        assert_eq!(parse_json(" 1e3 ").unwrap(), json!("1e3"));
        assert_eq!(parse_json(r#"{"a":7.0,"b":1.5}"#).unwrap(), json!({"a": 7.0, "b": 1.5}));
    }

    #[test]
    fn the_numbers_of_vectors_stay_numbers() {
        let text = r#"{"note":1e3,"vectors":{"visual":[1e-3,0.10,123456789012345678901]}}"#;
        let vectors = json!({"visual": [0.001, 0.1, 123_456_789_012_345_680_000.0]});
        assert_eq!(parse_json(text).unwrap(), json!({"note": "1e3", "vectors": vectors}));
    }

    #[test]
    fn only_a_whole_number_becomes_the_text_of_an_id() {
        let id = |number: &str| parse_json(&format!(r#"{{"id":{number}}}"#)).unwrap()["id"].clone();
        assert_eq!(id("123456789012345678901"), json!("123456789012345678901"));
        assert_eq!(id("7"), json!(7));
        for number in ["7.0", "7.00", "1e3", "123456789012345678901.5"] {
            assert!(id(number).is_f64(), "{number}");
        }
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", r#"{"a":01}"#, r#"{"a":1e999}"#, r#"{"a":1.}"#] {
            assert!(parse_json(text).is_err(), "{text}");
        }
    }
}
