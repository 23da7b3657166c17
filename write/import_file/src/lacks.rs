//! What a record does not have that visitors look for.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// What a record does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lacks {
    /// A picture.
    pub picture: bool,
    /// A city.
    pub city: bool,
    /// A year.
    pub year: bool,
    /// An intro or a description.
    pub text: bool,
}

/// The members that are looked for; the rest of a record is not kept.
#[derive(Deserialize)]
struct Looked {
    city: Option<IgnoredAny>,
    year: Option<IgnoredAny>,
    intro: Option<IgnoredAny>,
    description: Option<IgnoredAny>,
}

impl Lacks {
    /// Returns what the members of a line do not have.
    pub(crate) fn of(members: &Map<String, Value>) -> Lacks {
        let has = |name: &str| members.get(name).is_some_and(|value| !is_blank(value));
        Lacks {
            picture: !has("pictures"),
            city: !has("city"),
            year: !has("year"),
            text: !has("intro") && !has("description"),
        }
    }

    /// Returns what a text without pictures does not have. One that is no record has nothing.
    pub(crate) fn of_text(text: &str) -> Lacks {
        match serde_json::from_str(text) {
            Ok(Looked { city, year, intro, description }) => Lacks {
                picture: true,
                city: city.is_none(),
                year: year.is_none(),
                text: intro.is_none() && description.is_none(),
            },
            Err(_) => Lacks { picture: true, city: true, year: true, text: true },
        }
    }
}

/// Returns whether nothing is recorded for a value: in an object of pictures by number, that none has a source.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(numbered) => {
            let has_source = |picture: &Value| picture.get("source").is_some_and(|source| !is_blank(source));
            !numbered.values().any(has_source)
        }
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> [bool; 4] {
        let Lacks { picture, city, year, text } = Lacks::of(value.as_object().unwrap());
        [picture, city, year, text]
    }

    #[test]
    fn blank_and_null_are_nothing() {
        assert_eq!(of(json!({"city": "Ulm", "year": 1984, "intro": "A", "pictures": ["a.jpg"]})), [false; 4]);
        assert_eq!(of(json!({"city": " ", "year": null, "description": "", "pictures": []})), [true; 4]);
        let numbered = json!({"1": {"source": null, "alt": "A"}, "all": true});
        assert_eq!(of(json!({"description": "A", "pictures": numbered})), [true, true, true, false]);
        assert!(!of(json!({"pictures": {"2": {"source": "a.jpg"}}}))[0]);
    }

    #[test]
    fn a_text_is_looked_through_without_being_kept() {
        let text = r#"{"name":"A","city":"Ulm","year":1984,"taste":{"city":1},"description":null}"#;
        let expected = Lacks { picture: true, city: false, year: false, text: true };
        assert_eq!(Lacks::of_text(text), expected);
        let nothing = Lacks { picture: true, city: true, year: true, text: true };
        assert_eq!(Lacks::of_text("{"), nothing);
    }
}
