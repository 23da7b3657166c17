//! The file of rejected lines: one JSON object a line, which can be imported again, corrected or not.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemas::command::LineForm;
use schemas::import::{Fault, parse_json};
use schemas::record::PictureSource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content;

/// A line of the file of rejected lines.
#[derive(Debug, Serialize)]
pub struct Reject<'a> {
    /// The number of the line or record in the imported file.
    pub line: u64,
    /// Where it is, if not just in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<&'a str>,
    /// Why it is rejected.
    pub faults: &'a [Fault],
    /// Its text, or the record of which the mapping made none.
    pub record: &'a str,
    /// How much of a record it is; absent for a whole record.
    #[serde(skip_serializing_if = "is_whole_record")]
    pub form: LineForm,
    /// Whether the record has the columns of its source, and needs the mapping again.
    #[serde(skip_serializing_if = "is_false")]
    pub unmapped: bool,
    /// Its pictures whose files do not exist, as in [`ImportLine`](schemas::command::ImportLine).
    #[serde(skip_serializing_if = "<[PictureSource]>::is_empty")]
    pub absent_pictures: &'a [PictureSource],
}

fn is_whole_record(form: &LineForm) -> bool {
    *form == LineForm::Record
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Such a line, as it is read. Its record is the rejected text, or an object that replaced it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadReject {
    #[serde(rename = "line")]
    _line: u64,
    #[serde(default, rename = "place")]
    _place: Option<String>,
    #[serde(rename = "faults")]
    _faults: Vec<Fault>,
    record: Value,
    #[serde(default)]
    form: Option<LineForm>,
    #[serde(default)]
    unmapped: bool,
    #[serde(default)]
    absent_pictures: Vec<PictureSource>,
}

/// The record of a line that was rejected before.
#[derive(Debug)]
pub(crate) struct RejectedBefore {
    pub(crate) content: Content,
    pub(crate) form: Option<LineForm>,
    /// Whether it has the columns of its source.
    pub(crate) is_unmapped: bool,
    /// Its pictures whose files do not exist.
    pub(crate) absent_pictures: Vec<PictureSource>,
}

/// Returns the record of a line that was rejected before, if this is one.
pub(crate) fn rejected_before(text: &str) -> Option<RejectedBefore> {
    if !text.contains("\"faults\"") || !text.contains("\"record\"") {
        return None;
    }
    let ReadReject { record, form, unmapped, absent_pictures, .. } =
        serde_json::from_value(parse_json(text).ok()?).ok()?;
    let content = match record {
        Value::String(text) => Content::Text(text),
        Value::Object(members) => Content::Members(members),
        _ => return None,
    };
    Some(RejectedBefore { content, form, is_unmapped: unmapped, absent_pictures })
}

/// Returns whether a file is one of rejected lines, by its beginning. What is not a regular file is not opened.
pub(crate) fn is_file_of_rejects(path: &Path) -> bool {
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 12).read_to_end(&mut start));
    let start = String::from_utf8_lossy(&start);
    read.is_ok() && start.starts_with("{\"line\":") && start.contains("\"faults\":[")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, LineForm, bool)> {
        let RejectedBefore { content, form, is_unmapped, .. } = rejected_before(text)?;
        Some((content.prepare(false).text, form.unwrap_or_default(), is_unmapped))
    }

    #[test]
    fn the_record_of_a_rejected_line_is_read() {
        let faults = r#""faults":[{"field":"name","reason":"is absent"}]"#;
        assert_eq!(
            read(&format!("{{\"line\":3,{faults},\"record\":\"{{\\\"a\\\":1}}\"}}")),
            Some(("{\"a\":1}".into(), LineForm::Record, false))
        );
        let corrected =
            format!("{{\"record\": {{\"name\": 1e3}}, \"form\": \"patch\", \"line\": 3, {faults}}}");
        assert_eq!(read(&corrected), Some(("{\"name\":\"1e3\"}".into(), LineForm::Patch, false)));
        for other in [
            format!("{{\"line\":3,{faults},\"record\":7}}"),
            format!("{{\"line\":3,{faults},\"record\":\"a\",\"name\":\"A\"}}"),
            r#"{"name":"A","intro":"the \"faults\" of a \"record\""}"#.to_owned(),
        ] {
            assert_eq!(read(&other), None, "{other}");
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_known_by_its_beginning() {
        let faults = [Fault { field: String::new(), reason: "no category".into() }];
        let mut reject = Reject {
            line: 3,
            place: Some("works.xlsx, sheet Works, row 3"),
            faults: &faults,
            record: r#"{"Titel":"A"}"#,
            form: LineForm::Patch,
            unmapped: true,
            absent_pictures: &[],
        };
        let text = serde_json::to_string(&reject).unwrap();
        assert_eq!(read(&text), Some((r#"{"Titel":"A"}"#.into(), LineForm::Patch, true)));
        (reject.place, reject.form, reject.unmapped) = (None, LineForm::Record, false);
        let plain = serde_json::to_string(&reject).unwrap();
        assert_eq!(
            plain,
            r#"{"line":3,"faults":[{"field":"","reason":"no category"}],"record":"{\"Titel\":\"A\"}"}"#
        );
        let absent = [PictureSource { alt: Some("A hinge".into()), ..PictureSource::of("b.jpg") }];
        let with_absent = serde_json::to_string(&Reject { absent_pictures: &absent, ..reject }).unwrap();
        assert_eq!(rejected_before(&with_absent).unwrap().absent_pictures, absent);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rejects.ndjson");
        for (content, is_it) in [(text, true), (plain, true), (r#"{"name":"A"}"#.to_owned(), false)] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(is_file_of_rejects(&path), is_it);
        }
        assert!(!is_file_of_rejects(folder.path()));
    }
}
