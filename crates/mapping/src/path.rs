//! Where a source record has a value: a column of a table, or a path into nested JSON such as `makers[0].name`,
//! `creators[].description` or `images.web.url`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

/// The maximum number of paths that are collected from records, to name one that is near.
const MAX_PATHS: usize = 2_000;

/// A column or a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Member(String),
    /// One element of a list, from 0.
    Element(usize),
    /// Every element of a list.
    Each,
}

/// A condition on the elements of the last list of a path: a member, and the texts of which it must be one, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) member: Path,
    pub(crate) texts: Vec<String>,
}

/// What a path leads to in one record.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found<'r> {
    /// One value for each element of its lists, so that parallel lists keep their order; `None` where an element has none.
    pub(crate) values: Vec<Option<&'r Value>>,
    /// Whether the record has the path, if only with null or an empty list.
    pub(crate) exists: bool,
}

/// Returns a heading as mappings name it: in NFC, without blanks around it.
pub fn column_name(heading: &str) -> String {
    heading.trim().trim_matches('\u{feff}').trim().nfc().collect()
}

/// Returns the record of a row: its cells by heading, as [`column_name`] returns them.
pub fn row(columns: &[String], cells: Vec<String>) -> Map<String, Value> {
    columns.iter().cloned().zip(cells.into_iter().map(Value::from)).collect()
}

impl Path {
    /// Every text is a path; one with brackets that are not an index is a heading such as `Size [m2]`.
    pub(crate) fn new(text: &str) -> Path {
        let text = column_name(text);
        let segments = text.split('.').flat_map(segments).collect();
        Path { text, segments }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the part up to the last list, which parallel paths have in common.
    pub(crate) fn list(&self) -> Option<&str> {
        self.text.rfind("[]").map(|at| &self.text[..at])
    }

    /// Returns the path with `[]` for elements by number and none at its end, as paths are collected from records.
    pub(crate) fn of_every_element(&self) -> String {
        let mut path = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Member(name) if path.is_empty() => path.push_str(name),
                Segment::Member(name) => path.extend([".", name]),
                Segment::Element(_) | Segment::Each => path.push_str("[]"),
            }
        }
        path.truncate(path.trim_end_matches("[]").len());
        path
    }

    /// Finds the values in a record. A column of exactly this name comes before a path.
    pub(crate) fn find<'r>(&self, record: &'r Map<String, Value>, conditions: &[Condition]) -> Found<'r> {
        let mut found = Found::default();
        if let Some(value) = record.get(&self.text) {
            found.exists = true;
            found.leaf(value);
        } else if let Some((Segment::Member(first), rest)) = self.segments.split_first() {
            match record.get(first) {
                Some(value) => found.walk(value, rest, conditions),
                None => found.values.push(None),
            }
        }
        found
    }
}

fn segments(part: &str) -> Vec<Segment> {
    let mut name = part;
    let mut indices = Vec::new();
    while let Some((before, index)) = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        match index {
            "" => indices.push(Segment::Each),
            _ => match index.parse() {
                Ok(index) => indices.push(Segment::Element(index)),
                Err(_) => break,
            },
        }
        name = before;
    }
    let mut segments = vec![Segment::Member(name.to_owned())];
    segments.extend(indices.into_iter().rev());
    segments
}

impl<'r> Found<'r> {
    fn walk(&mut self, value: &'r Value, segments: &[Segment], conditions: &[Condition]) {
        let Some((segment, rest)) = segments.split_first() else {
            self.exists = true;
            return self.leaf(value);
        };
        match segment {
            Segment::Member(name) => match value.get(name) {
                Some(value) => self.walk(value, rest, conditions),
                None => self.values.push(None),
            },
            Segment::Element(index) => match value.get(index) {
                Some(value) => self.walk(value, rest, conditions),
                None => self.values.push(None),
            },
            Segment::Each => {
                let Value::Array(elements) = value else { return };
                // An empty list says nothing about what its elements have.
                self.exists |= elements.is_empty();
                let is_last = !rest.contains(&Segment::Each);
                for element in elements {
                    if !is_last || conditions.iter().all(|condition| condition.holds(element)) {
                        self.walk(element, rest, conditions);
                    }
                }
            }
        }
    }

    /// Adds the value at the end of a path; a list there is one value for each element.
    fn leaf(&mut self, value: &'r Value) {
        match value {
            Value::Array(elements) => self.values.extend(elements.iter().map(Some)),
            other => self.values.push(Some(other)),
        }
    }
}

impl Condition {
    fn holds(&self, element: &Value) -> bool {
        let Value::Object(element) = element else { return false };
        let found = self.member.find(element, &[]);
        let mut texts = found.values.into_iter().flatten().filter_map(scalar);
        texts.any(|text| self.texts.contains(&text.trim().to_lowercase()))
    }
}

/// Returns the text of a value; `None` for null, lists and objects.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Adds the paths of a record, with `[]` for the elements of lists.
pub(crate) fn collect_paths(record: &Map<String, Value>, paths: &mut BTreeSet<String>) {
    for (name, value) in record {
        collect(name.clone(), value, paths);
    }
}

fn collect(path: String, value: &Value, paths: &mut BTreeSet<String>) {
    if paths.len() >= MAX_PATHS {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                collect(format!("{path}.{name}"), value, paths);
            }
        }
        Value::Array(elements) if elements.iter().any(Value::is_object) => {
            for element in elements {
                collect(format!("{path}[]"), element, paths);
            }
        }
        _ => {
            paths.insert(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(path: &str, record: &Value, conditions: &[Condition]) -> (Vec<Option<String>>, bool) {
        let found = Path::new(path).find(record.as_object().unwrap(), conditions);
        (found.values.iter().map(|value| value.and_then(scalar)).collect(), found.exists)
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn a_path_leads_into_objects_and_lists() {
        let record = json!({
            "Size [m2]": 12, "a.b": "heading", "a": {"b": "path", "c": null},
            "makers": [{"name": "A", "role": "after"}, {"name": "B"}, {"role": "x"}],
            "images": {"web": {"url": "u"}}, "culture": ["P", 7, null], "none": [],
        });
        let all = |path| texts(path, &record, &[]);
        assert_eq!(all("Size [m2]"), (some(&["12"]), true));
        assert_eq!(all("a.b"), (some(&["heading"]), true));
        assert_eq!(all("a.c"), (vec![None], true));
        assert_eq!(all("a.d"), (vec![None], false));
        assert_eq!(all("images.web.url"), (some(&["u"]), true));
        assert_eq!(all("makers[1].name"), (some(&["B"]), true));
        assert_eq!(all("makers[].name"), (vec![Some("A".into()), Some("B".into()), None], true));
        assert_eq!(all("makers[].role"), (vec![Some("after".into()), None, Some("x".into())], true));
        assert_eq!(all("culture"), (vec![Some("P".into()), Some("7".into()), None], true));
        assert_eq!(all("culture[]"), all("culture"));
        assert_eq!(all("none[].x"), (vec![], true));
        assert_eq!(all("makers[].person"), (vec![None, None, None], false));
    }

    #[test]
    fn conditions_keep_elements_of_the_last_list() {
        let record = json!({"places": [
            {"type": {"name": "Birthplace"}, "name": "A"}, {"type": {"name": "Creation Place "}, "name": "B"},
        ]});
        let condition = Condition { member: Path::new("type.name"), texts: vec!["creation place".into()] };
        assert_eq!(texts("places[].name", &record, &[condition]), (some(&["B"]), true));
    }

    #[test]
    fn the_paths_of_a_record_are_named_as_a_mapping_names_them() {
        let record = json!({"a": {"b": 1}, "list": ["x"], "makers": [{"person": "A"}, {"role": null}]});
        let mut paths = BTreeSet::new();
        collect_paths(record.as_object().unwrap(), &mut paths);
        assert_eq!(Vec::from_iter(paths), ["a.b", "list", "makers[].person", "makers[].role"]);
    }
}
