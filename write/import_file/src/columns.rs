//! The columns of a table without a mapping. A heading names a member, nested ones with a point (`taste.material`,
//! `provenance.note`); `details.LABEL` is a detail, `pictures` the sources of all pictures separated by bars, `pictures.1`,
//! `pictures.1.alt`, `pictures.1.credit` and `pictures.1.rights` those of one picture. The map of `--columns` renames headings before
//! they are read so. Headings are the same in every Unicode form, and blanks around them do not count.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use mapping::no_column;
use schemas::text::canonical;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::read_error::ReadError;
use crate::spreadsheet_cell::text_of_cell;

/// The maximum length of the file of `--columns`, in bytes: 1 MiB.
const MAX_MAP_BYTES: u64 = 1 << 20;

/// The columns of a file, in the order of its headings.
#[derive(Debug)]
pub(crate) struct Columns(Vec<Column>);

/// The member that the cells of a column are for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    /// None: the column is left out.
    Ignored,
    /// None: the column has no heading. Its number, from 1.
    NoHeading(usize),
    Member(String),
    /// A member of an object.
    Inner(String, String),
    Detail(String),
    /// The sources of all pictures, separated by bars.
    Pictures,
    /// A member of one picture, counted from 1.
    Picture(usize, &'static str),
}

/// The map that the operator gives: the members of headings, by heading. An empty member leaves a column out. Headings are
/// compared in their canonical form.
#[derive(Debug, Default)]
pub(crate) struct ColumnMap(BTreeMap<String, String>);

impl ColumnMap {
    /// Reads the file of `--columns`. Fails if it is not a JSON object of texts, or names a heading twice.
    pub(crate) fn read(path: &Path) -> Result<ColumnMap, ReadError> {
        let name = path.display();
        let text = bounded_file::read(path, MAX_MAP_BYTES)
            .map_err(|error| ReadError::Faulty(format!("{name} cannot be read: {error}")))?;
        let pairs = serde_json::from_slice(&text).map_err(|error| {
            ReadError::Faulty(format!(
                "{name} is not a column map; expected a JSON object such as {{\"Ort\": \"city\"}}: {error}"
            ))
        })?;
        ColumnMap::new(pairs)
    }

    /// Fails if two of the headings are the same.
    fn new(pairs: HeadingPairs) -> Result<ColumnMap, ReadError> {
        let mut members = BTreeMap::new();
        for (heading, member) in pairs.0 {
            let heading = canonical(&heading).into_owned();
            if members.contains_key(&heading) {
                return Err(ReadError::Faulty(format!(
                    "the column map names the heading “{heading}” twice, perhaps in two spellings that look the same; leave one out"
                )));
            }
            members.insert(heading, canonical(&member).into_owned());
        }
        Ok(ColumnMap(members))
    }
}

/// The members of a JSON object of texts, in its order; unlike in a map, one of them may be there twice.
#[derive(Debug)]
struct HeadingPairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for HeadingPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HeadingPairs, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = HeadingPairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<HeadingPairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = members.next_entry()? {
                    pairs.push(pair);
                }
                Ok(HeadingPairs(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

impl Columns {
    /// Finds the member of each heading of a file. Fails if the map names a heading that the file does not have, if two columns are for
    /// one member, or one for a member and another for a part of it.
    pub(crate) fn new(file: &str, headings: &[String], renamed: &ColumnMap) -> Result<Columns, ReadError> {
        let headings: Vec<String> = headings.iter().map(|heading| canonical(heading).into_owned()).collect();
        let is_absent = |named: &&String| !named.is_empty() && !headings.contains(named);
        let absent: Vec<String> =
            renamed.0.keys().filter(is_absent).map(|named| no_column(file, named, &headings)).collect();
        if !absent.is_empty() {
            let absent = absent.join(" ");
            return Err(ReadError::Faulty(format!("{absent} Correct the keys of --columns.")));
        }
        let mut columns: Vec<Column> = Vec::with_capacity(headings.len());
        for (heading, number) in headings.iter().zip(1..) {
            let member = renamed.0.get(heading).cloned().unwrap_or_else(|| named_member(heading));
            let column = match renamed.0.contains_key(heading) {
                false if heading.is_empty() => Column::NoHeading(number),
                _ => column(&member),
            };
            if column != Column::Ignored && columns.contains(&column) {
                return Err(ReadError::Faulty(format!(
                    "two columns are “{member}”; leave one out, or map them with --columns"
                )));
            }
            if let Some(object) = columns.iter().find_map(|other| other.overlap(&column)) {
                return Err(ReadError::Faulty(format!(
                    "one column is “{object}” and another a part of it; leave one out, or map them with --columns"
                )));
            }
            columns.push(column);
        }
        Ok(Columns(columns))
    }

    /// Returns whether any column tells which project a row is about.
    pub(crate) fn have_key(&self) -> bool {
        let is_key = |column: &Column| matches!(column, Column::Member(member) if matches!(member.as_str(), "slug" | "id" | "name"));
        self.0.iter().any(is_key)
    }

    /// Returns the members of a row, which has one cell for each column; null for an empty cell. Text in a column without a
    /// heading becomes a member that no record has, so that the row is rejected with it.
    pub(crate) fn members(&self, cells: &[String]) -> Map<String, Value> {
        let mut members = Map::new();
        for (column, cell) in self.0.iter().zip(cells) {
            put(&mut members, column, text_of_cell(cell));
        }
        members
    }
}

impl Column {
    /// Returns the member that one of the two columns is for, if the other is for a part of it.
    fn overlap<'c>(&'c self, other: &'c Column) -> Option<&'c str> {
        match (self, other) {
            (Column::Member(whole), part) | (part, Column::Member(whole)) => {
                let object = match part {
                    Column::Inner(object, _) => object.as_str(),
                    Column::Detail(_) => "details",
                    Column::Ignored
                    | Column::NoHeading(_)
                    | Column::Member(_)
                    | Column::Pictures
                    | Column::Picture(..) => return None,
                };
                (object == whole).then_some(whole.as_str())
            }
            _ => None,
        }
    }
}

/// Returns the member of a heading: `design_language` for `Design language`. The label of a detail is kept as it is.
fn named_member(heading: &str) -> String {
    let name = |part: &str| part.trim().to_lowercase().replace(|c: char| c.is_whitespace() || c == '-', "_");
    match heading.split_once('.') {
        Some((first, label)) if first.trim().eq_ignore_ascii_case("details") => {
            format!("details.{}", label.trim())
        }
        _ => heading.split('.').map(name).collect::<Vec<_>>().join("."),
    }
}

fn column(member: &str) -> Column {
    let Some((object, inner)) = member.split_once('.') else {
        return match member {
            "" => Column::Ignored,
            "pictures" => Column::Pictures,
            _ => Column::Member(member.to_owned()),
        };
    };
    match (object.trim(), inner.trim()) {
        ("details", label) => Column::Detail(label.to_owned()),
        ("pictures", inner) => {
            let (number, name) = inner.split_once('.').unwrap_or((inner, "source"));
            let name = ["source", "alt", "credit", "rights"].into_iter().find(|known| *known == name.trim());
            match (number.trim().parse(), name) {
                (Ok(number @ 1..), Some(name)) => Column::Picture(number, name),
                _ => Column::Inner("pictures".to_owned(), inner.to_owned()),
            }
        }
        (object, inner) => Column::Inner(object.to_owned(), inner.to_owned()),
    }
}

fn put(members: &mut Map<String, Value>, column: &Column, cell: &str) {
    let value = if cell.is_empty() { Value::Null } else { cell.into() };
    match column {
        Column::Ignored => {}
        Column::NoHeading(_) if cell.is_empty() => {}
        Column::NoHeading(number) => {
            members.insert(format!("column {number} without a heading"), value);
        }
        Column::Member(member) => {
            members.insert(member.clone(), value);
        }
        Column::Inner(object, inner) => put_inner(members, object, inner, value),
        Column::Detail(label) => put_inner(members, "details", label, value),
        Column::Pictures => {
            let sources = cell.split('|').map(str::trim).filter(|source| !source.is_empty());
            for (number, source) in (1..).zip(sources) {
                put_picture(members, number, "source", source.into());
            }
            // The cell lists all pictures, so others are removed from the record.
            put_inner(members, "pictures", "all", true.into());
        }
        Column::Picture(number, name) => put_picture(members, *number, name, value),
    }
}

fn put_picture(members: &mut Map<String, Value>, number: usize, name: &str, value: Value) {
    let pictures = members.entry("pictures").or_insert_with(|| json!({}));
    if let Value::Object(pictures) = pictures {
        put_inner(pictures, &number.to_string(), name, value);
    }
}

fn put_inner(members: &mut Map<String, Value>, object: &str, inner: &str, value: Value) {
    let object = members.entry(object).or_insert_with(|| json!({}));
    if let Value::Object(object) = object {
        object.insert(inner.to_owned(), value);
    }
}

#[cfg(test)]
mod tests;
