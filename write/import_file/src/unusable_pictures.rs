//! The pictures of a record that cannot be recorded. They are taken out of it, so that they do not reject it.

use mapping::picture_source;
use serde_json::{Map, Value};

/// The maximum number of pictures of a record.
const MAX_PICTURES: usize = 100;

/// The maximum length of a picture's source, in characters.
const MAX_SOURCE: usize = 2_000;

/// A picture that is left out of its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPicture {
    /// Its source, as the file has it.
    pub source: String,
    /// What is wrong, to complete “the picture …”.
    pub reason: String,
}

/// What becomes of a picture.
enum Verdict {
    Stays,
    HasSource(String),
    Refused(String),
}

/// Takes out of a record the pictures that the write side would reject it for, and writes `https://` for `http://`. Returns what it took
/// out, and whether it changed anything.
pub(crate) fn take_out(members: &mut Map<String, Value>) -> (Vec<RefusedPicture>, bool) {
    let (mut refused, mut has_changed) = (Vec::new(), false);
    let mut keep = |picture: &mut Value| {
        let Some(source) = source_of(picture) else { return true };
        match verdict(source) {
            Verdict::Stays => true,
            Verdict::HasSource(changed) => {
                *source = changed;
                has_changed = true;
                true
            }
            Verdict::Refused(reason) => {
                refused.push(RefusedPicture { source: source.clone(), reason });
                false
            }
        }
    };
    match members.get_mut("pictures") {
        Some(Value::Array(pictures)) => {
            pictures.retain_mut(&mut keep);
            for mut picture in pictures.drain(pictures.len().min(MAX_PICTURES)..) {
                let source = source_of(&mut picture).cloned().unwrap_or_default();
                let reason = "is the 101st or a later one; a record has at most 100".to_owned();
                refused.push(RefusedPicture { source, reason });
            }
        }
        Some(Value::Object(numbered)) => numbered.retain(|_, picture| keep(picture)),
        _ => {}
    }
    let has_changed = has_changed || !refused.is_empty();
    (refused, has_changed)
}

/// Returns the source of a picture, which is a text or has it as a member.
fn source_of(picture: &mut Value) -> Option<&mut String> {
    match picture {
        Value::String(source) => Some(source),
        Value::Object(members) => {
            let name = ["source", "path", "url"].into_iter().find(|name| members.contains_key(*name))?;
            match members.get_mut(name) {
                Some(Value::String(source)) => Some(source),
                _ => None,
            }
        }
        _ => None,
    }
}

fn verdict(source: &str) -> Verdict {
    let trimmed = source.trim();
    if is_recordable(trimmed) {
        return Verdict::Stays;
    }
    match picture_source(trimmed).map(with_small_scheme) {
        Ok(source) if is_recordable(&source) => Verdict::HasSource(source),
        Ok(_) => {
            Verdict::Refused("is neither an https address nor a path below the folder of the file".to_owned())
        }
        Err(reason) => Verdict::Refused(reason.to_owned()),
    }
}

/// Returns whether the write side takes a source.
fn is_recordable(source: &str) -> bool {
    let is_url = source.contains("://");
    let escapes = source.starts_with('/') || source.split(['/', '\\']).any(|part| part == "..");
    let is_there = if is_url { source.starts_with("https://") } else { !escapes };
    is_there && source.chars().count() <= MAX_SOURCE
}

fn with_small_scheme(source: String) -> String {
    match source.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => format!("https://{rest}"),
        _ => source,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken_out(pictures: Value) -> (Value, Vec<String>, bool) {
        let Value::Object(mut members) = json!({ "pictures": pictures }) else { unreachable!() };
        let (refused, has_changed) = take_out(&mut members);
        let refused = refused.into_iter().map(|picture| format!("{} {}", picture.source, picture.reason));
        (members["pictures"].take(), refused.collect(), has_changed)
    }

    #[test]
    fn what_can_be_recorded_stays_as_it_is() {
        for pictures in [
            json!(["a.jpg", "https://a.example/x 1.jpg", {"path": "b/c.jpg", "alt": "A"}, 7, null]),
            json!({"1": {"source": "a.jpg"}, "2": {"alt": "B"}, "3": {"source": null}, "all": true}),
            json!(null),
        ] {
            assert_eq!(taken_out(pictures.clone()), (pictures, Vec::new(), false));
        }
    }

    #[test]
    fn http_becomes_https() {
        let pictures = json!([" http://a.example/a.jpg", {"source": "HTTPS://a.example/b.jpg", "alt": "B"}]);
        let changed = json!(["https://a.example/a.jpg", {"source": "https://a.example/b.jpg", "alt": "B"}]);
        assert_eq!(taken_out(pictures), (changed, Vec::new(), true));
        let numbered = json!({"1": {"source": "http://a.example/a.jpg"}, "all": true});
        let changed = json!({"1": {"source": "https://a.example/a.jpg"}, "all": true});
        assert_eq!(taken_out(numbered), (changed, Vec::new(), true));
    }

    #[test]
    fn what_cannot_be_recorded_is_taken_out_with_its_reason() {
        let elsewhere =
            "is not below the folder of the file; copy it there, and name it relative to that folder";
        let neither = "is neither an https address nor a path below the folder of the file";
        let pictures =
            json!(["/a.jpg", "a.jpg", {"url": "ftp://a.example/b.jpg"}, "../c.jpg", "view://d.jpg"]);
        let refused = [
            format!("/a.jpg {elsewhere}"),
            format!("ftp://a.example/b.jpg {neither}"),
            format!("../c.jpg {elsewhere}"),
            format!("view://d.jpg {neither}"),
        ];
        assert_eq!(taken_out(pictures), (json!(["a.jpg"]), refused.to_vec(), true));
        let numbered = json!({"1": {"source": "/a.jpg", "alt": "A"}, "2": {"source": "b.jpg"}});
        let refused = vec![format!("/a.jpg {elsewhere}")];
        assert_eq!(taken_out(numbered), (json!({"2": {"source": "b.jpg"}}), refused, true));
        let many: Vec<String> = (1..=102).map(|number| format!("{number}.jpg")).collect();
        let (pictures, refused, _) = taken_out(json!(many));
        assert_eq!((pictures.as_array().unwrap().len(), refused.len()), (100, 2));
        assert_eq!(refused[0], "101.jpg is the 101st or a later one; a record has at most 100");
    }
}
