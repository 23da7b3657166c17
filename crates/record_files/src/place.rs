//! Where a record is.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Where a record is. `Display` names the file and the line, row or path, as a sentence about the record begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a line of a text, or from it on.
    Line {
        /// The file.
        file: Arc<str>,
        /// The number of its first line, from 1.
        line: u64,
    },
    /// At a path of a JSON file.
    Element {
        /// The file.
        file: Arc<str>,
        /// The number of its first line, from 1.
        line: u64,
        /// The path, such as `data[3]`, with elements counted from 0 as in a mapping.
        path: String,
        /// The number of the record in the file, from 1.
        number: u64,
    },
    /// In a row of a sheet.
    Row {
        /// The workbook.
        file: Arc<str>,
        /// The name of the sheet.
        sheet: Arc<str>,
        /// The number of the row, from 1.
        row: u64,
    },
    /// The whole of a file in a folder.
    File {
        /// The file, with the folder.
        file: Arc<str>,
        /// The number of the file in the folder, from 1.
        number: u64,
    },
}

impl Place {
    /// Returns the number that the record has in its source, from 1: of its line, of its row, or, where several may be in one line, of
    /// the record itself.
    pub fn number(&self) -> u64 {
        match self {
            Place::Line { line: number, .. }
            | Place::Element { number, .. }
            | Place::Row { row: number, .. }
            | Place::File { number, .. } => *number,
        }
    }

    /// Returns the name of a cell of the record, as in “Works!I12”; in a text, the place with the number of the column.
    ///
    /// `column` is counted from 0.
    pub fn cell(&self, column: usize) -> String {
        match self {
            Place::Row { sheet, row, .. } => format!("{sheet}!{}{row}", column_letters(column)),
            Place::Line { .. } | Place::Element { .. } | Place::File { .. } => {
                format!("{self}, column {}", column + 1)
            }
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { file, line } => write!(f, "{file} line {line}"),
            Place::Element { file, line, path, .. } => write!(f, "{file} line {line}, {path}"),
            Place::Row { file, sheet, row } => write!(f, "{file}, sheet {sheet}, row {row}"),
            Place::File { file, .. } => f.write_str(file),
        }
    }
}

/// Returns the letters of a column of a sheet; `column` is counted from 0.
pub(crate) fn column_letters(column: usize) -> String {
    let (mut letters, mut rest) = (Vec::new(), column + 1);
    while rest > 0 {
        let letter = u8::try_from((rest - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'A' + letter));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_a_sheet() {
        let letters: Vec<_> = [0, 8, 25, 26, 701, 702, 16_383].into_iter().map(column_letters).collect();
        assert_eq!(letters, ["A", "I", "Z", "AA", "ZZ", "AAA", "XFD"]);
    }

    #[test]
    fn a_place_names_file_and_line_row_or_path() {
        let file: Arc<str> = "a/works.x".into();
        let line = Place::Line { file: file.clone(), line: 12 };
        let path = "data[3]".to_owned();
        let element = Place::Element { file: file.clone(), line: 2, path, number: 4 };
        let row = Place::Row { file: file.clone(), sheet: "Works".into(), row: 12 };
        let whole = Place::File { file, number: 7 };
        let texts = |place: &Place| (place.to_string(), place.cell(8), place.number());
        let text = |place: &str, cell: &str, number| (place.to_owned(), cell.to_owned(), number);
        assert_eq!(texts(&line), text("a/works.x line 12", "a/works.x line 12, column 9", 12));
        assert_eq!(
            texts(&element),
            text("a/works.x line 2, data[3]", "a/works.x line 2, data[3], column 9", 4)
        );
        assert_eq!(texts(&row), text("a/works.x, sheet Works, row 12", "Works!I12", 12));
        assert_eq!(texts(&whole), text("a/works.x", "a/works.x, column 9", 7));
    }
}
