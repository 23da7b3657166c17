//! Records as a workbook of Excel (.xlsx): the table of [`ExportTable`] in which every cell is a text, so that no program takes one for
//! a formula, or `0987` for a number.

use std::io::Write;

use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};

use crate::export_table::{ExportTable, TableError};
use crate::spreadsheet_cell::workbook_cell_of_text;

/// The maximum length of a cell in Excel, in UTF-16 units.
const MAX_CELL: usize = 32_767;

/// A workbook that is exported. Its rows are in a temporary file, so that it takes no more memory than one of them.
pub struct ExportWorkbook {
    table: ExportTable,
    workbook: Workbook,
    text: Format,
    /// The number of rows that are written, with that of the headings.
    rows: u32,
}

impl ExportWorkbook {
    /// Begins a workbook with the headings of a table.
    ///
    /// # Errors
    ///
    /// Fails if there are more columns than a sheet can have, a heading is too long for a cell, or there is no temporary file.
    pub fn new(table: ExportTable) -> Result<ExportWorkbook, TableError> {
        let mut workbook = Workbook::new();
        // Also cells that people fill in are texts.
        let text = Format::new().set_num_format("@");
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name("Projects")?.set_freeze_panes(1, 1)?;
        let last = u16::try_from(table.headings().len() - 1).map_err(|_| XlsxError::RowColumnLimitError)?;
        sheet.set_column_range_format(0, last, &text)?;
        let headings = table.headings();
        write_row(sheet, 0, headings, &text, |column| TableError::LongHeading(headings[column].clone()))?;
        Ok(ExportWorkbook { table, workbook, text, rows: 1 })
    }

    /// Adds the row of an import record.
    ///
    /// # Errors
    ///
    /// Fails if a text is longer than a cell may be, there are more rows than a sheet can have, or the record fills a column that the
    /// table does not have.
    pub fn add(&mut self, line: &str) -> Result<(), TableError> {
        let texts = self.table.texts(line)?;
        let headings = self.table.headings();
        let too_long = |column: usize| TableError::LongCell {
            // The first column is the slug.
            project: texts[0].clone(),
            column: headings[column].clone(),
        };
        let sheet = self.workbook.worksheet_from_index(0)?;
        write_row(sheet, self.rows, &texts, &self.text, too_long)?;
        self.rows += 1;
        Ok(())
    }

    /// Writes the whole workbook.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn write(mut self, to: impl Write + Send) -> Result<(), TableError> {
        Ok(self.workbook.save_to_writer(to)?)
    }
}

fn write_row(
    sheet: &mut Worksheet,
    row: u32,
    texts: &[String],
    format: &Format,
    too_long: impl Fn(usize) -> TableError,
) -> Result<(), TableError> {
    for (text, column) in texts.iter().zip(0_u16..).filter(|(text, _)| !text.is_empty()) {
        let cell = workbook_cell_of_text(text);
        if cell.encode_utf16().count() > MAX_CELL {
            return Err(too_long(usize::from(column)));
        }
        sheet.write_string_with_format(row, column, cell, format)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Batches, ImportFile};

    fn workbook() -> ExportWorkbook {
        let columns = ["year", "intro", "details.Area"].map(str::to_owned);
        ExportWorkbook::new(ExportTable::of(&columns).unwrap()).unwrap()
    }

    #[test]
    fn cells_come_back_as_texts() {
        let mut workbook = workbook();
        let intro = "=1+1 <b> & \"c\"\n_x0041_\tä 🏛";
        let record = json!({
            "slug": "a", "year": "0987", "intro": intro, "details": [{"label": "Area", "value": "'=x"}],
        });
        workbook.add(&record.to_string()).unwrap();
        workbook.add("{\"slug\":\"b\",\"year\":1990}").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sheet.xlsx");
        workbook.write(std::fs::File::create(&path).unwrap()).unwrap();
        let file = ImportFile { path, ..ImportFile::default() };
        let mut batches = Batches::open(&file).unwrap();
        let lines = batches.next_batch().unwrap().unwrap().lines;
        let records: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect();
        let first = json!({"slug": "a", "year": "0987", "intro": intro, "details": {"Area": "'=x"}});
        let second = json!({"slug": "b", "year": "1990", "intro": null, "details": {"Area": null}});
        assert_eq!(records, [first, second]);
    }

    #[test]
    fn a_text_that_is_too_long_names_its_project_and_column() {
        let mut workbook = workbook();
        let record = |length: usize| format!("{{\"slug\":\"a\",\"intro\":\"{}\"}}", "x".repeat(length));
        workbook.add(&record(MAX_CELL)).unwrap();
        assert_eq!(
            workbook.add(&record(MAX_CELL + 1)).unwrap_err().to_string(),
            "the text of intro of the project a is longer than the 32,767 characters of a cell in Excel; export CSV, or name other \
             columns with --columns"
        );
    }
}
