//! The headings and rows of a sheet.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;

use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx, XlsxCellReader, XlsxError};

use super::{WorkbookFault, WorkbookOptions, cell};
use crate::MAX_RECORD_BYTES;
use crate::place::column_letters;
use crate::record::{Refusal, SourceReason};

/// The number of rows with values among which the headings are looked for.
const SURVEYED_ROWS: usize = 50;

/// The number of columns of a sheet of Excel.
const MAX_COLUMNS: u32 = 16_384;

/// The most formulas without a stored value that are remembered. A workbook with more was written by a program that stores none.
const MAX_WITHOUT_VALUE: usize = 100_000;

pub(crate) type Workbook = Xlsx<BufReader<File>>;

/// A sheet and the row of its headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Headings {
    pub(crate) sheet: String,
    /// The number of their row, from 1.
    pub(crate) row: u64,
    pub(crate) texts: Vec<String>,
}

/// What the beginning of a sheet looks like: of each row with values its index, its values, and how many of these are texts.
type Survey = Vec<(u32, usize, usize)>;

/// Finds the headings: in the sheet and row that are named, otherwise in the first visible sheet that has at least three of them above
/// other rows, or else two.
pub(crate) fn find_headings(
    workbook: &mut Workbook,
    options: &WorkbookOptions,
) -> Result<Headings, WorkbookFault> {
    let names = sheet_names(workbook);
    let (sheet, row) = match &options.sheet {
        Some(sheet) => {
            let Some(name) = names.iter().find(|name| *name == sheet) else {
                let is_alike = |name: &&String| name.trim().eq_ignore_ascii_case(sheet.trim());
                let nearest = names.iter().find(is_alike).cloned();
                return Err(WorkbookFault::NoSheet { sheet: sheet.clone(), nearest, names });
            };
            let survey = survey(workbook, name)?;
            let first = survey.first().map(|(row, ..)| *row);
            (name.clone(), headings_row(&survey).map(|(row, _)| row).or(first))
        }
        None => first_table(workbook, &names)?,
    };
    let row = match options.headings {
        Some(row) => Some(u32::try_from(row.saturating_sub(1)).unwrap_or(u32::MAX)),
        None => row,
    };
    let no_headings = WorkbookFault::NoHeadings { sheet: sheet.clone() };
    let Some(row) = row else { return Err(no_headings) };
    let texts = headings_at(workbook, &sheet, row)?;
    match texts.iter().all(String::is_empty) {
        true => Err(no_headings),
        false => Ok(Headings { sheet, row: u64::from(row) + 1, texts }),
    }
}

/// Returns the names of the visible sheets with cells, in the order of the workbook.
pub(crate) fn sheet_names(workbook: &Workbook) -> Vec<String> {
    let sheets = workbook.sheets_metadata().iter();
    let visible = sheets
        .filter(|sheet| sheet.visible == SheetVisible::Visible && matches!(sheet.typ, SheetType::WorkSheet));
    visible.map(|sheet| sheet.name.clone()).collect()
}

/// Returns the first sheet that has a table, and the row of its headings if it is known.
fn first_table(workbook: &mut Workbook, names: &[String]) -> Result<(String, Option<u32>), WorkbookFault> {
    let mut narrow = None;
    for name in names {
        let survey = survey(workbook, name)?;
        match headings_row(&survey) {
            Some((row, 3..)) => return Ok((name.clone(), Some(row))),
            Some((row, _)) if narrow.is_none() => narrow = Some((name.clone(), Some(row))),
            _ => {}
        }
    }
    let first = || names.first().map(|name| (name.clone(), None));
    narrow.or_else(first).ok_or_else(|| WorkbookFault::NotAWorkbook("it has no visible sheet".to_owned()))
}

fn survey(workbook: &mut Workbook, sheet: &str) -> Result<Survey, WorkbookFault> {
    let mut cells = workbook.worksheet_cells_reader(sheet).map_err(|error| damaged(sheet, 0, &error))?;
    let mut rows: Survey = Vec::new();
    while let Some(cell) = cells.next_cell().map_err(|error| damaged(sheet, 0, &error))? {
        let is_text = match cell.get_value() {
            DataRef::Empty => continue,
            DataRef::String(text) if text.trim().is_empty() => continue,
            DataRef::SharedString(text) if text.trim().is_empty() => continue,
            DataRef::String(_) | DataRef::SharedString(_) => 1,
            _ => 0,
        };
        let (row, _) = cell.get_position();
        let is_full = rows.len() == SURVEYED_ROWS;
        match rows.last_mut() {
            Some((last, filled, texts)) if *last == row => {
                *filled += 1;
                *texts += is_text;
            }
            _ if is_full => break,
            _ => rows.push((row, 1, is_text)),
        }
    }
    Ok(rows)
}

/// Returns the row that has the headings, and how many: the first of texts alone that has half as many as the widest row, and rows
/// below it.
fn headings_row(survey: &[(u32, usize, usize)]) -> Option<(u32, usize)> {
    let widest = survey.iter().map(|(_, filled, _)| *filled).max()?;
    let above = survey.split_last()?.1.iter();
    let is_headings =
        |(_, filled, texts): &&(u32, usize, usize)| *filled >= 2 && filled == texts && filled * 2 >= widest;
    above.copied().find(|row| is_headings(&row)).map(|(row, filled, _)| (row, filled))
}

/// Returns the texts of a row, up to the last that is not empty.
fn headings_at(workbook: &mut Workbook, sheet: &str, row: u32) -> Result<Vec<String>, WorkbookFault> {
    let mut rows = Rows::new(workbook, sheet)?;
    while let Some(next) = rows.read()? {
        if next.index >= row {
            let texts = next.cells.into_iter().filter(|_| next.index == row);
            let texts: Vec<_> = texts.map(|(column, text)| (column, text.unwrap_or_default())).collect();
            let end = texts.iter().filter(|(_, text)| !text.is_empty()).map(|(column, _)| column + 1).max();
            let mut headings = vec![String::new(); end.unwrap_or(0)];
            for (column, text) in texts {
                if let Some(heading) = headings.get_mut(column) {
                    *heading = text;
                }
            }
            return Ok(headings);
        }
    }
    Ok(Vec::new())
}

/// A row with values.
#[derive(Debug, PartialEq, Eq)]
struct SheetRow {
    /// The index of the row, from 0.
    index: u32,
    /// The columns, from 0, and the texts or errors of its cells.
    cells: Vec<(usize, Result<String, String>)>,
    /// Whether cells were left out because the row is longer than a record may be.
    is_too_long: bool,
}

/// The row and the column of a cell, from 0, and its text or the error that is its value.
type SheetCell = (u32, u32, Result<String, String>);

/// Reads the rows of a sheet, each of which is held in memory alone.
struct Rows<'a> {
    sheet: &'a str,
    reader: XlsxCellReader<'a, BufReader<File>>,
    /// The cell after the row that was read.
    next: Option<SheetCell>,
    /// The number of the last row that was read, from 1.
    row: u64,
}

impl<'a> Rows<'a> {
    fn new(workbook: &'a mut Workbook, sheet: &'a str) -> Result<Rows<'a>, WorkbookFault> {
        let reader = workbook.worksheet_cells_reader(sheet).map_err(|error| damaged(sheet, 0, &error))?;
        let mut rows = Rows { sheet, reader, next: None, row: 0 };
        rows.next = rows.read_cell()?;
        Ok(rows)
    }

    fn read_cell(&mut self) -> Result<Option<SheetCell>, WorkbookFault> {
        let cell = self.reader.next_cell_with_style_id();
        let cell = cell.map_err(|error| damaged(self.sheet, self.row, &error))?;
        Ok(cell.map(|(cell, style)| {
            let (row, column) = cell.get_position();
            (row, column, cell::text(cell.get_value(), self.reader.styles().get(style)))
        }))
    }

    fn read(&mut self) -> Result<Option<SheetRow>, WorkbookFault> {
        let Some((index, column, text)) = self.next.take() else { return Ok(None) };
        let (mut length, mut cell) = (0, Some((column, text)));
        let mut row = SheetRow { index, cells: Vec::new(), is_too_long: false };
        self.row = u64::from(index) + 1;
        while let Some((column, text)) = cell.take() {
            length += text.as_ref().map_or(0, String::len);
            match column < MAX_COLUMNS && length <= MAX_RECORD_BYTES {
                true => row.cells.push((column as usize, text)),
                false => row.is_too_long = true,
            }
            match self.read_cell()? {
                Some((next, column, text)) if next == index => cell = Some((column, text)),
                next => self.next = next,
            }
        }
        Ok(Some(row))
    }
}

/// Returns the cells with a formula of which the workbook does not store the value, as pairs of row and column from 0.
fn formulas_without_value(
    workbook: &mut Workbook,
    sheet: &str,
) -> Result<HashSet<(u32, u32)>, WorkbookFault> {
    let mut cells = workbook.worksheet_cells_reader(sheet).map_err(|error| damaged(sheet, 0, &error))?;
    let mut found = HashSet::new();
    // Formulas that are shared by cells are not expanded: their text is not used, and could be made to fill the memory.
    while let Some(cell) =
        cells.next_cell_with_formula_metadata().map_err(|error| damaged(sheet, 0, &error))?
    {
        if cell.formula.is_some() && cell.value == DataRef::Empty {
            found.insert(cell.pos);
            if found.len() > MAX_WITHOUT_VALUE {
                return Err(WorkbookFault::NoStoredValues { cell: cell_name(sheet, cell.pos.0, cell.pos.1) });
            }
        }
    }
    Ok(found)
}

/// Reads the rows below the headings that are not empty: the number of the row, from 1, and a text for each heading. Ends early where
/// `each` returns `false`.
pub(crate) fn for_each_row(
    workbook: &mut Workbook,
    headings: &Headings,
    mut each: impl FnMut(u64, Result<Vec<String>, Refusal>) -> bool,
) -> Result<(), WorkbookFault> {
    let without_value = formulas_without_value(workbook, &headings.sheet)?;
    let mut rows = Rows::new(workbook, &headings.sheet)?;
    while let Some(row) = rows.read()? {
        let number = u64::from(row.index) + 1;
        if number <= headings.row {
            continue;
        }
        let cells = texts(row, headings, &without_value);
        let is_blank = cells.as_ref().is_ok_and(|cells| cells.iter().all(String::is_empty));
        if !is_blank && !each(number, cells) {
            break;
        }
    }
    Ok(())
}

/// Returns a text for each heading, or what is wrong with the first cell that has none.
fn texts(
    row: SheetRow,
    headings: &Headings,
    without_value: &HashSet<(u32, u32)>,
) -> Result<Vec<String>, Refusal> {
    let index = row.index;
    let name = |column: usize| cell_name(&headings.sheet, index, u32::try_from(column).unwrap_or(u32::MAX));
    let mut texts = vec![String::new(); headings.texts.len()];
    let mut fault = row.is_too_long.then_some(SourceReason::TooLong);
    for (column, text) in row.cells {
        let is_absent = without_value.contains(&(index, u32::try_from(column).unwrap_or(u32::MAX)));
        let reason = match (text, texts.get_mut(column)) {
            _ if is_absent => Some(SourceReason::FormulaWithoutValue { cell: name(column) }),
            (Err(value), _) => Some(SourceReason::ErrorValue { cell: name(column), value }),
            (Ok(text), Some(cell)) => {
                *cell = text;
                None
            }
            (Ok(text), None) => {
                (!text.is_empty()).then(|| SourceReason::BeyondHeadings { cell: name(column) })
            }
        };
        fault = fault.or(reason);
    }
    match fault {
        None => Ok(texts),
        Some(reason) => Err(Refusal { text: texts.join(" | "), reason }),
    }
}

fn cell_name(sheet: &str, row: u32, column: u32) -> String {
    format!("{sheet}!{}{}", column_letters(column as usize), u64::from(row) + 1)
}

fn damaged(sheet: &str, row: u64, error: &XlsxError) -> WorkbookFault {
    WorkbookFault::Damaged { sheet: sheet.to_owned(), row, reason: error.to_string() }
}
