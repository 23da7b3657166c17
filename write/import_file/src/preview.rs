//! A record as it will be, for people who read it before anything is written.

use serde_json::{Map, Value};

/// The most characters of a text that are shown.
const MAX_SHOWN: usize = 200;

/// Returns a line for each member of a record, named as the heading of a column would be: `taste.material`, `details.Date`,
/// `pictures.1.credit`.
pub fn record_lines(record: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in record {
        add(&mut lines, name, value);
    }
    lines
}

fn add(lines: &mut Vec<String>, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            members.iter().for_each(|(inner, value)| add(lines, &format!("{name}.{inner}"), value));
        }
        Value::Array(details) if name == "details" => {
            for detail in details {
                let label = detail["label"].as_str().unwrap_or_default();
                add(lines, &format!("{name}.{label}"), &detail["value"]);
            }
        }
        Value::Array(pictures) => {
            for (picture, number) in pictures.iter().zip(1..) {
                match picture {
                    Value::Object(members) => members.iter().for_each(|(inner, value)| {
                        let inner = if inner == "source" { String::new() } else { format!(".{inner}") };
                        add(lines, &format!("{name}.{number}{inner}"), value);
                    }),
                    other => add(lines, &format!("{name}.{number}"), other),
                }
            }
        }
        Value::String(text) => lines.push(format!("  {name}: {}", shown(text))),
        other => lines.push(format!("  {name}: {other}")),
    }
}

/// Returns a text on one line, or its beginning.
fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_named_as_columns() {
        let record = json!({
            "name": "A", "year": "1984", "taste": {"material": "oak"}, "intro": "one\ntwo",
            "details": [{"label": "Date", "value": "n.d."}],
            "pictures": [{"source": "a.jpg", "credit": "Ann B."}, {"source": "b.jpg"}],
            "description": "x".repeat(201),
        });
        assert_eq!(
            record_lines(record.as_object().unwrap()),
            [
                "  name: A".to_owned(),
                "  year: 1984".to_owned(),
                "  taste.material: oak".to_owned(),
                "  intro: one two".to_owned(),
                "  details.Date: n.d.".to_owned(),
                "  pictures.1: a.jpg".to_owned(),
                "  pictures.1.credit: Ann B.".to_owned(),
                "  pictures.2: b.jpg".to_owned(),
                format!("  description: {}…", "x".repeat(200)),
            ]
        );
    }
}
