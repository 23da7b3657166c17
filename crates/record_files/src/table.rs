//! A CSV file as a table: a row of headings, and below it rows with one cell for each heading.

use std::collections::VecDeque;
use std::io::BufRead;

use crate::{CsvReader, Error, Invalid, Numbered, Reason};

/// The number of rows at the beginning of a file among which the headings are looked for below a title.
const TITLE_ROWS: usize = 30;

/// Reads the rows of a CSV file as cells in UTF-8, without white space around them. Rows of empty cells are skipped, and so are
/// empty cells beyond the last heading.
#[derive(Debug)]
pub struct Table<R> {
    rows: CsvReader<R>,
    /// Rows after the headings that were read to find these.
    next: VecDeque<RawRow>,
    headings: Vec<String>,
    headings_line: u64,
}

/// The cells of a row in the bytes of the file.
type RawRow = Numbered<Vec<Vec<u8>>>;

/// What is known about a CSV file before it is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The delimiter, an ASCII character; by default it is found.
    pub delimiter: Option<u8>,
    /// The line of the headings, from 1; by default the first row.
    pub headings_line: Option<u64>,
    /// Whether rows with one cell above the first row with three are a title, and not the headings.
    pub skip_title: bool,
}

impl<R: BufRead> Table<R> {
    /// Reads the headings. The delimiter is the one that a first line such as `sep=;` names, as Excel writes it; otherwise
    /// the one of comma, semicolon, tab and bar that the headings have most of, outside quotes.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or its first row is not a row.
    pub fn new(reader: R) -> Result<Table<R>, Error> {
        Table::with_options(reader, TableOptions::default())
    }

    /// Reads the headings of a file about which something is known. A line such as `sep=;` is skipped even if the delimiter is
    /// given.
    ///
    /// # Errors
    ///
    /// Fails as [`Table::new`] does.
    pub fn with_options(mut reader: R, options: TableOptions) -> Result<Table<R>, Error> {
        let start = reader.fill_buf()?;
        let (named, first_line) = match named_delimiter(start) {
            Some((delimiter, length)) => {
                reader.consume(length);
                (Some(delimiter), 2)
            }
            None => (None, 1),
        };
        let delimiter = match options.delimiter.or(named) {
            Some(delimiter) => delimiter,
            None => frequent_delimiter(reader.fill_buf()?, options.skip_title),
        };
        let mut rows = CsvReader::new(reader, delimiter, first_line);
        let mut next = first_rows(&mut rows, options)?;
        let Some(Numbered { line, record }) = next.pop_front() else {
            return Ok(Table { rows, next, headings: Vec::new(), headings_line: 0 });
        };
        let cells = record.map_err(|Invalid { reason, .. }| Error::Headings { line, reason })?;
        let heading = |cell: Vec<u8>| match String::from_utf8(cell) {
            Ok(heading) => Ok(heading.trim().to_owned()),
            Err(error) => {
                let reason = Reason::not_utf8(error.as_bytes(), error.utf8_error(), None);
                Err(Error::Headings { line, reason })
            }
        };
        let headings = cells.into_iter().map(heading).collect::<Result<_, _>>()?;
        Ok(Table { rows, next, headings, headings_line: line })
    }

    /// Returns the number of the line in which the headings begin, from 1; 0 if there are none.
    pub fn headings_line(&self) -> u64 {
        self.headings_line
    }

    /// Returns the headings, in the order of the columns; none if the file is empty.
    pub fn headings(&self) -> &[String] {
        &self.headings
    }

    fn read(&mut self) -> Result<Option<Numbered<Vec<String>>>, Error> {
        loop {
            let row = match self.next.pop_front() {
                Some(row) => Some(row),
                None => self.rows.next().transpose()?,
            };
            let Some(Numbered { line, record }) = row else { return Ok(None) };
            let record = match record {
                Ok(cells) if is_blank(&cells) => continue,
                Ok(cells) => self.texts(&cells).map_err(|reason| {
                    let texts: Vec<_> = cells.iter().map(|cell| String::from_utf8_lossy(cell)).collect();
                    Invalid { text: texts.join(" | "), reason }
                }),
                Err(invalid) => Err(invalid),
            };
            return Ok(Some(Numbered { line, record }));
        }
    }

    fn texts(&self, cells: &[Vec<u8>]) -> Result<Vec<String>, Reason> {
        // Programs that pad rows to the widest one write delimiters after the last column.
        let beyond = cells.get(self.headings.len()..).unwrap_or_default();
        if cells.len() < self.headings.len() || !is_blank(beyond) {
            return Err(Reason::CellCount { cells: cells.len(), headings: self.headings.len() });
        }
        let text = |(heading, cell): (&String, &Vec<u8>)| match std::str::from_utf8(cell) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) => Err(Reason::not_utf8(cell, error, Some(heading))),
        };
        self.headings.iter().zip(cells).map(text).collect()
    }
}

impl<R: BufRead> Iterator for Table<R> {
    type Item = Result<Numbered<Vec<String>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Reads rows up to the headings, which are returned with the rows after them that were read.
fn first_rows<R: BufRead>(rows: &mut CsvReader<R>, options: TableOptions) -> Result<VecDeque<RawRow>, Error> {
    let looks_below_title = options.skip_title && options.headings_line.is_none();
    let count = if looks_below_title { TITLE_ROWS } else { 1 };
    let mut first = VecDeque::new();
    while first.len() < count
        && let Some(row) = rows.next().transpose()?
    {
        let is_above = options.headings_line.is_some_and(|line| row.line < line);
        if !is_above && !row.record.as_ref().is_ok_and(|cells| is_blank(cells)) {
            first.push_back(row);
        }
    }
    let filled = |row: &RawRow| match &row.record {
        Ok(cells) => cells.iter().filter(|cell| !cell.trim_ascii().is_empty()).count(),
        Err(_) => 0,
    };
    if looks_below_title && first.iter().any(|row| filled(row) >= 3) {
        while first.front().is_some_and(|row| row.record.is_ok() && filled(row) == 1) {
            first.pop_front();
        }
    }
    Ok(first)
}

fn is_blank(row: &[Vec<u8>]) -> bool {
    row.iter().all(|cell| cell.trim_ascii().is_empty())
}

/// Returns the delimiter that a first line such as `sep=;` names, and the length of that line in bytes.
fn named_delimiter(start: &[u8]) -> Option<(u8, usize)> {
    match start {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter, b'\r', b'\n', ..] => Some((*delimiter, 7)),
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter, b'\n' | b'\r', ..] => Some((*delimiter, 6)),
        _ => None,
    }
}

/// Returns the delimiter that the headings have most of, outside quotes; of several, the one that is more usual. `start` is
/// the beginning of the file, where blank lines may precede the headings, and lines without a delimiter if they are a title. A
/// line below such a title counts only with two delimiters.
fn frequent_delimiter(start: &[u8], skip_title: bool) -> u8 {
    const DELIMITERS: [u8; 4] = [b'|', b'\t', b';', b','];
    let mut counts = [0; DELIMITERS.len()];
    let (mut is_blank, mut begins_cell, mut is_quoted) = (true, true, false);
    // The number of delimiters that does not make a line the headings.
    let mut least = 0;
    for byte in start {
        match byte {
            b'"' if is_quoted || begins_cell => {
                (is_quoted, is_blank, begins_cell) = (!is_quoted, false, false)
            }
            _ if is_quoted => {}
            b'\n' | b'\r' if is_blank => begins_cell = true,
            b'\n' | b'\r' if skip_title && counts.iter().all(|count| *count <= least) => {
                (counts, least, begins_cell) = ([0; DELIMITERS.len()], 1, true);
            }
            b'\n' | b'\r' => break,
            byte => {
                let delimiter = DELIMITERS.iter().position(|delimiter| delimiter == byte);
                if let Some(index) = delimiter {
                    counts[index] += 1;
                }
                begins_cell = delimiter.is_some() || (begins_cell && *byte == b' ');
                is_blank &= *byte == b' ';
            }
        }
    }
    let most = DELIMITERS.into_iter().zip(counts).max_by_key(|(_, count)| *count);
    most.map_or(b',', |(delimiter, _)| delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each row with its line: the cells with bars between them, or the text and the reason.
    fn read(bytes: &[u8]) -> Vec<(u64, String)> {
        let rows = Table::new(bytes).unwrap().map(|row| {
            let Numbered { line, record } = row.unwrap();
            let invalid = |Invalid { text, reason }| format!("{text} >> {reason}");
            (line, record.map_or_else(invalid, |cells| cells.join("|")))
        });
        rows.collect()
    }

    #[test]
    fn a_row_has_one_cell_for_each_heading_and_blank_rows_are_skipped() {
        assert_eq!(
            read(b" name ;category\nA; art \n ; \nB\nC;art\n"),
            [
                (2, "A|art".into()),
                (4, "B >> is not a row of this file: it has 1 cells, and the headings have 2".into()),
                (5, "C|art".into())
            ]
        );
        assert_eq!(Table::new(&b" name ;category"[..]).unwrap().headings(), ["name", "category"]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn a_cell_that_is_not_utf_8_is_invalid_and_its_column_is_named() {
        let reason = "has the byte 0xFC at byte 2 of the column “city”, which is not UTF-8";
        assert_eq!(read(b"name,city\nA,Z\xfcrich\n"), [(2, format!("A | Z\u{fffd}rich >> {reason}"))]);
        let error = Table::new(&b"name,Stra\xdfe\n"[..]).unwrap_err().to_string();
        assert_eq!(error, "line 1, the CSV headings, has the byte 0xDF at byte 5, which is not UTF-8");
    }

    #[test]
    fn the_delimiter_may_be_named() {
        for text in [&b"sep=;\nname;city\nA, B;Ulm\n"[..], b"sep=;\r\nname;city\r\nA, B;Ulm\r\n"] {
            assert_eq!(read(text), [(3, "A, B|Ulm".into())]);
        }
        assert_eq!(read(b"name\tcity\rA, B\tUlm\r"), [(2, "A, B|Ulm".into())]);
    }

    #[test]
    fn the_delimiter_is_the_one_that_the_headings_have_most_of_outside_quotes() {
        for (text, headings) in [
            ("name|category|city\n", &["name", "category", "city"][..]),
            ("name\n", &["name"]),
            ("name,a|b\n", &["name", "a|b"]),
            ("\"a;b;c\",name\n", &["a;b;c", "name"]),
            ("name, \"a;b\n;c\"\n1;2;3;4,5\n", &["name", "a;b\n;c"]),
            ("Height 12\";Width\n", &["Height 12\"", "Width"]),
            ("\n \r\nname;city\n", &["name", "city"]),
        ] {
            assert_eq!(Table::new(text.as_bytes()).unwrap().headings(), headings, "{text:?}");
        }
        assert_eq!(read(b"name|city\n\"A|B\"|Ulm\n"), [(2, "A|B|Ulm".into())]);
    }

    #[test]
    fn empty_cells_beyond_the_headings_are_skipped_and_others_are_not() {
        let reason = "is not a row of this file: it has 3 cells, and the headings have 2";
        assert_eq!(
            read(b"name,city\nA,Ulm,, \nB,Ulm,x\n"),
            [(2, "A|Ulm".into()), (3, format!("B | Ulm | x >> {reason}"))]
        );
    }

    /// Returns the headings with their line, and the number of rows below them.
    fn headings(text: &str, options: TableOptions) -> (u64, String, usize) {
        let table = Table::with_options(text.as_bytes(), options).unwrap();
        (table.headings_line(), table.headings().join("|"), table.count())
    }

    #[test]
    fn a_title_above_the_headings_is_skipped_if_asked_for() {
        let skip = TableOptions { skip_title: true, ..TableOptions::default() };
        let rows = "No.;Title;Year\n1;A;2001\n2;B;2002\n";
        let below = |line| (line, "No.|Title|Year".to_owned(), 2);
        assert_eq!(headings(rows, skip), below(1));
        assert_eq!(headings(&format!("Works 2026\n\nUlm\n{rows}"), skip), below(4));
        assert_eq!(headings(&format!("Works;;\n{rows}"), skip), below(2));
        assert_eq!(headings("Title\nA, B\nC\n", skip), (1, "Title".into(), 2));
        assert_eq!(headings("No.;Title\n1;A\n", skip), (1, "No.|Title".into(), 1));
        assert_eq!(headings("", skip), (0, String::new(), 0));
        assert_eq!(headings(&format!("Works;;\n{rows}"), TableOptions::default()), (1, "Works||".into(), 3));
    }

    #[test]
    fn the_line_of_the_headings_and_the_delimiter_may_be_given() {
        let text = "sep=;\nREQUIRED:a;b:c\n\"x\ny\":z\nno:title\n1:A\n";
        let options = TableOptions { delimiter: Some(b':'), headings_line: Some(5), skip_title: false };
        assert_eq!(headings(text, options), (5, "no|title".into(), 1));
        assert_eq!(headings("a;b\n", TableOptions { headings_line: Some(9), ..options }).0, 0);
    }
}
