//! The rows of a CSV file (RFC 4180). A quote that is not closed costs the line in which it opened, and no other.

use std::io::BufRead;

use crate::{Error, Invalid, MAX_RECORD_BYTES, Numbered, Reason};

/// Reads the rows of a CSV file as cells without their quotes, in the bytes of the file. A row may span lines. Blank lines
/// are skipped.
#[derive(Debug)]
pub struct CsvReader<R> {
    reader: R,
    delimiter: u8,
    /// Bytes read from the file; those from `start` on are not consumed yet.
    buffer: Vec<u8>,
    start: usize,
    /// Whether the buffer holds the end of the file.
    at_end: bool,
    /// The number of the line at `start`.
    line: u64,
}

/// The result of scanning the unconsumed bytes for a row.
enum RowScan {
    /// The cells of a row, and its length in bytes with the line end.
    Row(Vec<Vec<u8>>, usize),
    /// The bytes end within the row; if within quotes, in the line of the row where these opened, from 0.
    Incomplete { quote: Option<u64> },
    /// More text follows a closing quote: the lines of the row where the quotes opened and closed, from 0.
    TextAfterQuote { opened: u64, closed: u64 },
}

impl<R: BufRead> CsvReader<R> {
    /// Returns a reader of rows with this delimiter, whose first line has the number `line`.
    pub fn new(reader: R, delimiter: u8, line: u64) -> CsvReader<R> {
        CsvReader { reader, delimiter, buffer: Vec::new(), start: 0, at_end: false, line }
    }

    fn read(&mut self) -> Result<Option<Numbered<Vec<Vec<u8>>>>, Error> {
        loop {
            if self.unconsumed().is_empty() && !self.fill()? {
                return Ok(None);
            }
            let line = self.line;
            match self.scan_row() {
                RowScan::Row(cells, length) => {
                    self.consume(length);
                    if cells.iter().any(|cell| !cell.is_empty()) {
                        return Ok(Some(Numbered { line, record: Ok(cells) }));
                    }
                }
                RowScan::Incomplete { .. } if !self.at_end && self.unconsumed().len() <= MAX_RECORD_BYTES => {
                    self.fill()?;
                }
                RowScan::Incomplete { quote: Some(lines) } => {
                    let reason = Reason::OpenQuote { line: line + lines, is_too_long: !self.at_end };
                    return self.invalid(reason, lines + 1).map(Some);
                }
                RowScan::Incomplete { quote: None } => return self.invalid(Reason::TooLong, 1).map(Some),
                RowScan::TextAfterQuote { opened, closed } => {
                    let reason = Reason::TextAfterQuote { opened: line + opened, closed: line + closed };
                    return self.invalid(reason, opened + 1).map(Some);
                }
            }
        }
    }

    /// Reads more of the file. Returns `false` at its end.
    fn fill(&mut self) -> Result<bool, Error> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let more = self.reader.fill_buf()?;
        let length = more.len();
        self.buffer.extend_from_slice(more);
        self.reader.consume(length);
        self.at_end |= length == 0;
        Ok(!self.at_end)
    }

    fn unconsumed(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    fn consume(&mut self, length: usize) {
        self.line += count_lines(&self.unconsumed()[..length]);
        self.start += length;
    }

    /// Consumes this number of lines, whatever they hold; the next row begins after them.
    fn invalid(&mut self, reason: Reason, lines: u64) -> Result<Numbered<Vec<Vec<u8>>>, Error> {
        let (line, mut text) = (self.line, Vec::new());
        while self.line < line + lines {
            let end = line_end(self.unconsumed(), self.at_end);
            let length = end.unwrap_or(self.unconsumed().len());
            let room = MAX_RECORD_BYTES - text.len();
            text.extend_from_slice(&self.unconsumed()[..length.min(room)]);
            self.start += length;
            self.line += u64::from(end.is_some());
            if end.is_none() && !self.fill()? {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text).trim_end_matches(['\r', '\n']).to_owned();
        Ok(Numbered { line, record: Err(Invalid { text, reason }) })
    }

    /// Scans for a row at the beginning of the unconsumed bytes.
    fn scan_row(&self) -> RowScan {
        let (text, mut cells, mut at, mut line) = (self.unconsumed(), Vec::new(), 0, 0);
        loop {
            let cell = match self.opening_quote(at) {
                Some(quote) => self.quoted_cell(quote, line),
                None => Ok(self.plain_cell(at)),
            };
            let (cell, end) = match cell {
                Ok(cell) => cell,
                Err(scan) => return scan,
            };
            line += count_lines(&text[at..end]);
            at = end;
            cells.push(cell);
            match text.get(at) {
                Some(byte) if *byte == self.delimiter => at += 1,
                Some(_) => {
                    return match line_end(&text[at..], self.at_end) {
                        Some(length) => RowScan::Row(cells, at + length),
                        None => RowScan::Incomplete { quote: None },
                    };
                }
                None if self.at_end => return RowScan::Row(cells, at),
                None => return RowScan::Incomplete { quote: None },
            }
        }
    }

    /// Returns where the quotes of the cell that begins at this byte open. Blanks before them are ignored.
    fn opening_quote(&self, at: usize) -> Option<usize> {
        let quote = at + self.blanks(at);
        (self.unconsumed().get(quote) == Some(&b'"')).then_some(quote)
    }

    /// Returns the number of blanks from this byte on.
    fn blanks(&self, at: usize) -> usize {
        let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t') && **byte != self.delimiter;
        self.unconsumed()[at..].iter().take_while(is_blank).count()
    }

    /// Returns the cell without quotes that begins at this byte, and where it ends.
    fn plain_cell(&self, at: usize) -> (Vec<u8>, usize) {
        let text = &self.unconsumed()[at..];
        let is_end = |byte: &u8| *byte == self.delimiter || is_line_end(*byte);
        let length = text.iter().position(is_end).unwrap_or(text.len());
        (text[..length].to_vec(), at + length)
    }

    /// Returns the cell whose quotes open at this byte, in this line of the row, and where the delimiter after it is.
    fn quoted_cell(&self, mut at: usize, opened: u64) -> Result<(Vec<u8>, usize), RowScan> {
        let (text, mut cell, mut closed) = (self.unconsumed(), Vec::new(), opened);
        at += 1;
        loop {
            let Some(length) = text[at..].iter().position(|byte| *byte == b'"') else {
                return Err(RowScan::Incomplete { quote: Some(opened) });
            };
            cell.extend_from_slice(&text[at..at + length]);
            closed += count_lines(&text[at..at + length]);
            at += length + 1;
            match text.get(at) {
                Some(b'"') => {
                    cell.push(b'"');
                    at += 1;
                }
                None if !self.at_end => return Err(RowScan::Incomplete { quote: Some(opened) }),
                _ => break,
            }
        }
        // Blanks between a quote and the delimiter are ignored.
        at += self.blanks(at);
        match text.get(at) {
            Some(byte) if *byte != self.delimiter && !is_line_end(*byte) => {
                Err(RowScan::TextAfterQuote { opened, closed })
            }
            _ => Ok((cell, at)),
        }
    }
}

impl<R: BufRead> Iterator for CsvReader<R> {
    type Item = Result<Numbered<Vec<Vec<u8>>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns where the first line ends, after its line feed, carriage return or both.
fn line_end(text: &[u8], at_end: bool) -> Option<usize> {
    let at = text.iter().position(|byte| is_line_end(*byte))?;
    match (text[at], text.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(at + 2),
        // A line feed may follow in bytes that are not read yet.
        (b'\r', None) if !at_end => None,
        _ => Some(at + 1),
    }
}

fn count_lines(text: &[u8]) -> u64 {
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

    /// Returns each row with its line: the cells with bars between them, or the text and the reason.
    fn rows(text: &[u8]) -> Vec<(u64, String)> {
        // The buffer is so small that rows continue after its end.
        let reader = std::io::BufReader::with_capacity(7, text);
        let rows = CsvReader::new(reader, b',', 1).map(|row| {
            let Numbered { line, record } = row.unwrap();
            let joined = |cells: Vec<Vec<u8>>| {
                let cells: Vec<_> = cells.iter().map(|cell| String::from_utf8_lossy(cell)).collect();
                cells.join("|")
            };
            (line, record.map_or_else(|Invalid { text, reason }| format!("{text} >> {reason}"), joined))
        });
        rows.collect()
    }

    fn expected(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
        rows.iter().map(|(number, row)| (*number, (*row).to_owned())).collect()
    }

    #[test]
    fn rows_are_cut_into_cells() {
        let text = b"a,b\r\n\"x, \"\"y\"\"\nz\" ,12\" tall\r\r\n\n,\n\"\",q";
        assert_eq!(rows(text), expected(&[(1, "a|b"), (2, "x, \"y\"\nz|12\" tall"), (7, "|q")]));
        assert_eq!(rows(b"a\rb\r"), expected(&[(1, "a"), (2, "b")]));
        assert_eq!(rows(b""), []);
    }

    #[test]
    fn blanks_around_quotes_are_ignored() {
        let text = b"name, category, \"Ulm\"\nA,\t\"x, \"\"y\"\"\nz\" \t, \"\"\n \"B\",  12\" tall, ";
        let read = [(1, "name| category|Ulm"), (2, "A|x, \"y\"\nz|"), (4, "B|  12\" tall| ")];
        assert_eq!(rows(text), expected(&read));
        let within = "a, \"A 12\" vase >> is not a row of this file: the quote that opens in line 1 is closed before more text; \
                      close it, and double a quote that is part of a cell (\"\")";
        assert_eq!(rows(b"a, \"A 12\" vase\nb,B"), expected(&[(1, within), (2, "b|B")]));
        let tabs =
            CsvReader::new(&b"a\t\t \"b\tc\" \t\n"[..], b'\t', 1).map(|row| row.unwrap().record.unwrap());
        let cells = [&b"a"[..], b"", b"b\tc", b""].map(<[u8]>::to_vec);
        assert_eq!(tabs.collect::<Vec<_>>(), [cells]);
    }

    #[test]
    fn an_open_quote_costs_the_line_in_which_it_opens() {
        let open = "is not a row of this file: the quote that opens in line 2 is not closed; close it, and double a quote \
                    that is part of a cell (\"\")";
        let text = b"b1,B1\nb2,\"never closed\nb3,B3\nb4,B4";
        assert_eq!(
            rows(text),
            expected(&[
                (1, "b1|B1"),
                (2, &format!("b2,\"never closed >> {open}")),
                (3, "b3|B3"),
                (4, "b4|B4")
            ])
        );
        let closed = open.replace("not closed", "closed in line 3 before more text");
        let text = b"b1,B1\nb2,\"never closed\nb3,\"B3\"\nb4,B4";
        assert_eq!(
            rows(text),
            expected(&[
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
        // Of a row of several lines, those up to the line of the open quote are skipped.
        let rest = rows(b"a,\"one\ntwo\",\"three\nb,B");
        assert_eq!((rest.len(), &rest[1]), (2, &(3, "b|B".to_owned())));
    }

    #[test]
    fn a_row_has_at_most_a_mebibyte_and_the_rows_after_it_are_read() {
        let mut text = b"a,\"open\n".to_vec();
        for number in 0..300_000 {
            text.extend_from_slice(format!("b{number},B\n").as_bytes());
        }
        let mut rows = CsvReader::new(std::io::BufReader::with_capacity(1 << 16, &text[..]), b',', 1);
        let reason = Reason::OpenQuote { line: 1, is_too_long: true };
        assert!(reason.to_string().contains("the quote that opens in line 1 is not closed within 1 MiB"));
        let invalid = Invalid { text: "a,\"open".to_owned(), reason };
        assert_eq!(rows.read().unwrap(), Some(Numbered { line: 1, record: Err(invalid) }));
        let mut count = 0;
        while let Some(row) = rows.read().unwrap() {
            let cells = vec![format!("b{count}").into_bytes(), b"B".to_vec()];
            assert_eq!(row, Numbered { line: count + 2, record: Ok(cells) });
            count += 1;
        }
        assert_eq!(count, 300_000);
        assert!(rows.buffer.capacity() < 4 * MAX_RECORD_BYTES, "{}", rows.buffer.capacity());
        let mut long = vec![b'x'; 3 * MAX_RECORD_BYTES];
        long.extend_from_slice(b"\na,b");
        let mut rows = CsvReader::new(std::io::BufReader::with_capacity(1 << 16, &long[..]), b',', 1);
        let Some(Numbered { line: 1, record: Err(invalid) }) = rows.read().unwrap() else { panic!() };
        assert_eq!((invalid.text.len(), invalid.reason), (MAX_RECORD_BYTES, Reason::TooLong));
        let cells = vec![b"a".to_vec(), b"b".to_vec()];
        assert_eq!(rows.read().unwrap(), Some(Numbered { line: 2, record: Ok(cells) }));
    }
}
