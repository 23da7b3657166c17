//! Records as a table for spreadsheet programs: a column for each member that they fill, with the headings that an import reads
//! without a mapping.

use std::collections::HashSet;

use rust_xlsxwriter::XlsxError;
use schemas::import::import_record_schema;
use serde_json::{Map, Value};

use crate::spreadsheet_cell::cell_of_text;

/// Every row has it, since an import finds the project by it.
const KEY: &str = "slug";

/// Members that are not written to tables: thousands of numbers, which no import without their columns changes.
const LEFT_OUT: [&str; 2] = ["vectors", "vector_model"];

/// The members of a picture, in the order of their columns.
const OF_PICTURE: [&str; 4] = ["source", "alt", "credit", "rights"];

/// The columns of a table that is exported.
#[derive(Debug)]
pub struct ExportTable {
    headings: Vec<String>,
    /// Whether a record may fill other columns, which were not asked for.
    is_part: bool,
}

/// The columns that records fill, as they are found.
#[derive(Debug, Default)]
pub struct FilledColumns {
    found: Vec<String>,
    known: HashSet<String>,
}

/// Why there is no table, or no row in it.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A column is none of a record.
    #[error(
        "there is no column “{column}”; the columns are {known}, details.LABEL, pictures.1, pictures.1.alt, pictures.1.credit \
         and pictures.1.rights"
    )]
    NoColumn {
        /// The column that is asked for.
        column: String,
        /// The others, separated by commas.
        known: String,
    },
    /// A column is asked for twice.
    #[error("--columns names {0} twice; leave one out")]
    Twice(String),
    /// A record fills a column that was not there when the columns were found.
    #[error("the catalog got the column {0} during the export; export it again")]
    New(String),
    /// A line is not an import record.
    #[error("a record cannot be read")]
    NoRecord(#[from] serde_json::Error),
    /// A text is longer than a cell of a workbook may be.
    #[error(
        "the text of {column} of the project {project} is longer than the 32,767 characters of a cell in Excel; export CSV, or name \
         other columns with --columns"
    )]
    LongCell {
        /// The slug.
        project: String,
        /// The heading.
        column: String,
    },
    /// A heading is longer than a cell of a workbook may be.
    #[error(
        "the column {0} has a heading that is longer than the 32,767 characters of a cell in Excel; export CSV"
    )]
    LongHeading(String),
    /// The table is larger than a sheet, or the workbook cannot be written.
    #[error("{}", match .0 {
        XlsxError::RowColumnLimitError => {
            "the table is larger than a sheet of Excel (1,048,576 rows, 16,384 columns); export CSV, or name some columns with --columns"
        }
        _ => "the workbook cannot be written",
    })]
    Workbook(#[from] XlsxError),
}

impl FilledColumns {
    /// Adds the columns that an import record fills.
    ///
    /// # Errors
    ///
    /// Fails if the line is not a JSON object.
    pub fn add(&mut self, line: &str) -> Result<(), TableError> {
        for (heading, _) in cells(&serde_json::from_str(line)?) {
            if self.known.insert(heading.clone()) {
                self.found.push(heading);
            }
        }
        Ok(())
    }

    /// Returns a table with these columns, in the order of the members of a record; details in the order in which they were found.
    pub fn into_table(self) -> ExportTable {
        let FilledColumns { found: mut headings, known } = self;
        if !known.contains(KEY) {
            headings.push(KEY.to_owned());
        }
        let members = Members::default();
        headings.sort_by_key(|heading| members.rank(heading));
        ExportTable { headings, is_part: false }
    }
}

impl ExportTable {
    /// Returns a table with these columns after the slug.
    ///
    /// # Errors
    ///
    /// Fails if one is none of a record, or is named twice.
    pub fn of(columns: &[String]) -> Result<ExportTable, TableError> {
        let members = Members::default();
        let mut headings = vec![KEY.to_owned()];
        for column in columns.iter().map(|column| column.trim().to_owned()) {
            if !members.have(&column) {
                return Err(TableError::NoColumn { column, known: members.names().join(", ") });
            }
            let is_new = !headings.contains(&column);
            if is_new {
                headings.push(column);
            } else if column != KEY {
                return Err(TableError::Twice(column));
            }
        }
        Ok(ExportTable { headings, is_part: true })
    }

    /// Returns the row of the headings. The byte order mark makes Excel read the file as UTF-8.
    pub fn head(&self) -> String {
        format!("\u{feff}{}", row(self.headings.iter().map(String::as_str)))
    }

    /// Returns the row of an import record, which may have line breaks within quotes.
    ///
    /// # Errors
    ///
    /// Fails if the record fills a column that the table does not have, since it was recorded after the columns were found.
    pub fn row(&self, line: &str) -> Result<String, TableError> {
        Ok(row(self.texts(line)?.iter().map(String::as_str)))
    }

    /// The headings; the first is the slug.
    pub(crate) fn headings(&self) -> &[String] {
        &self.headings
    }

    /// Returns a text for each heading. Fails as [`ExportTable::row`] does.
    pub(crate) fn texts(&self, line: &str) -> Result<Vec<String>, TableError> {
        let record: Map<String, Value> = serde_json::from_str(line)?;
        let cells = cells(&record);
        let unknown = cells.iter().find(|(heading, _)| !self.headings.contains(heading));
        if let Some((heading, _)) = unknown.filter(|_| !self.is_part) {
            return Err(TableError::New(heading.clone()));
        }
        let cell =
            |heading: &String| cells.iter().find(|(own, _)| own == heading).map(|(_, cell)| cell.clone());
        Ok(self.headings.iter().map(|heading| cell(heading).unwrap_or_default()).collect())
    }
}

/// Returns the filled cells of a record with their headings.
fn cells(record: &Map<String, Value>) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    for (name, value) in record.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
        match value {
            Value::Array(items) if name == "pictures" => {
                for (picture, number) in items.iter().zip(1..) {
                    add_picture(&mut cells, number, picture);
                }
            }
            Value::Array(details) => {
                let text = |detail: &Value, member: &str| text_of(&detail[member]).unwrap_or_default();
                let detail = |detail| (format!("{name}.{}", text(detail, "label")), text(detail, "value"));
                cells.extend(details.iter().map(detail));
            }
            Value::Object(inner) => {
                let filled = inner.iter().filter_map(|(own, value)| Some((own, text_of(value)?)));
                cells.extend(filled.map(|(own, text)| (format!("{name}.{own}"), text)));
            }
            _ => cells.extend(text_of(value).map(|text| (name.clone(), text))),
        }
    }
    cells
}

fn add_picture(cells: &mut Vec<(String, String)>, number: usize, picture: &Value) {
    if let Some(source) = text_of(picture) {
        cells.push((picture_heading(number, "source"), source));
        return;
    }
    for member in OF_PICTURE {
        cells.extend(text_of(&picture[member]).map(|text| (picture_heading(number, member), text)));
    }
}

fn picture_heading(number: usize, member: &str) -> String {
    if member == "source" { format!("pictures.{number}") } else { format!("pictures.{number}.{member}") }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a row of CSV (RFC 4180) without a line end. Each cell with more than plain characters is quoted.
fn row<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let quoted = |cell: &str| {
        let cell = cell_of_text(cell);
        let is_plain = |c: char| !matches!(c, ',' | ';' | '\t' | '|' | '"' | '\n' | '\r');
        let is_bare = cell.chars().all(is_plain) && cell.trim() == cell;
        if is_bare { cell.into_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",")
}

/// The members of a record that have columns, by the schema of import records.
struct Members(Vec<(String, Vec<String>)>);

impl Default for Members {
    fn default() -> Members {
        let schema = import_record_schema();
        let properties = |of: &Value| {
            let properties = of["properties"].as_object().cloned().unwrap_or_default();
            properties.into_iter().collect::<Vec<(String, Value)>>()
        };
        let names = |of: &Value| properties(of).into_iter().map(|(name, _)| name).collect::<Vec<String>>();
        let taste = names(&schema["properties"]["taste"]);
        // The dimensions of the taste stand in `taste` in what is exported: columns beside it would be empty.
        let has_columns = |name: &str| !LEFT_OUT.contains(&name) && !taste.iter().any(|own| own == name);
        let with_columns = properties(&schema).into_iter().filter(|(name, _)| has_columns(name));
        Members(with_columns.map(|(name, of)| (name, names(&of))).collect())
    }
}

impl Members {
    /// Returns the place of a column: that of its member, of its picture, and of its part. The slug is before all others.
    fn rank(&self, heading: &str) -> (usize, usize, usize) {
        let (name, part) = heading.split_once('.').unwrap_or((heading, ""));
        let member = match self.0.iter().position(|(own, _)| own == name) {
            _ if heading == KEY => 0,
            Some(place) => place + 1,
            None => self.0.len() + 1,
        };
        if name == "pictures" {
            let (number, part) = part.split_once('.').unwrap_or((part, "source"));
            let part = OF_PICTURE.iter().position(|own| *own == part).unwrap_or(OF_PICTURE.len());
            return (member, number.parse().unwrap_or(0), part);
        }
        let inner = self.0.iter().find(|(own, _)| own == name).map_or(&[][..], |(_, inner)| inner);
        (member, 0, inner.iter().position(|own| own == part).unwrap_or(0))
    }

    /// Returns whether a record can fill a column.
    fn have(&self, heading: &str) -> bool {
        match heading.split_once('.') {
            Some(("details", label)) => !label.trim().is_empty(),
            Some(("pictures", part)) => {
                let (number, member) = part.split_once('.').unwrap_or((part, "source"));
                number
                    .parse::<usize>()
                    .is_ok_and(|number| picture_heading(number, member) == heading && number > 0)
                    && OF_PICTURE.contains(&member)
            }
            Some((name, part)) => {
                self.0.iter().any(|(own, inner)| own == name && inner.iter().any(|own| own == part))
            }
            None => self.names().iter().any(|name| name == heading),
        }
    }

    /// Returns the headings of all columns but those of details and pictures.
    fn names(&self) -> Vec<String> {
        let lists = ["details", "pictures"];
        let named = self.0.iter().filter(|(name, _)| !lists.contains(&name.as_str()));
        named
            .flat_map(|(name, inner)| match &inner[..] {
                [] => vec![name.clone()],
                inner => inner.iter().map(|part| format!("{name}.{part}")).collect(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
