//! Turns the rows of a CSV file into import lines. A heading names a member, nested ones with a point
//! (`taste.material`, `provenance.note`); `details.LABEL` becomes a detail, `pictures` names pictures with bars between
//! them, `pictures.1` and `pictures.1.alt` one picture; a map can rename headings.

use std::collections::BTreeMap;
use std::io::BufRead;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::content::Content;
use super::encoding::not_utf_8;
use super::lines::SourceLine;
use super::rows::{Row, Rows};

/// The rows of a CSV file as import lines, numbered by the line on which the row begins. A line says what the row's cells
/// say, and null for an empty cell.
pub struct CsvLines<R> {
    rows: Rows<R>,
    headings: Vec<String>,
    columns: Vec<Column>,
}

/// What the cells of a column say.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    LeftOut,
    Member(String),
    /// A member of an object.
    Inner(String, String),
    /// A detail, by its label.
    Detail(String),
    /// All pictures, with bars between them.
    Pictures,
    /// A member of one picture, counted from 1.
    Picture(usize, &'static str),
}

impl<R: BufRead> CsvLines<R> {
    /// Reads the headings. `columns` maps headings to members; an empty member leaves a column out.
    pub fn new(mut reader: R, columns: &BTreeMap<String, String>) -> Result<CsvLines<R>> {
        let start = reader.fill_buf().context("the file cannot be read")?;
        let (delimiter, first) = match named_delimiter(start) {
            Some((delimiter, length)) => {
                reader.consume(length);
                (delimiter, 2)
            }
            None => (delimiter(start), 1),
        };
        let mut rows = Rows::new(reader, delimiter, first);
        let cells = match rows.read()? {
            Some(Row::Cells { cells, .. }) => cells,
            Some(Row::Faulty { number, reason, .. }) => bail!("line {number}, the CSV headings, {reason}"),
            None => Vec::new(),
        };
        let (mut headings, mut found) = (Vec::new(), Vec::new());
        for cell in cells {
            let heading = String::from_utf8(cell).map_err(|error| {
                anyhow::anyhow!("the CSV headings {}", not_utf_8(error.as_bytes(), error.utf8_error()))
            })?;
            let heading = heading.trim();
            let member = columns.get(heading).cloned().unwrap_or_else(|| plain_member(heading));
            let column = column(&member);
            if column != Column::LeftOut && found.contains(&column) {
                bail!("two CSV columns are “{member}”; leave one out, or map them with --columns");
            }
            headings.push(heading.to_owned());
            found.push(column);
        }
        Ok(CsvLines { rows, headings, columns: found })
    }

    fn read(&mut self) -> Result<Option<SourceLine>> {
        loop {
            let (number, cells) = match self.rows.read()? {
                None => return Ok(None),
                Some(Row::Faulty { number, text, reason }) => {
                    return Ok(Some(SourceLine::Unreadable { number, text, reason }));
                }
                Some(Row::Cells { number, cells }) => (number, cells),
            };
            if cells.iter().all(|cell| cell.trim_ascii().is_empty()) {
                continue;
            }
            return Ok(Some(match self.line(&cells) {
                Ok(line) => SourceLine::Record { number, content: Content::Members(line), form: None },
                Err(reason) => {
                    let text = cells.iter().map(|cell| String::from_utf8_lossy(cell)).collect::<Vec<_>>();
                    SourceLine::Unreadable { number, text: text.join(" | "), reason }
                }
            }));
        }
    }

    fn line(&self, cells: &[Vec<u8>]) -> Result<Map<String, Value>, String> {
        if cells.len() != self.columns.len() {
            return Err(format!(
                "is no row of this file: it has {} cells, and the headings have {}",
                cells.len(),
                self.columns.len()
            ));
        }
        let mut line = Map::new();
        for ((heading, column), cell) in self.headings.iter().zip(&self.columns).zip(cells) {
            let cell = std::str::from_utf8(cell)
                .map_err(|error| format!("{}, in the column “{heading}”", not_utf_8(cell, error)))?;
            put(&mut line, column, cell.trim());
        }
        Ok(line)
    }
}

impl<R: BufRead> Iterator for CsvLines<R> {
    type Item = Result<SourceLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The delimiter that a first line such as `sep=;` names, as Excel reads it, and how long that line is.
fn named_delimiter(start: &[u8]) -> Option<(u8, usize)> {
    match start {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter, b'\r', b'\n', ..] => Some((*delimiter, 7)),
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter, b'\n' | b'\r', ..] => Some((*delimiter, 6)),
        _ => None,
    }
}

/// What stands between the cells: the one of comma, semicolon and tab that the headings have most of.
fn delimiter(start: &[u8]) -> u8 {
    let headings = start.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
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

fn column(member: &str) -> Column {
    match member.split_once('.') {
        None if member.is_empty() => Column::LeftOut,
        None if member == "pictures" => Column::Pictures,
        None => Column::Member(member.to_owned()),
        Some(("details", label)) => Column::Detail(label.to_owned()),
        Some(("pictures", inner)) => {
            let (number, name) = inner.split_once('.').unwrap_or((inner, "source"));
            let name = ["source", "alt"].into_iter().find(|known| *known == name);
            match (number.parse(), name) {
                (Ok(number @ 1..), Some(name)) => Column::Picture(number, name),
                _ => Column::Inner("pictures".to_owned(), inner.to_owned()),
            }
        }
        Some((object, inner)) => Column::Inner(object.to_owned(), inner.to_owned()),
    }
}

fn put(line: &mut Map<String, Value>, column: &Column, cell: &str) {
    let value = if cell.is_empty() { Value::Null } else { cell.into() };
    match column {
        Column::LeftOut => {}
        Column::Member(member) => {
            line.insert(member.clone(), value);
        }
        Column::Inner(object, inner) => put_inner(line, object, inner, value),
        Column::Detail(label) => put_inner(line, "details", label, value),
        Column::Pictures => {
            let sources = cell.split('|').map(str::trim).filter(|source| !source.is_empty());
            for (number, source) in (1..).zip(sources) {
                put_picture(line, number, "source", source.into());
            }
            // All of the pictures stand here: those that are not named are taken away.
            put_inner(line, "pictures", "all", true.into());
        }
        Column::Picture(number, name) => put_picture(line, *number, name, value),
    }
}

fn put_picture(line: &mut Map<String, Value>, number: usize, name: &str, value: Value) {
    let pictures = line.entry("pictures").or_insert_with(|| json!({}));
    if let Value::Object(pictures) = pictures {
        put_inner(pictures, &number.to_string(), name, value);
    }
}

fn put_inner(line: &mut Map<String, Value>, object: &str, inner: &str, value: Value) {
    let object = line.entry(object).or_insert_with(|| json!({}));
    if let Value::Object(object) = object {
        object.insert(inner.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, columns: &[(&str, &str)]) -> Vec<(u64, String)> {
        let columns = columns.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let lines = CsvLines::new(text.as_bytes(), &columns).unwrap().map(|line| match line.unwrap() {
            SourceLine::Record { number, content, .. } => (number, content.prepare(false).text),
            SourceLine::Unreadable { number, text, reason } => (number, format!("{text} >> {reason}")),
        });
        lines.collect()
    }

    #[test]
    fn headings_become_members_and_empty_cells_null() {
        let text = "Name,category,Design language,taste.material,details.Site area\n\
                    \"Stair, \"\"House\"\"\",art,plain,oak,240 m²\n , ,,,\nB,art,,,\n";
        assert_eq!(
            read(text, &[]),
            [
                (2, r#"{"name":"Stair, \"House\"","category":"art","design_language":"plain","taste":{"material":"oak"},"details":{"Site area":"240 m²"}}"#.into()),
                (4, r#"{"name":"B","category":"art","design_language":null,"taste":{"material":null},"details":{"Site area":null}}"#.into()),
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
    fn pictures_stand_in_one_column_or_in_several() {
        assert_eq!(
            read("slug,pictures,pictures.2.alt\na,a.jpg | b.jpg|,A door\nb,,\n", &[]),
            [
                (2, r#"{"slug":"a","pictures":{"1":{"source":"a.jpg"},"2":{"source":"b.jpg","alt":"A door"},"all":true}}"#.into()),
                (3, r#"{"slug":"b","pictures":{"all":true,"2":{"alt":null}}}"#.into()),
            ]
        );
        assert_eq!(
            read("slug,pictures.1,pictures.1.alt\na,a.jpg,\n", &[]),
            [(2, r#"{"slug":"a","pictures":{"1":{"source":"a.jpg","alt":null}}}"#.into())]
        );
    }

    #[test]
    fn a_broken_row_is_told_and_the_rest_goes_on() {
        assert_eq!(
            read("name;category\nA;art\nB\nC;art\n", &[]),
            [
                (2, r#"{"name":"A","category":"art"}"#.into()),
                (3, "B >> is no row of this file: it has 1 cells, and the headings have 2".into()),
                (4, r#"{"name":"C","category":"art"}"#.into())
            ]
        );
        let lines = read("name,city\nA,\"open\nB,Ulm\n", &[]);
        assert!(lines[0].1.contains("the quote that opens in line 2 is not closed"), "{lines:?}");
        assert_eq!(lines[1], (3, r#"{"name":"B","city":"Ulm"}"#.into()));
    }

    #[test]
    fn a_cell_that_is_no_utf_8_is_refused_with_its_column() {
        let lines: Vec<_> =
            CsvLines::new(&b"name,city\nA,Z\xfcrich\n"[..], &BTreeMap::new()).unwrap().collect();
        let [Ok(SourceLine::Unreadable { number: 2, reason, .. })] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(
            reason,
            "has the byte 0xFC at byte 2, which is no UTF-8; save the file as UTF-8, or name its encoding with --encoding, \
             in the column “city”"
        );
    }

    #[test]
    fn the_delimiter_may_be_named() {
        for text in ["sep=;\nname;city\nA, B;Ulm\n", "sep=;\r\nname;city\r\nA, B;Ulm\r\n"] {
            assert_eq!(read(text, &[]), [(3, r#"{"name":"A, B","city":"Ulm"}"#.into())]);
        }
        assert_eq!(read("name\tcity\rA, B\tUlm\r", &[]), [(2, r#"{"name":"A, B","city":"Ulm"}"#.into())]);
    }

    #[test]
    fn the_same_member_twice_is_refused() {
        let error = CsvLines::new("name,Name\n".as_bytes(), &BTreeMap::new()).err().unwrap().to_string();
        assert_eq!(error, "two CSV columns are “name”; leave one out, or map them with --columns");
    }
}
