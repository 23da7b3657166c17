//! Takes a file of records apart into import lines, in memory that does not grow with the file.

use std::io::{BufRead, Read};

use anyhow::{Context, Result};
use schemas::command::LineForm;
use schemas::import::{Fault, MAX_LINE_BYTES};
use serde::Deserialize;
use serde_json::Value;

use super::content::Content;
use super::encoding::not_utf_8;

/// A line of a file, or why there is none.
#[derive(Debug, Clone)]
pub enum SourceLine {
    /// A record, to be read by the write side.
    Record {
        /// Its number in the file, from 1.
        number: u64,
        /// What it says.
        content: Content,
        /// How much of a record it says, where it says that itself.
        form: Option<LineForm>,
    },
    /// The file's format is broken here; the rest goes on.
    Unreadable {
        /// The line's number.
        number: u64,
        /// What it says, or the beginning of it.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The lines of an NDJSON file. Blank lines are passed over; a line that is too long is cut behind the limit, so
/// that it is refused for its length.
pub struct NdjsonLines<R> {
    reader: R,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> NdjsonLines<R> {
    /// Reads from here on.
    pub fn new(reader: R) -> NdjsonLines<R> {
        NdjsonLines { reader, number: 0, buffer: Vec::new() }
    }

    fn read(&mut self) -> Result<Option<SourceLine>> {
        loop {
            self.buffer.clear();
            let limit = MAX_LINE_BYTES as u64 + 2;
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer);
            if read.context("the file cannot be read")? == 0 {
                return Ok(None);
            }
            if self.buffer.len() as u64 == limit && !self.buffer.ends_with(b"\n") {
                self.reader.skip_until(b'\n').context("the file cannot be read")?;
            }
            self.number += 1;
            let line = self.buffer.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let number = self.number;
            return Ok(Some(match std::str::from_utf8(line) {
                Ok(text) => match reject(text) {
                    Some((content, form)) => SourceLine::Record { number, content, form },
                    None => record(number, text.to_owned()),
                },
                // A long line is cut, perhaps within a character.
                Err(error) if line.len() > MAX_LINE_BYTES && error.error_len().is_none() => {
                    let text = String::from_utf8_lossy(line).into_owned();
                    record(number, text)
                }
                Err(error) => SourceLine::Unreadable {
                    number,
                    text: String::from_utf8_lossy(line).into_owned(),
                    reason: not_utf_8(line, error),
                },
            }));
        }
    }
}

fn record(number: u64, text: String) -> SourceLine {
    SourceLine::Record { number, content: Content::Text(text), form: None }
}

/// A line of the file that `--rejects` writes. Its record is the text that was refused, or what somebody made of it.
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

/// Returns the record of a line that was refused before, if this is one.
fn reject(text: &str) -> Option<(Content, Option<LineForm>)> {
    if !text.contains("\"faults\"") || !text.contains("\"record\"") {
        return None;
    }
    let Reject { record, form, .. } = serde_json::from_str(text).ok()?;
    match record {
        Value::String(text) => Some((Content::Text(text), form)),
        Value::Object(members) => Some((Content::Members(members), form)),
        _ => None,
    }
}

impl<R: BufRead> Iterator for NdjsonLines<R> {
    type Item = Result<SourceLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<(u64, String)> {
        let lines = NdjsonLines::new(bytes).map(|line| match line.unwrap() {
            SourceLine::Record { number, content, .. } => (number, content.prepare(false).text),
            SourceLine::Unreadable { number, text, reason } => (number, format!("{text} {reason}")),
        });
        lines.collect()
    }

    #[test]
    fn lines_keep_their_numbers() {
        assert_eq!(read(b"{\"a\":1}\r\n\n  \n{\"b\":2}"), [(1, "{\"a\":1}".into()), (4, "{\"b\":2}".into())]);
    }

    #[test]
    fn a_line_that_was_refused_before_is_its_record() {
        let form = |text: &str| {
            reject(text).map(|(content, form)| (content.prepare(false).text, form.unwrap_or_default()))
        };
        let faults = r#""faults":[{"field":"name","reason":"is absent"}]"#;
        assert_eq!(
            form(&format!("{{\"line\":3,{faults},\"record\":\"{{\\\"a\\\":1}}\"}}")),
            Some(("{\"a\":1}".into(), LineForm::Record))
        );
        let mended =
            format!("{{\"record\": {{\"name\": \"B\"}}, \"form\": \"patch\", \"line\": 3, {faults}}}");
        assert_eq!(form(&mended), Some(("{\"name\":\"B\"}".into(), LineForm::Patch)));
        for other in [
            format!("{{\"line\":3,{faults},\"record\":7}}"),
            format!("{{\"line\":3,{faults},\"record\":\"a\",\"name\":\"A\"}}"),
            r#"{"name":"A","intro":"the \"faults\" of a \"record\""}"#.to_owned(),
        ] {
            assert_eq!(form(&other), None, "{other}");
        }
    }

    #[test]
    fn a_line_that_is_no_utf_8_is_refused_with_its_byte() {
        let reason = "has the byte 0xFC at byte 11, which is no UTF-8; save the file as UTF-8, or name its encoding with \
                      --encoding";
        assert_eq!(
            read(b"{}\n{\"name\":\"Z\xfcrich\"}\n{}"),
            [(1, "{}".into()), (2, format!("{{\"name\":\"Z\u{fffd}rich\"}} {reason}")), (3, "{}".into())]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_next_is_whole() {
        let mut file = vec![b'x'; 3 * MAX_LINE_BYTES];
        file.extend_from_slice(b"\n{}\n");
        let lines = read(&file);
        assert_eq!(
            lines.iter().map(|(number, text)| (*number, text.len())).collect::<Vec<_>>(),
            [(1, MAX_LINE_BYTES + 2), (2, 2)]
        );
    }
}
