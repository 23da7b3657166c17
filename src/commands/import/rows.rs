//! Takes a CSV file apart into rows of cells (RFC 4180), in memory that does not grow with the file. A quote that is not
//! closed costs the line in which it opened, and no other.

use std::io::BufRead;

use anyhow::{Context, Result};
use schemas::import::MAX_LINE_BYTES;

/// The rows of a file, each with the number of the line in which it begins.
pub struct Rows<R> {
    reader: R,
    delimiter: u8,
    /// What is read; behind `start` it is not taken yet. The rest of the file follows it.
    pending: Vec<u8>,
    start: usize,
    ended: bool,
    /// The number of the line in which `pending` begins.
    line: u64,
}

/// One row, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub enum Row {
    /// Its cells, without their quotes.
    Cells {
        /// The line in which it begins.
        number: u64,
        /// The bytes of each cell.
        cells: Vec<Vec<u8>>,
    },
    /// A line that is no row; the next line is looked at as one.
    Faulty {
        /// Its number.
        number: u64,
        /// What it says, or the beginning of it.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a look at the beginning of a text finds.
enum Found {
    /// A row of this many bytes, its line end included.
    Whole(Vec<Vec<u8>>, usize),
    /// The text ends within the row; within quotes, in the line where they opened, counted from the row's first.
    Unfinished { quote: Option<u64> },
    /// Something follows a closing quote: the quotes opened in that line and closed in this one.
    BadQuote { opened: u64, closed: u64 },
}

impl<R: BufRead> Rows<R> {
    /// Reads from here on, with this delimiter between cells.
    pub fn new(reader: R, delimiter: u8, line: u64) -> Rows<R> {
        Rows { reader, delimiter, pending: Vec::new(), start: 0, ended: false, line }
    }

    /// Returns the next row; `None` at the end of the file. Blank lines are passed over.
    pub fn read(&mut self) -> Result<Option<Row>> {
        loop {
            if self.left().is_empty() && !self.fill()? {
                return Ok(None);
            }
            let number = self.line;
            match self.look() {
                Found::Whole(cells, length) => {
                    self.take(length);
                    if cells.iter().any(|cell| !cell.is_empty()) {
                        return Ok(Some(Row::Cells { number, cells }));
                    }
                }
                Found::Unfinished { .. } if !self.ended && self.left().len() <= MAX_LINE_BYTES => {
                    self.fill()?;
                }
                Found::Unfinished { quote: Some(after) } => {
                    let opened = number + after;
                    let within = if self.ended { "" } else { " within 1 MiB" };
                    let reason = format!("{} is not closed{within}; {DOUBLED}", quote(opened));
                    return self.faulty(reason, after + 1).map(Some);
                }
                Found::Unfinished { quote: None } => {
                    return self.faulty("is longer than 1 MiB, which a row may have".to_owned(), 1).map(Some);
                }
                Found::BadQuote { opened, closed } => {
                    let at = if opened == closed {
                        String::new()
                    } else {
                        format!(" in line {}", number + closed)
                    };
                    let reason =
                        format!("{} is closed{at} before more text; {DOUBLED}", quote(number + opened));
                    return self.faulty(reason, opened + 1).map(Some);
                }
            }
        }
    }

    /// Reads more of the file; false at its end.
    fn fill(&mut self) -> Result<bool> {
        self.pending.drain(..self.start);
        self.start = 0;
        let more = self.reader.fill_buf().context("the CSV file cannot be read")?;
        let length = more.len();
        self.pending.extend_from_slice(more);
        self.reader.consume(length);
        self.ended |= length == 0;
        Ok(!self.ended)
    }

    fn left(&self) -> &[u8] {
        &self.pending[self.start..]
    }

    /// Takes this number of lines away, whatever they hold; after them a row begins again.
    fn faulty(&mut self, reason: String, lines: u64) -> Result<Row> {
        let (number, mut text) = (self.line, Vec::new());
        while self.line < number + lines {
            let end = line_end(self.left(), self.ended);
            let length = end.unwrap_or(self.left().len());
            let room = MAX_LINE_BYTES - text.len();
            text.extend_from_slice(&self.left()[..length.min(room)]);
            self.start += length;
            self.line += u64::from(end.is_some());
            if end.is_none() && !self.fill()? {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text).trim_end_matches(['\r', '\n']).to_owned();
        Ok(Row::Faulty { number, text, reason })
    }

    fn take(&mut self, length: usize) {
        self.line += lines(&self.left()[..length]);
        self.start += length;
    }

    /// Looks for a row at the beginning of what is left.
    fn look(&self) -> Found {
        let (text, mut cells, mut at, mut line) = (self.left(), Vec::new(), 0, 0);
        loop {
            let cell = if text.get(at) == Some(&b'"') { self.quoted(at, line) } else { Ok(self.plain(at)) };
            let (cell, after) = match cell {
                Ok(cell) => cell,
                Err(found) => return found,
            };
            line += lines(&text[at..after]);
            at = after;
            cells.push(cell);
            match text.get(at) {
                Some(byte) if *byte == self.delimiter => at += 1,
                Some(_) => {
                    return match line_end(&text[at..], self.ended) {
                        Some(length) => Found::Whole(cells, at + length),
                        None => Found::Unfinished { quote: None },
                    };
                }
                None if self.ended => return Found::Whole(cells, at),
                None => return Found::Unfinished { quote: None },
            }
        }
    }

    /// Returns the cell without quotes that begins here, and where it ends.
    fn plain(&self, at: usize) -> (Vec<u8>, usize) {
        let text = &self.left()[at..];
        let is_end = |byte: &u8| *byte == self.delimiter || is_line_end(*byte);
        let length = text.iter().position(is_end).unwrap_or(text.len());
        (text[..length].to_vec(), at + length)
    }

    /// Returns the cell whose quotes open here, in this line of the row, and where the delimiter after it stands.
    fn quoted(&self, mut at: usize, opened: u64) -> Result<(Vec<u8>, usize), Found> {
        let (text, mut cell, mut closed) = (self.left(), Vec::new(), opened);
        at += 1;
        loop {
            let Some(length) = text[at..].iter().position(|byte| *byte == b'"') else {
                return Err(Found::Unfinished { quote: Some(opened) });
            };
            cell.extend_from_slice(&text[at..at + length]);
            closed += lines(&text[at..at + length]);
            at += length + 1;
            match text.get(at) {
                Some(b'"') => {
                    cell.push(b'"');
                    at += 1;
                }
                None if !self.ended => return Err(Found::Unfinished { quote: Some(opened) }),
                _ => break,
            }
        }
        // Blanks between a quote and the delimiter mean nothing.
        at += text[at..].iter().take_while(|byte| **byte == b' ').count();
        match text.get(at) {
            Some(byte) if *byte != self.delimiter && !is_line_end(*byte) => {
                Err(Found::BadQuote { opened, closed })
            }
            _ => Ok((cell, at)),
        }
    }
}

const DOUBLED: &str = "close it, and double a quote that stands inside a cell (\"\")";

fn quote(line: u64) -> String {
    format!("is no row of this file: the quote that opens in line {line}")
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns where the first line ends, after its line feed, carriage return or both.
fn line_end(text: &[u8], is_all: bool) -> Option<usize> {
    let at = text.iter().position(|byte| is_line_end(*byte))?;
    match (text[at], text.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(at + 2),
        // A line feed may follow.
        (b'\r', None) if !is_all => None,
        _ => Some(at + 1),
    }
}

/// Counts line ends.
fn lines(text: &[u8]) -> u64 {
    let (mut count, mut before) = (0, 0);
    for byte in text {
        count += u64::from(*byte == b'\r' || (*byte == b'\n' && before != b'\r'));
        before = *byte;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows in short: the line, the cells with bars between them, or the fault.
    fn rows(text: &[u8]) -> Vec<(u64, String)> {
        // A small buffer, so that rows stand across its ends.
        let reader = std::io::BufReader::with_capacity(7, text);
        let mut rows = Rows::new(reader, b',', 1);
        let mut found = Vec::new();
        while let Some(row) = rows.read().unwrap() {
            found.push(match row {
                Row::Cells { number, cells } => {
                    let cells: Vec<_> = cells.iter().map(|cell| String::from_utf8_lossy(cell)).collect();
                    (number, cells.join("|"))
                }
                Row::Faulty { number, text, reason } => (number, format!("{text} >> {reason}")),
            });
        }
        found
    }

    fn found(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
        rows.iter().map(|(number, row)| (*number, (*row).to_owned())).collect()
    }

    #[test]
    fn rows_are_cut_into_cells() {
        let text = b"a,b\r\n\"x, \"\"y\"\"\nz\" ,12\" tall\r\r\n\n,\n\"\",q";
        assert_eq!(rows(text), found(&[(1, "a|b"), (2, "x, \"y\"\nz|12\" tall"), (7, "|q")]));
        assert_eq!(rows(b"a\rb\r"), found(&[(1, "a"), (2, "b")]));
        assert_eq!(rows(b""), []);
    }

    #[test]
    fn an_open_quote_costs_the_line_in_which_it_opens() {
        let open = "is no row of this file: the quote that opens in line 2 is not closed; close it, and double a quote \
                    that stands inside a cell (\"\")";
        let text = b"b1,B1\nb2,\"never closed\nb3,B3\nb4,B4";
        assert_eq!(
            rows(text),
            found(&[(1, "b1|B1"), (2, &format!("b2,\"never closed >> {open}")), (3, "b3|B3"), (4, "b4|B4")])
        );
        let closed = open.replace("not closed", "closed in line 3 before more text");
        let text = b"b1,B1\nb2,\"never closed\nb3,\"B3\"\nb4,B4";
        assert_eq!(
            rows(text),
            found(&[
                (1, "b1|B1"),
                (2, &format!("b2,\"never closed >> {closed}")),
                (3, "b3|B3"),
                (4, "b4|B4")
            ])
        );
        let within = rows(b"\"A 12\" tall vase\",art\nB,art");
        assert_eq!((within[0].0, &within[1]), (1, &(2, "B|art".to_owned())));
        assert!(
            within[0].1.contains("the quote that opens in line 1 is closed before more text"),
            "{within:?}"
        );
        // A row of several lines is passed over up to the line of its open quote.
        let rest = rows(b"a,\"one\ntwo\",\"three\nb,B");
        assert_eq!((rest.len(), &rest[1]), (2, &(3, "b|B".to_owned())));
    }

    #[test]
    fn a_row_has_at_most_a_mebibyte_and_the_rows_after_it_are_read() {
        let mut text = b"a,\"open\n".to_vec();
        for number in 0..300_000 {
            text.extend_from_slice(format!("b{number},B\n").as_bytes());
        }
        let mut rows = Rows::new(std::io::BufReader::with_capacity(1 << 16, &text[..]), b',', 1);
        let Some(Row::Faulty { number: 1, text: shown, reason }) = rows.read().unwrap() else { panic!() };
        assert_eq!(shown, "a,\"open");
        assert!(reason.contains("the quote that opens in line 1 is not closed within 1 MiB"), "{reason}");
        let mut count = 0;
        while let Some(row) = rows.read().unwrap() {
            let cells = vec![format!("b{count}").into_bytes(), b"B".to_vec()];
            assert_eq!(row, Row::Cells { number: count + 2, cells });
            count += 1;
        }
        assert_eq!(count, 300_000);
        assert!(rows.pending.capacity() < 4 * MAX_LINE_BYTES, "{}", rows.pending.capacity());
        let mut long = vec![b'x'; 3 * MAX_LINE_BYTES];
        long.extend_from_slice(b"\na,b");
        let mut rows = Rows::new(std::io::BufReader::with_capacity(1 << 16, &long[..]), b',', 1);
        let Some(Row::Faulty { number: 1, text, reason }) = rows.read().unwrap() else { panic!() };
        assert_eq!(
            (text.len(), reason.as_str()),
            (MAX_LINE_BYTES, "is longer than 1 MiB, which a row may have")
        );
        let cells = vec![b"a".to_vec(), b"b".to_vec()];
        assert_eq!(rows.read().unwrap(), Some(Row::Cells { number: 2, cells }));
    }
}
