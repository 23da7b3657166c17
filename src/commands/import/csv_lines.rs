//! Turns the rows of a CSV file into import lines. A heading names a member, nested ones with a point
//! (`taste.material`, `provenance.note`); `details.LABEL` becomes a detail; a map can rename headings.

use std::collections::BTreeMap;
use std::io::BufRead;

use anyhow::{Context, Result, bail};
use schemas::command::ImportLine;
use serde_json::{Map, Value, json};

use super::lines::SourceLine;

/// The rows of a CSV file as import lines, numbered by the line on which the row begins.
pub struct CsvLines<R> {
    reader: csv::Reader<R>,
    members: Vec<String>,
    record: csv::StringRecord,
}

impl<R: BufRead> CsvLines<R> {
    /// Reads the headings. `columns` maps headings to members; an empty member leaves a column out.
    pub fn new(mut reader: R, columns: &BTreeMap<String, String>) -> Result<CsvLines<R>> {
        let delimiter = delimiter(reader.fill_buf().context("the file cannot be read")?);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(reader);
        let headings = reader.headers().context("the CSV headings cannot be read")?.clone();
        let mut members = Vec::new();
        for heading in &headings {
            let heading = heading.trim_start_matches('\u{feff}').trim();
            let member = columns.get(heading).cloned().unwrap_or_else(|| plain_member(heading));
            if !member.is_empty() && members.contains(&member) {
                bail!("two CSV columns are “{member}”; leave one out, or map them with --columns");
            }
            members.push(member);
        }
        Ok(CsvLines { reader, members, record: csv::StringRecord::new() })
    }

    fn read(&mut self) -> Result<Option<SourceLine>> {
        match self.reader.read_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) if error.is_io_error() => return Err(error).context("the CSV file cannot be read"),
            Err(error) => {
                let number = error.position().map_or(0, csv::Position::line);
                return Ok(Some(SourceLine::Unreadable {
                    number,
                    reason: format!("is no row of this file: {error}"),
                }));
            }
        }
        let number = self.record.position().map_or(0, csv::Position::line);
        let mut line = Map::new();
        for (member, value) in self.members.iter().zip(&self.record) {
            if !member.is_empty() && !value.trim().is_empty() {
                put(&mut line, member, value);
            }
        }
        Ok(Some(SourceLine::Record(ImportLine { number, text: Value::Object(line).to_string() })))
    }
}

impl<R: BufRead> Iterator for CsvLines<R> {
    type Item = Result<SourceLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// What stands between the cells: the one of comma, semicolon and tab that the headings have most of.
fn delimiter(start: &[u8]) -> u8 {
    let headings = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| headings.iter().filter(|byte| **byte == delimiter).count();
    [b'\t', b';', b','].into_iter().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

/// `Design language` names the member `design_language`; the label of a detail is kept as it is.
fn plain_member(heading: &str) -> String {
    match heading.split_once('.') {
        Some((first, label)) if first.trim().eq_ignore_ascii_case("details") => {
            format!("details.{}", label.trim())
        }
        _ => heading.to_lowercase().replace([' ', '-'], "_"),
    }
}

fn put(line: &mut Map<String, Value>, member: &str, value: &str) {
    match member.split_once('.') {
        Some(("details", label)) => {
            let details = line.entry("details").or_insert_with(|| json!([]));
            if let Value::Array(details) = details {
                details.push(json!({"label": label, "value": value}));
            }
        }
        Some((object, inner)) => {
            let object = line.entry(object).or_insert_with(|| json!({}));
            if let Value::Object(object) = object {
                object.insert(inner.to_owned(), value.into());
            }
        }
        None => {
            line.insert(member.to_owned(), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, columns: &[(&str, &str)]) -> Vec<(u64, String)> {
        let columns = columns.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let lines = CsvLines::new(text.as_bytes(), &columns).unwrap().map(|line| match line.unwrap() {
            SourceLine::Record(line) => (line.number, line.text),
            SourceLine::Unreadable { number, reason } => (number, reason),
        });
        lines.collect()
    }

    #[test]
    fn headings_become_members() {
        let text = "\u{feff}Name,category,Design language,taste.material,details.Site area\n\
                    \"Stair, \"\"House\"\"\",art,plain,oak,240 m²\nB,art,,,\n";
        assert_eq!(
            read(text, &[]),
            [
                (2, r#"{"name":"Stair, \"House\"","category":"art","design_language":"plain","taste":{"material":"oak"},"details":[{"label":"Site area","value":"240 m²"}]}"#.into()),
                (3, r#"{"name":"B","category":"art"}"#.into()),
            ]
        );
    }

    #[test]
    fn headings_can_be_mapped_and_left_out() {
        assert_eq!(
            read("Titel,Ort,intern\nA,Zürich,x\n", &[("Titel", "name"), ("Ort", "city"), ("intern", "")]),
            [(2, r#"{"name":"A","city":"Zürich"}"#.into())]
        );
    }

    #[test]
    fn a_broken_row_is_told_and_the_rest_goes_on() {
        let lines = read("name;category\nA;art\nB\nC;art\n", &[]);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].1, r#"{"name":"A","category":"art"}"#);
        assert!(lines[1].0 == 3 && lines[1].1.starts_with("is no row of this file"), "{:?}", lines[1]);
        assert_eq!(lines[2].1, r#"{"name":"C","category":"art"}"#);
    }

    #[test]
    fn the_same_member_twice_is_refused() {
        let error = CsvLines::new("name,Name\n".as_bytes(), &BTreeMap::new()).err().unwrap().to_string();
        assert_eq!(error, "two CSV columns are “name”; leave one out, or map them with --columns");
    }
}
