//! Shortens a long record: an answer has it twice, and clients truncate answers of more than about 25,000 tokens.

use serde_json::{Map, Value};

/// The maximum size in bytes of a record that is not shortened.
pub(super) const LONGEST: usize = 16 << 10;
/// Maximum sizes in bytes of one text, tried in this order until the record is short enough.
const TEXTS: [usize; 4] = [8_000, 2_000, 500, 100];
/// The maximum number of details and images if shorter texts are not enough.
const ITEMS: usize = 20;

/// Returns the record with its longest texts cut; `None` if it has at most `longest` bytes or is not a record.
///
/// Name, introduction and URLs are not cut: lists of results refer to them.
pub(super) fn shortened(record: &[u8], longest: usize) -> Option<Vec<u8>> {
    if record.len() <= longest {
        return None;
    }
    let mut members: Map<String, Value> = serde_json::from_slice(record).ok()?;
    for most in TEXTS {
        texts(&mut members).for_each(|text| cut(text, most));
        let written = serde_json::to_vec(&members).ok()?;
        if written.len() <= longest {
            return Some(written);
        }
    }
    for name in ["details", "images"] {
        if let Some(items) = members.get_mut(name).and_then(Value::as_array_mut) {
            items.truncate(ITEMS);
        }
    }
    serde_json::to_vec(&members).ok()
}

/// The texts that may be cut.
fn texts(members: &mut Map<String, Value>) -> impl Iterator<Item = &mut String> {
    members.iter_mut().flat_map(|(name, value)| {
        let inner = match name.as_str() {
            "details" => "value",
            "images" => "alt",
            "provenance" => "note",
            "description" | "design_language" => "",
            _ => return Vec::new(),
        };
        let holders: Vec<&mut Value> = match value {
            Value::Array(items) => items.iter_mut().collect(),
            one => vec![one],
        };
        holders
            .into_iter()
            .filter_map(|holder| match if inner.is_empty() { Some(holder) } else { holder.get_mut(inner) } {
                Some(Value::String(text)) => Some(text),
                _ => None,
            })
            .collect()
    })
}

/// Cuts a text at a character.
fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(description: usize, details: usize, value: usize) -> Value {
        let detail = json!({"label": "Area", "value": "ü".repeat(value / 2)});
        json!({"slug": "a", "name": "n".repeat(1_000), "intro": "i".repeat(2_000), "description": "d".repeat(description),
            "details": vec![detail; details], "provenance": {"curated_by": "Ada", "note": null}, "revision": 1})
    }

    fn short(record: &Value) -> Option<Value> {
        let bytes = shortened(record.to_string().as_bytes(), LONGEST)?;
        assert!(bytes.len() <= LONGEST, "{}", bytes.len());
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn a_record_of_usual_size_is_unchanged() {
        assert_eq!(short(&record(10_000, 3, 100)), None);
    }

    #[test]
    fn the_longest_texts_are_cut_and_nothing_else() {
        let long = record(50_000, 3, 100);
        let mut wanted = long.clone();
        wanted["description"] = format!("{}…", "d".repeat(8_000)).into();
        assert_eq!(short(&long), Some(wanted));
    }

    #[test]
    fn however_long_a_record_is_it_stays_within_the_bound() {
        let found = short(&record(50_000, 100, 5_001)).unwrap();
        assert_eq!(found["details"].as_array().unwrap().len(), 100);
        assert_eq!(found["details"][0]["value"], format!("{}…", "ü".repeat(50)).as_str());
        let mut many = record(50_000, 100, 5_000);
        many["details"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|one| one["label"] = "l".repeat(200).into());
        let found = short(&many).unwrap();
        assert_eq!(
            (found["details"].as_array().unwrap().len(), found["intro"].as_str().unwrap().len()),
            (20, 2_000)
        );
    }
}
