//! A CSV file as a table: a row of headings, and below it rows with one cell for each heading.

use std::io::BufRead;

use crate::{CsvReader, Error, Invalid, Numbered, Reason};

/// Reads the rows of a CSV file as cells in UTF-8, without white space around them. Rows of empty cells are skipped.
#[derive(Debug)]
pub struct Table<R> {
    rows: CsvReader<R>,
    headings: Vec<String>,
}

impl<R: BufRead> Table<R> {
    /// Reads the headings. The delimiter is the one that a first line such as `sep=;` names, as Excel writes it; otherwise
    /// the one of comma, semicolon, tab and bar that the headings have most of, outside quotes.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or its first row is not a row.
    pub fn new(mut reader: R) -> Result<Table<R>, Error> {
        let start = reader.fill_buf()?;
        let (delimiter, first_line) = match named_delimiter(start) {
            Some((delimiter, length)) => {
                reader.consume(length);
                (delimiter, 2)
            }
            None => (frequent_delimiter(start), 1),
        };
        let mut rows = CsvReader::new(reader, delimiter, first_line);
        let (line, cells) = loop {
            let Some(Numbered { line, record }) = rows.next().transpose()? else {
                return Ok(Table { rows, headings: Vec::new() });
            };
            let cells = record.map_err(|Invalid { reason, .. }| Error::Headings { line, reason })?;
            if !is_blank(&cells) {
                break (line, cells);
            }
        };
        let heading = |cell: Vec<u8>| match String::from_utf8(cell) {
            Ok(heading) => Ok(heading.trim().to_owned()),
            Err(error) => {
                let reason = Reason::not_utf8(error.as_bytes(), error.utf8_error(), None);
                Err(Error::Headings { line, reason })
            }
        };
        let headings = cells.into_iter().map(heading).collect::<Result<_, _>>()?;
        Ok(Table { rows, headings })
    }

    /// Returns the headings, in the order of the columns; none if the file is empty.
    pub fn headings(&self) -> &[String] {
        &self.headings
    }

    fn read(&mut self) -> Result<Option<Numbered<Vec<String>>>, Error> {
        loop {
            let Some(Numbered { line, record }) = self.rows.next().transpose()? else { return Ok(None) };
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
        if cells.len() != self.headings.len() {
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
/// the beginning of the file, where blank lines may precede the headings.
fn frequent_delimiter(start: &[u8]) -> u8 {
    const DELIMITERS: [u8; 4] = [b'|', b'\t', b';', b','];
    let mut counts = [0; DELIMITERS.len()];
    let (mut is_blank, mut begins_cell, mut is_quoted) = (true, true, false);
    for byte in start {
        match byte {
            b'"' if is_quoted || begins_cell => {
                (is_quoted, is_blank, begins_cell) = (!is_quoted, false, false)
            }
            _ if is_quoted => {}
            b'\n' | b'\r' if is_blank => begins_cell = true,
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
}
