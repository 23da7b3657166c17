//! The imported file as numbered records: the lines of NDJSON or the elements of an array, the rows of CSV, and the lines of a file
//! that `--rejects` wrote.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use cli_output::say;
use record_files::{Error, Invalid, JsonReader, MAX_RECORD_BYTES, Numbered, Reason, Table, decode};
use schemas::command::LineForm;
use schemas::import::{Fault, MAX_LINE_BYTES, parse_json};
use serde::Deserialize;
use serde_json::Value;

use super::columns::{ColumnMap, Columns};
use super::content::Content;
use crate::cli::{ImportArgs, ImportFormat};

// The write side rejects a line of NDJSON that is too long for it, so the reader must not cut it shorter.
const _: () = assert!(MAX_RECORD_BYTES == MAX_LINE_BYTES);

#[derive(Debug, Clone)]
pub enum SourceLine {
    /// A record, which the write side reads.
    Record {
        /// Its number in the file, from 1.
        number: u64,
        content: Content,
        /// How much of a record it is, if the line itself says so.
        form: Option<LineForm>,
    },
    /// A line that does not have the file's format.
    Unreadable {
        /// Its number in the file, from 1.
        number: u64,
        /// Its text, or the beginning of it.
        text: String,
        reason: String,
    },
}

/// The lines of a file, read as they are needed.
pub type SourceLines = Box<dyn Iterator<Item = Result<SourceLine>> + Send>;

/// Opens the file that is imported. Fails if the file, its CSV headings or the file of `--columns` cannot be read.
pub fn open(args: &ImportArgs, format: ImportFormat) -> Result<SourceLines> {
    let input: Box<dyn Read + Send> = if args.file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(&args.file).with_context(|| format!("{} cannot be read", args.file.display()))?)
    };
    let reader = decode(input, args.encoding.into()).map_err(explained)?;
    match format {
        ImportFormat::Ndjson => {
            let records = JsonReader::new(reader).map_err(explained)?;
            if records.is_array() {
                let name = args.file.display();
                say(&format!("{name} is a JSON array; each of its elements is read as a record"));
            }
            Ok(Box::new(records.map(|record| record.map(json_record).map_err(explained))))
        }
        ImportFormat::Csv => {
            let table = Table::new(reader).map_err(explained)?;
            let columns = Columns::new(table.headings(), &renamed_headings(args.columns.as_deref())?)?;
            Ok(Box::new(table.map(move |row| match row {
                Ok(row) => Ok(source_line(row, |cells| (Content::Members(columns.members(&cells)), None))),
                Err(error) => Err(explained(error)),
            })))
        }
    }
}

fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::IsUtf16 => anyhow!("{error}; say --encoding utf-16, or save it as UTF-8"),
        Error::Headings { ref reason, .. } => anyhow!("{error}{}", hint(reason)),
        Error::Unreadable(_) | Error::Json { .. } => error.into(),
    }
}

/// Returns what to do about a line, where its reason does not say.
fn hint(reason: &Reason) -> &'static str {
    match reason {
        Reason::NotUtf8 { .. } => "; save the file as UTF-8, or name its encoding with --encoding",
        Reason::OpenQuote { .. }
        | Reason::TextAfterQuote { .. }
        | Reason::TooLong
        | Reason::CellCount { .. } => "",
    }
}

fn renamed_headings(path: Option<&Path>) -> Result<ColumnMap> {
    let Some(path) = path else { return Ok(ColumnMap::default()) };
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let pairs = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is not a column map; expected a JSON object such as {{\"Ort\": \"city\"}}",
            path.display()
        )
    })?;
    ColumnMap::new(pairs)
}

fn source_line<T>(
    Numbered { line: number, record }: Numbered<T>,
    content: impl FnOnce(T) -> (Content, Option<LineForm>),
) -> SourceLine {
    match record {
        Ok(record) => {
            let (content, form) = content(record);
            SourceLine::Record { number, content, form }
        }
        Err(Invalid { text, reason }) => {
            SourceLine::Unreadable { number, text, reason: format!("{reason}{}", hint(&reason)) }
        }
    }
}

fn json_record(record: Numbered<String>) -> SourceLine {
    source_line(record, |text| match reject(&text) {
        Some(rejected) => rejected,
        None => (Content::Text(text), None),
    })
}

/// A line of the file that `--rejects` writes. Its record is the rejected text, or an object that replaced it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reject {
    #[serde(rename = "line")]
    _line: u64,
    #[serde(rename = "faults")]
    _faults: Vec<Fault>,
    record: Value,
    #[serde(default)]
    form: Option<LineForm>,
}

/// Returns the record of a line that was rejected before, if this is one.
fn reject(text: &str) -> Option<(Content, Option<LineForm>)> {
    if !text.contains("\"faults\"") || !text.contains("\"record\"") {
        return None;
    }
    let Reject { record, form, .. } = serde_json::from_value(parse_json(text).ok()?).ok()?;
    match record {
        Value::String(text) => Some((Content::Text(text), form)),
        Value::Object(members) => Some((Content::Members(members), form)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_rejected_line_is_read() {
        let form = |text: &str| {
            reject(text).map(|(content, form)| (content.prepare(false).text, form.unwrap_or_default()))
        };
        let faults = r#""faults":[{"field":"name","reason":"is absent"}]"#;
        assert_eq!(
            form(&format!("{{\"line\":3,{faults},\"record\":\"{{\\\"a\\\":1}}\"}}")),
            Some(("{\"a\":1}".into(), LineForm::Record))
        );
        let corrected =
            format!("{{\"record\": {{\"name\": 1e3}}, \"form\": \"patch\", \"line\": 3, {faults}}}");
        assert_eq!(form(&corrected), Some(("{\"name\":\"1e3\"}".into(), LineForm::Patch)));
        for other in [
            format!("{{\"line\":3,{faults},\"record\":7}}"),
            format!("{{\"line\":3,{faults},\"record\":\"a\",\"name\":\"A\"}}"),
            r#"{"name":"A","intro":"the \"faults\" of a \"record\""}"#.to_owned(),
        ] {
            assert_eq!(form(&other), None, "{other}");
        }
    }

    #[test]
    fn an_invalid_line_says_what_to_do() {
        let invalid = Invalid {
            text: "Z\u{fffd}rich".into(),
            reason: Reason::NotUtf8 { byte: 0xfc, at: 2, column: None },
        };
        let SourceLine::Unreadable { number: 3, reason, .. } =
            json_record(Numbered { line: 3, record: Err(invalid) })
        else {
            panic!("it is not a record")
        };
        assert_eq!(
            reason,
            "has the byte 0xFC at byte 2, which is not UTF-8; save the file as UTF-8, or name its encoding with --encoding"
        );
    }
}
