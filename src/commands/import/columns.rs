//! The columns of a CSV file. A heading names a member, nested ones with a point (`taste.material`, `provenance.note`);
//! `details.LABEL` is a detail, `pictures` the sources of all pictures separated by bars, `pictures.1`, `pictures.1.alt`,
//! `pictures.1.credit` and `pictures.1.rights` those of one picture. A map given by the operator can rename headings.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

/// The columns of a file, in the order of its headings.
#[derive(Debug)]
pub struct Columns(Vec<Column>);

/// The member that the cells of a column are for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    /// None: the column is left out.
    Ignored,
    Member(String),
    /// A member of an object.
    Inner(String, String),
    Detail(String),
    /// The sources of all pictures, separated by bars.
    Pictures,
    /// A member of one picture, counted from 1.
    Picture(usize, &'static str),
}

impl Columns {
    /// Finds the member of each heading. `renamed` maps headings to members; an empty member leaves a column out. Fails
    /// if two columns are for one member.
    pub fn new(headings: &[String], renamed: &BTreeMap<String, String>) -> Result<Columns> {
        let mut columns = Vec::with_capacity(headings.len());
        for heading in headings {
            let member = renamed.get(heading).cloned().unwrap_or_else(|| member(heading));
            let column = column(&member);
            if column != Column::Ignored && columns.contains(&column) {
                bail!("two CSV columns are “{member}”; leave one out, or map them with --columns");
            }
            columns.push(column);
        }
        Ok(Columns(columns))
    }

    /// Returns the members of a row, which has one cell for each column; null for an empty cell.
    pub fn members(&self, cells: &[String]) -> Map<String, Value> {
        let mut members = Map::new();
        for (column, cell) in self.0.iter().zip(cells) {
            put(&mut members, column, cell);
        }
        members
    }
}

/// Returns the member of a heading: `design_language` for `Design language`. The label of a detail is kept as it is.
fn member(heading: &str) -> String {
    match heading.split_once('.') {
        Some((first, label)) if first.trim().eq_ignore_ascii_case("details") => {
            format!("details.{}", label.trim())
        }
        _ => heading.to_lowercase().replace([' ', '-'], "_"),
    }
}

fn column(member: &str) -> Column {
    match member.split_once('.') {
        None if member.is_empty() => Column::Ignored,
        None if member == "pictures" => Column::Pictures,
        None => Column::Member(member.to_owned()),
        Some(("details", label)) => Column::Detail(label.to_owned()),
        Some(("pictures", inner)) => {
            let (number, name) = inner.split_once('.').unwrap_or((inner, "source"));
            let name = ["source", "alt", "credit", "rights"].into_iter().find(|known| *known == name);
            match (number.parse(), name) {
                (Ok(number @ 1..), Some(name)) => Column::Picture(number, name),
                _ => Column::Inner("pictures".to_owned(), inner.to_owned()),
            }
        }
        Some((object, inner)) => Column::Inner(object.to_owned(), inner.to_owned()),
    }
}

fn put(members: &mut Map<String, Value>, column: &Column, cell: &str) {
    let value = if cell.is_empty() { Value::Null } else { cell.into() };
    match column {
        Column::Ignored => {}
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
mod tests {
    use record_files::Table;

    use super::*;

    fn read(text: &str, renamed: &[(&str, &str)]) -> Vec<String> {
        let renamed = renamed.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let table = Table::new(text.as_bytes()).unwrap();
        let columns = Columns::new(table.headings(), &renamed).unwrap();
        table.map(|row| Value::Object(columns.members(&row.unwrap().record.unwrap())).to_string()).collect()
    }

    #[test]
    fn headings_become_members_and_empty_cells_null() {
        let text = "Name,category,Design language,taste.material,details.Site area\n\
                    \"Stair, \"\"House\"\"\",art,plain,oak,240 m²\n , ,,,\nB,art,,,\n";
        assert_eq!(
            read(text, &[]),
            [
                r#"{"name":"Stair, \"House\"","category":"art","design_language":"plain","taste":{"material":"oak"},"details":{"Site area":"240 m²"}}"#,
                r#"{"name":"B","category":"art","design_language":null,"taste":{"material":null},"details":{"Site area":null}}"#,
            ]
        );
    }

    #[test]
    fn headings_can_be_mapped_and_left_out() {
        assert_eq!(
            read("Titel,Ort,intern\nA,Zürich,x\n", &[("Titel", "name"), ("Ort", "city"), ("intern", "")]),
            [r#"{"name":"A","city":"Zürich"}"#]
        );
    }

    #[test]
    fn pictures_are_in_one_column_or_in_several() {
        assert_eq!(
            read("slug,pictures,pictures.2.alt\na,a.jpg | b.jpg|,A door\nb,,\n", &[]),
            [
                r#"{"slug":"a","pictures":{"1":{"source":"a.jpg"},"2":{"source":"b.jpg","alt":"A door"},"all":true}}"#,
                r#"{"slug":"b","pictures":{"all":true,"2":{"alt":null}}}"#,
            ]
        );
        assert_eq!(
            read(
                "slug,pictures.1,pictures.1.alt,Pictures.1.Credit,pictures.1.rights\na,a.jpg,,Ann B,CC0\n",
                &[]
            ),
            [
                r#"{"slug":"a","pictures":{"1":{"source":"a.jpg","alt":null,"credit":"Ann B","rights":"CC0"}}}"#
            ]
        );
    }

    #[test]
    fn two_columns_for_one_member_are_rejected() {
        let headings = ["name".to_owned(), "Name".to_owned()];
        let error = Columns::new(&headings, &BTreeMap::new()).unwrap_err().to_string();
        assert_eq!(error, "two CSV columns are “name”; leave one out, or map them with --columns");
    }
}
