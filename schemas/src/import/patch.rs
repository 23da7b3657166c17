//! Import lines that change a part of a record: given fields change, null removes a field, the others stay.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::fields::Fields;
use super::{Fault, ImportRecord, MAX_LINE_BYTES, json, length_fault, line_fault, parse_members};
use crate::record::PictureSource;
use crate::taste::Dimension;
use crate::text::canonical;

/// The fields that identify the project of a line without slug and id.
const IDENTITY: [&str; 4] = ["name", "studio", "year", "city"];

/// Parses a line with a part of a record. Returns the fields that identify the project, as a record with nothing else,
/// and the members of the line.
///
/// # Errors
///
/// Returns all faults of the identifying fields.
pub fn parse_part(text: &str) -> Result<(ImportRecord, Map<String, Value>), Vec<Fault>> {
    if text.len() > MAX_LINE_BYTES {
        return Err(vec![length_fault(text)]);
    }
    let mut members = json::members(text)?;
    // Null, or an empty cell of a spreadsheet, counts as absent.
    let is_blank =
        |value: &Value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
    for name in ["slug", "id", "source", "vectors", "vector_model"] {
        if members.get(name).is_some_and(is_blank) {
            members.shift_remove(name);
        }
    }
    let mut key: Map<String, Value> = [("category".to_owned(), "art".into())].into_iter().collect();
    let named: Vec<&str> = ["slug", "id"].into_iter().filter(|name| members.contains_key(*name)).collect();
    if named.is_empty() {
        if members.get("name").is_none_or(is_blank) {
            return Err(vec![line_fault(
                "says no slug, id or name; one of them tells which project is meant",
            )]);
        }
        key.extend(
            IDENTITY.iter().filter_map(|name| Some(((*name).to_owned(), members.get(*name)?.clone()))),
        );
    } else {
        key.insert("name".to_owned(), "-".into());
        key.extend(named.iter().filter_map(|name| Some(((*name).to_owned(), members.get(*name)?.clone()))));
    }
    key.extend(members.get("source").map(|source| ("source".to_owned(), source.clone())));
    parse_members(key, false).map(|key| (key, members))
}

/// Merges changes by label or number into a list; faults of the changes are appended.
type MergeList = fn(Vec<Value>, Map<String, Value>, &mut Vec<Fault>) -> Vec<Value>;

/// Applies a JSON merge patch (RFC 7396) to the fields of an import record: null removes a field; `taste` and
/// `provenance` are merged. `details` may be an object of values by label, and `pictures` an object of pictures by
/// number, from 1, where `all` removes the pictures that are not named.
pub fn patched(
    mut members: Map<String, Value>,
    mut patch: Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Fault>> {
    let mut faults = Vec::new();
    let lists: [(&str, MergeList); 2] = [("details", merge_details), ("pictures", merge_pictures)];
    for (name, merge) in lists {
        if let Some(Value::Object(given)) = patch.get_mut(name) {
            let given = std::mem::take(given);
            let known = match members.get(name) {
                Some(Value::Array(known)) => known.clone(),
                _ => Vec::new(),
            };
            patch.insert(name.to_owned(), merge(known, given, &mut faults).into());
        }
    }
    merge(&mut members, with_nested_taste(patch));
    if faults.is_empty() { Ok(members) } else { Err(faults) }
}

/// A picture that a line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPicture {
    /// The picture as it is recorded.
    pub picture: PictureSource,
    /// Its source as the line has it. The record has the canonical form, and the name of a file may be another spelling.
    pub written: String,
}

/// Returns the pictures that the members of a line name, in whole or in part; none if they are invalid.
pub fn named_pictures(mut line: Map<String, Value>) -> Vec<WrittenPicture> {
    if let Some(Value::Object(numbered)) = line.get_mut("pictures") {
        let named = std::mem::take(numbered).into_iter().map(|(_, picture)| picture);
        let named: Vec<Value> =
            named.filter(|picture| picture.get("source").is_some_and(Value::is_string)).collect();
        line.insert("pictures".to_owned(), named.into());
    }
    let mut written = HashMap::new();
    for item in line.get("pictures").and_then(Value::as_array).into_iter().flatten() {
        let member = || ["source", "path", "url"].into_iter().find_map(|name| item.get(name)?.as_str());
        if let Some(source) = item.as_str().or_else(member) {
            // Of a picture that is named twice, the first spelling counts.
            written.entry(canonical(source).into_owned()).or_insert_with(|| source.to_owned());
        }
    }
    let pictures = Fields::new(line).pictures("pictures").into_iter();
    let with_written = |picture: PictureSource| {
        let written = written.remove(&picture.source).unwrap_or_else(|| picture.source.clone());
        WrittenPicture { picture, written }
    };
    pictures.map(with_written).collect()
}

/// Moves taste dimensions from the top level of a patch into `taste`, where the record has them. A dimension given at both
/// places stays at both: the parser reports it as a fault.
fn with_nested_taste(mut changes: Map<String, Value>) -> Map<String, Value> {
    if changes.get("taste").is_some_and(|taste| !taste.is_object()) {
        return changes;
    }
    for dimension in Dimension::ALL.map(Dimension::as_str) {
        let nested = changes.get("taste").and_then(|taste| taste.get(dimension));
        if nested.is_none()
            && let Some(value) = changes.shift_remove(dimension)
            && let Value::Object(taste) = changes.entry("taste").or_insert_with(|| Map::new().into())
        {
            taste.insert(dimension.to_owned(), value);
        }
    }
    changes
}

/// Applies a merge patch to an object (RFC 7396, section 2).
fn merge(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, change) in patch {
        match change {
            Value::Null => {
                target.shift_remove(&name);
            }
            Value::Object(change) => {
                let inner = target.entry(name).or_insert(Value::Null);
                if !inner.is_object() {
                    *inner = Map::new().into();
                }
                if let Value::Object(inner) = inner {
                    merge(inner, change);
                }
            }
            other => {
                target.insert(name, other);
            }
        }
    }
}

/// Sets details by their labels; null removes one. Labels are compared in their canonical form.
fn merge_details(mut known: Vec<Value>, given: Map<String, Value>, faults: &mut Vec<Fault>) -> Vec<Value> {
    let mut labels = BTreeSet::new();
    for (label, value) in given {
        let label = canonical(&label).into_owned();
        if !labels.insert(label.clone()) {
            faults.push(Fault { field: format!("details.{label}"), reason: TWICE.to_owned() });
            continue;
        }
        let is_it = |detail: &Value| {
            detail.get("label").and_then(Value::as_str).is_some_and(|known| canonical(known) == label)
        };
        if value.is_null() {
            known.retain(|detail| !is_it(detail));
            continue;
        }
        match known.iter_mut().find(|detail| is_it(detail)) {
            Some(Value::Object(detail)) => {
                detail.insert("value".to_owned(), value);
            }
            _ => known.push(serde_json::json!({"label": label, "value": value})),
        }
    }
    known
}

/// Why a label or a number of a patch is a fault that another one of it equals.
const TWICE: &str = "is given twice, perhaps in two spellings that look the same; leave one out";

/// Sets pictures by their numbers. A picture that is named again keeps the fields that are not given.
fn merge_pictures(known: Vec<Value>, mut given: Map<String, Value>, faults: &mut Vec<Fault>) -> Vec<Value> {
    let is_all = given.shift_remove("all") == Some(Value::Bool(true));
    let mut numbered = BTreeMap::new();
    for (number, picture) in given {
        match (number.parse::<usize>(), picture) {
            (Ok(number @ 1..), Value::Object(picture)) => {
                if numbered.insert(number, picture).is_some() {
                    faults.push(Fault { field: format!("pictures.{number}"), reason: TWICE.to_owned() });
                }
            }
            _ => faults.push(Fault {
                field: format!("pictures.{number}"),
                reason: "is not a picture; pictures.1 is the source of the first, pictures.1.alt, .credit and .rights its texts"
                    .to_owned(),
            }),
        }
    }
    let mut pictures: Vec<Option<Value>> =
        if is_all { Vec::new() } else { known.iter().cloned().map(Some).collect() };
    for (number, given) in numbered {
        let source = given.get("source").cloned();
        let is_next = number == pictures.len() + 1;
        match (pictures.get_mut(number - 1), source) {
            (Some(slot), Some(Value::Null)) => *slot = None,
            (Some(Some(Value::Object(picture))), source)
                if source.as_ref().is_none_or(|source| has_source(picture, source)) =>
            {
                merge(picture, given);
            }
            (Some(slot), Some(source)) => *slot = Some(patched_picture(&known, &source, given)),
            (None, Some(source @ Value::String(_))) if is_next => {
                pictures.push(Some(patched_picture(&known, &source, given)));
            }
            (None, _) if given.values().all(Value::is_null) => {}
            _ => faults.push(Fault {
                field: format!("pictures.{number}"),
                reason: "names a picture that the record does not have; give its source too, in the order of the pictures"
                    .to_owned(),
            }),
        }
    }
    pictures.into_iter().flatten().collect()
}

/// Returns a picture with the given fields; the others are those of the recorded picture of this source.
fn patched_picture(known: &[Value], source: &Value, given: Map<String, Value>) -> Value {
    let same = known.iter().filter_map(Value::as_object).find(|picture| has_source(picture, source));
    let mut picture = same.cloned().unwrap_or_default();
    merge(&mut picture, given);
    picture.into()
}

/// Returns whether a picture has this source, which may be written in another spelling.
fn has_source(picture: &Map<String, Value>, source: &Value) -> bool {
    match (picture.get("source"), source) {
        (Some(Value::String(known)), Value::String(given)) => canonical(known) == canonical(given),
        (known, given) => known == Some(given),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn pictures(patch: Value) -> Result<Value, Vec<String>> {
        let known = json!({"pictures": [{"source": "a.jpg", "alt": "A"}, {"source": "b.jpg", "alt": "B"}]});
        let patched = patched(object(known), object(json!({ "pictures": patch })));
        let fields = |faults: Vec<Fault>| faults.into_iter().map(|fault| fault.field).collect();
        patched.map(|members| members["pictures"].clone()).map_err(fields)
    }

    #[test]
    fn a_patch_is_applied_as_in_rfc_7396() {
        for (target, patch, result) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({"a": "foo"}), json!({"b": {"c": null}}), json!({"a": "foo", "b": {}})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let (Value::Object(mut merged), Value::Object(patch)) = (target, patch) else { unreachable!() };
            merge(&mut merged, patch);
            assert_eq!(Value::Object(merged), result);
        }
    }

    #[test]
    fn pictures_are_set_by_their_numbers() {
        let (a, b) = (json!({"source": "a.jpg", "alt": "A"}), json!({"source": "b.jpg", "alt": "B"}));
        assert_eq!(pictures(json!({"1": {"alt": "X"}})), Ok(json!([{"source": "a.jpg", "alt": "X"}, b])));
        let credited = json!({"source": "a.jpg", "alt": "A", "credit": "Photo: C"});
        assert_eq!(pictures(json!({"1": {"credit": "Photo: C"}})), Ok(json!([credited, b])));
        assert_eq!(pictures(json!({"1": {"source": null, "alt": null}})), Ok(json!([b])));
        assert_eq!(pictures(json!({"1": {"source": "b.jpg"}, "all": true})), Ok(json!([b])), "with its alt");
        assert_eq!(pictures(json!({"all": true})), Ok(json!([])));
        assert_eq!(pictures(json!({"3": {"source": "c.jpg"}})), Ok(json!([a, b, {"source": "c.jpg"}])));
        assert_eq!(pictures(json!({"1": {"source": "c.jpg"}})), Ok(json!([{"source": "c.jpg"}, b])));
        assert_eq!(pictures(json!({"3": {"source": null}, "9": {"alt": null}})), Ok(json!([a, b])));
        assert_eq!(pictures(json!(["c.jpg"])), Ok(json!(["c.jpg"])), "an array is the whole");
        for faulty in [
            json!({"3": {"alt": "C"}}),
            json!({"4": {"source": "d"}}),
            json!({"x": {"source": "d"}}),
            json!({"1": "d"}),
        ] {
            assert_eq!(pictures(faulty).unwrap_err().len(), 1);
        }
    }

    #[test]
    fn details_are_set_by_their_labels() {
        let known = json!({"details": [{"label": "Area", "value": "1"}, {"label": "Client", "value": "x"}]});
        let patch = json!({"details": {"Area": null, "Client": "y", "Floors": "2"}, "light": "dusk", "taste": {"mood": "calm"}});
        assert_eq!(
            Value::Object(patched(object(known), object(patch)).unwrap()),
            json!({"details": [{"label": "Client", "value": "y"}, {"label": "Floors", "value": "2"}], "taste": {"mood": "calm", "light": "dusk"}})
        );
    }

    #[test]
    fn another_spelling_of_a_label_is_the_same_label() {
        let known = json!([{"label": "Fl\u{e4}che", "value": "1"}, {"label": "Client", "value": "x"}]);
        let details = |patch: Value| {
            let members = object(json!({ "details": known }));
            patched(members, object(json!({ "details": patch }))).map(|members| members["details"].clone())
        };
        for label in ["Fl\u{e4}che", "Fla\u{308}che", "Fl\u{e4}che ", "\u{a0}Fla\u{308}che\r\n"] {
            let second = json!([{"label": "Fl\u{e4}che", "value": "2"}, {"label": "Client", "value": "x"}]);
            assert_eq!(details(json!({ label: "2" })), Ok(second), "{label:?}");
            let without = json!([{"label": "Client", "value": "x"}]);
            assert_eq!(details(json!({ label: null })), Ok(without), "{label:?}");
        }
        let twice = details(json!({"Fl\u{e4}che": "2", "Fla\u{308}che": "3"})).unwrap_err();
        let field = "details.Fl\u{e4}che".to_owned();
        assert_eq!(twice, [Fault { field, reason: TWICE.to_owned() }]);
    }

    #[test]
    fn another_spelling_of_a_source_is_the_same_picture() {
        let known = json!({"pictures": [{"source": "Tu\u{308}r.jpg", "alt": "A door"}, {"source": "b.jpg", "alt": "B"}]});
        for given in ["T\u{fc}r.jpg", "Tu\u{308}r.jpg", " T\u{fc}r.jpg "] {
            for (patch, expected) in [
                (
                    json!({"1": {"source": given}}),
                    json!([{"source": given, "alt": "A door"}, {"source": "b.jpg", "alt": "B"}]),
                ),
                (json!({"1": {"source": given}, "all": true}), json!([{"source": given, "alt": "A door"}])),
                (
                    json!({"1": {"source": "b.jpg"}, "2": {"source": given}, "all": true}),
                    json!([{"source": "b.jpg", "alt": "B"}, {"source": given, "alt": "A door"}]),
                ),
            ] {
                let members = patched(object(known.clone()), object(json!({ "pictures": patch }))).unwrap();
                assert_eq!(members["pictures"], expected, "{given:?}");
            }
        }
        assert_eq!(
            pictures(json!({"1": {"alt": "X"}, "01": {"alt": "Y"}})),
            Err(vec!["pictures.1".to_owned()])
        );
    }

    #[test]
    fn a_partial_record_identifies_its_project() {
        let key = |text: &str| {
            parse_part(text).map(|(key, _)| (key.slug.to_string(), key.record.name, key.record.studio))
        };
        assert_eq!(key(r#"{"slug":"a","year":"x"}"#), Ok(("a".into(), "-".into(), None)));
        assert_eq!(key(r#"{"slug":null,"id":7,"name":null}"#), Ok(("7".into(), "-".into(), None)));
        assert_eq!(
            key(r#"{"slug":" ","name":"B","studio":"S","intro":null}"#),
            Ok(("b".into(), "B".into(), Some("S".into())))
        );
        let reason = "says no slug, id or name; one of them tells which project is meant";
        assert_eq!(key(r#"{"city":"Ulm"}"#), Err(vec![line_fault(reason)]));
        assert_eq!(key(r#"{"name":"B","year":"x"}"#).unwrap_err()[0].field, "year");
    }

    #[test]
    fn the_pictures_that_a_line_names_are_found() {
        let sources = |text: &str| {
            let named = named_pictures(serde_json::from_str(text).unwrap());
            named.into_iter().map(|named| named.picture.source).collect::<Vec<_>>()
        };
        assert_eq!(sources(r#"{"pictures":["a.jpg",{"path":"b.jpg"}]}"#), ["a.jpg", "b.jpg"]);
        assert_eq!(sources(r#"{"pictures":{"1":{"source":"a.jpg"},"2":{"alt":"B"},"all":true}}"#), ["a.jpg"]);
        assert_eq!(sources(r#"{"slug":"a"}"#), [""; 0]);
    }

    #[test]
    fn a_picture_keeps_its_source_as_it_is_written() {
        let composed = "T\u{fc}r.jpg";
        for written in ["T\u{fc}r.jpg", "Tu\u{308}r.jpg", " Tu\u{308}r.jpg"] {
            for pictures in [
                json!([written, composed]),
                json!([{"path": written}]),
                json!({"1": {"source": written}, "2": {"alt": "B"}}),
            ] {
                let named = named_pictures(object(json!({ "pictures": pictures })));
                let expected =
                    WrittenPicture { picture: PictureSource::of(composed), written: written.into() };
                assert_eq!(named, [expected]);
            }
        }
    }
}
