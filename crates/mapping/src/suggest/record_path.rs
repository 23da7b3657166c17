//! Where the records of a JSON file are.

use serde_json::{Map, Value};

use super::words::words;

/// How deep lists of records are looked for.
const MAX_DEPTH: usize = 4;

/// Names of members that records have, and what wraps them does not.
const OF_RECORDS: [&str; 14] = [
    "title",
    "titles",
    "name",
    "titel",
    "titre",
    "titolo",
    "titulo",
    "description",
    "artist",
    "creator",
    "medium",
    "year",
    "dated",
    "architect",
];

/// Returns the path of the records of a JSON file by its beginning, which may be cut anywhere: `data` for a list within an object,
/// `[].object` for a member of each element. `None` where the file is a list of records, or one on each line.
///
/// ```
/// use mapping::suggest::record_path;
///
/// assert_eq!(record_path(r#"{"info": {"total": 2}, "data": [{"title": "A"}, {"title": "B"}]}"#).as_deref(), Some("data"));
/// assert_eq!(record_path(r#"[{"stat": "ok", "object": {"id": 1, "title": "A"}}, {"stat": "#).as_deref(), Some("[].object"));
/// assert_eq!(record_path(r#"[{"title": "A"}]"#), None);
/// ```
pub fn record_path(start: &str) -> Option<String> {
    let start = start.trim_start_matches('\u{feff}');
    let mut values = serde_json::Deserializer::from_str(start).into_iter::<Value>();
    let whole = values.next().and_then(Result::ok);
    let value = match whole {
        Some(value) => value,
        None => serde_json::from_str(&completed(start)?).ok()?,
    };
    match &value {
        Value::Array(elements) => Some(format!("[].{}", wrapped(elements)?)),
        Value::Object(members) if is_record(members) => None,
        Value::Object(members) => {
            let (path, elements) = lists(members, String::new(), 0)
                .into_iter()
                .max_by_key(|(path, elements)| (elements.len(), std::cmp::Reverse(path.len())))?;
            Some(match wrapped(elements) {
                Some(member) => format!("{path}[].{member}"),
                None => path,
            })
        }
        _ => None,
    }
}

fn is_record(members: &Map<String, Value>) -> bool {
    members.iter().any(|(name, value)| {
        !value.is_object()
            && !matches!(value, Value::Array(elements) if elements.iter().any(Value::is_object))
            && words(name).iter().any(|word| OF_RECORDS.contains(&word.as_str()))
    })
}

/// Returns the member that holds the record in every element.
fn wrapped(elements: &[Value]) -> Option<String> {
    let first = elements.first()?.as_object()?;
    if is_record(first) {
        return None;
    }
    let objects: Vec<(&String, &Map<String, Value>)> =
        first.iter().filter_map(|(name, value)| Some((name, value.as_object()?))).collect();
    let (name, _) = objects.into_iter().find(|(_, members)| is_record(members))?;
    let has = |element: &Value| element.get(name).is_some_and(Value::is_object);
    // The last element may be cut.
    (elements.iter().filter(|element| has(element)).count() + 1 >= elements.len() && !name.contains('.'))
        .then(|| name.clone())
}

fn lists(members: &Map<String, Value>, path: String, depth: usize) -> Vec<(String, &Vec<Value>)> {
    let mut found = Vec::new();
    for (name, value) in members.iter().filter(|(name, _)| !name.contains(['.', '['])) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Array(elements) if elements.iter().any(Value::is_object) => found.push((path, elements)),
            Value::Object(members) if depth < MAX_DEPTH => found.extend(lists(members, path, depth + 1)),
            _ => {}
        }
    }
    found
}

/// Returns the beginning of a JSON text up to its last whole member or element, with the brackets that close it.
fn completed(start: &str) -> Option<String> {
    let mut open = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    let mut last = None;
    for (at, byte) in start.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop();
            }
            b',' if !open.is_empty() => last = Some((at, open.clone())),
            _ => {}
        }
    }
    let (at, open) = last?;
    let closing: String = open.into_iter().rev().collect();
    Some(format!("{}{closing}", start.get(..at)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_leads_to_the_longest_list_of_records() {
        for (start, path) in [
            (
                r#"{"hits": {"total": 2, "hits": [{"_id": "a", "_source": {"title": "A"}}, {"_id": "b", "_source": {"#,
                Some("hits.hits[]._source"),
            ),
            (
                r#"{"facets": [{"name": "x"}], "artObjects": [{"title": "A"}, {"title": "B"}, {"tit"#,
                Some("artObjects"),
            ),
            ("{\"title\": \"A\", \"makers\": [{\"name\": \"B\"}]}\n{\"title\": \"C\"}", None),
            (r#"{"title": "a \" [ { b", "makers": [{"name": "B"}, {"na"#, None),
            (r#"[{"title": "A", "images": {"web": {"name": "x"}}}, {"#, None),
            ("", None),
            ("[", None),
            (r#"{"data": []}"#, None),
        ] {
            assert_eq!(record_path(start).as_deref(), path, "{start}");
        }
    }
}
