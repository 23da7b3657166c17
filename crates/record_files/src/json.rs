//! Records in JSON: the lines of NDJSON, the elements of an array, or objects that span lines. Whether a record is JSON is left
//! to the caller; of its text only the brackets and quotes are looked at, to find its end.

use std::fmt::{self, Display, Formatter};
use std::io::BufRead;

use crate::ndjson::{self, NdjsonReader};
use crate::{Error, MAX_RECORD_BYTES, Numbered};

/// The deepest nesting of a record. The readers of JSON go no deeper.
const MAX_DEPTH: usize = 128;

/// Reads the records of a file of JSON. A file that begins with `[` is an array, whose elements are the records. A file that
/// begins with an object over several lines, as programs write it that indent, is a sequence of such objects. Every other
/// file is NDJSON: blank lines are skipped, and one broken line costs no other. A record of more than [`MAX_RECORD_BYTES`] is
/// cut two bytes after them, so that its length shows that it is too long.
///
/// ```
/// use record_files::JsonReader;
///
/// let mut records = JsonReader::new(&b"[\n {\"name\": \"A\"},\n {\"name\": \"B\"}\n]"[..])?;
/// assert!(records.is_array());
/// let record = records.next().transpose()?.expect("two elements");
/// assert_eq!((record.line, record.record.unwrap().as_str()), (2, "{\"name\": \"A\"}"));
/// # Ok::<(), record_files::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonReader<R> {
    lines: NdjsonReader<R>,
    layout: Layout,
    is_array: bool,
}

/// How the records that follow are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    /// By commas, up to the end of the array that opens in this line.
    Array {
        opened: u64,
    },
    /// By their brackets.
    Objects,
}

/// Why the end of a JSON value is not known. `Display` completes a sentence that begins with the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenJson {
    /// It opens an array or an object, and the file ends before this is closed.
    NotClosed,
    /// It has a closing bracket of the wrong kind.
    Mismatch {
        /// The bracket.
        found: char,
        /// The bracket that would close what is open.
        expected: char,
    },
    /// It opens more arrays and objects within each other than are read.
    TooDeep,
    /// The name of a member has no colon after it.
    NoColon,
}

impl Display for BrokenJson {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BrokenJson::NotClosed => f.write_str("opens a JSON array or object that is not closed"),
            BrokenJson::Mismatch { found, expected } => write!(f, "has {found} where {expected} is expected"),
            BrokenJson::NoColon => f.write_str("has a member of an object without a colon after its name"),
            BrokenJson::TooDeep => write!(f, "is nested deeper than {MAX_DEPTH} arrays and objects"),
        }
    }
}

impl<R: BufRead> JsonReader<R> {
    /// Returns a reader whose first line is line 1.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn new(reader: R) -> Result<JsonReader<R>, Error> {
        let mut reader =
            JsonReader { lines: NdjsonReader::new(reader), layout: Layout::Lines, is_array: false };
        reader.find_layout()?;
        reader.is_array = matches!(reader.layout, Layout::Array { .. });
        Ok(reader)
    }

    /// Returns whether the file is an array.
    pub fn is_array(&self) -> bool {
        self.is_array
    }

    /// Finds how the records that follow are told apart, and consumes the bracket that opens an array.
    fn find_layout(&mut self) -> Result<(), Error> {
        let start = self.skip(|byte| byte.is_ascii_whitespace())?;
        self.layout = match start {
            Some(b'[') => {
                self.lines.reader.consume(1);
                Layout::Array { opened: self.line() }
            }
            _ if spans_lines(self.lines.reader.fill_buf()?) => Layout::Objects,
            _ => Layout::Lines,
        };
        Ok(())
    }

    /// Returns the number of the line of the next byte.
    fn line(&self) -> u64 {
        self.lines.line + 1
    }

    /// Consumes bytes of a kind. Returns the first other one, which is not consumed; `None` at the end of the file.
    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) -> Result<Option<u8>, Error> {
        loop {
            let bytes = self.lines.reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| !is_skipped(*byte));
            let (length, next) = (end.unwrap_or(bytes.len()), end.map(|at| bytes[at]));
            self.lines.line += bytes[..length].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            self.lines.reader.consume(length);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn read(&mut self) -> Result<Option<Numbered<String>>, Error> {
        loop {
            let layout = self.layout;
            if layout == Layout::Lines {
                return self.lines.read();
            }
            match (self.skip_separators()?, layout) {
                (Some(b']'), Layout::Array { .. }) => {
                    self.lines.reader.consume(1);
                    // More may follow: another array, or lines after a first one that only began as an array does.
                    self.find_layout()?;
                }
                (Some(_), _) => return self.read_value().map(Some),
                (None, Layout::Array { opened }) => {
                    return Err(Error::Json { line: opened, reason: BrokenJson::NotClosed });
                }
                (None, _) => return Ok(None),
            }
        }
    }

    /// Consumes what separates values. A comma too many loses nothing, so it is no fault.
    fn skip_separators(&mut self) -> Result<Option<u8>, Error> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b',')
    }

    /// Reads the value that begins at the next byte.
    fn read_value(&mut self) -> Result<Numbered<String>, Error> {
        let line = self.line();
        let closing = matches!(self.layout, Layout::Array { .. }).then_some(b']');
        let (mut scan, mut text) = (ValueScan::new(closing), Vec::new());
        loop {
            let bytes = self.lines.reader.fill_buf()?;
            if bytes.is_empty() && scan.is_open() {
                return Err(Error::Json { line, reason: BrokenJson::NotClosed });
            }
            let end = scan
                .end(bytes, &mut self.lines.line)
                .map_err(|reason| Error::Json { line: self.lines.line + 1, reason })?;
            let length = end.unwrap_or(bytes.len());
            let room = MAX_RECORD_BYTES + 2 - text.len();
            text.extend_from_slice(&bytes[..length.min(room)]);
            self.lines.reader.consume(length);
            if end.is_some() || length == 0 {
                return Ok(Numbered { line, record: ndjson::record(&text) });
            }
        }
    }
}

impl<R: BufRead> Iterator for JsonReader<R> {
    type Item = Result<Numbered<String>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Returns whether a file that begins so has objects that span lines: its first line is only a bracket, and the next one
/// neither begins an object, as in NDJSON with a broken first line, nor is any other value.
fn spans_lines(start: &[u8]) -> bool {
    let Some(rest) = start.strip_prefix(b"{") else { return false };
    let length = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    rest[..length].contains(&b'\n') && matches!(rest.get(length), Some(b'"' | b'}'))
}

/// The state of a search for the end of a value.
pub(crate) struct ValueScan {
    /// The brackets that close what is open.
    open: Vec<u8>,
    in_text: bool,
    is_escaped: bool,
    /// The bracket that ends the value where nothing is open: the one of the array or object around it.
    around: Option<u8>,
}

impl ValueScan {
    /// Returns the state at the beginning of a value that this bracket of the array or object around it ends.
    pub(crate) fn new(around: Option<u8>) -> ValueScan {
        ValueScan { open: Vec::new(), in_text: false, is_escaped: false, around }
    }

    /// Returns whether an array or object of the value is not closed yet.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns where the value ends in the next bytes, of which the first is within it; `None` if it does not. Counts the lines
    /// before that.
    pub(crate) fn end(&mut self, bytes: &[u8], lines: &mut u64) -> Result<Option<usize>, BrokenJson> {
        for (at, byte) in bytes.iter().copied().enumerate() {
            // A text ends with its line, so that one without its closing quote does not hide the brackets after it.
            if byte == b'\n' {
                (self.in_text, self.is_escaped) = (false, false);
            }
            let closes = if self.in_text {
                self.within_text(byte);
                !self.in_text
            } else {
                match byte {
                    b'"' => self.in_text = true,
                    b'{' => self.opens(b'}')?,
                    b'[' => self.opens(b']')?,
                    _ if self.open.is_empty() && self.around == Some(byte) => return Ok(Some(at)),
                    b',' if self.open.is_empty() => return Ok(Some(at)),
                    _ if self.open.is_empty() && byte.is_ascii_whitespace() => return Ok(Some(at)),
                    b'}' | b']' => self.closes(byte)?,
                    _ => {}
                }
                matches!(byte, b'}' | b']')
            };
            if closes && self.open.is_empty() {
                return Ok(Some(at + 1));
            }
            *lines += u64::from(byte == b'\n');
        }
        Ok(None)
    }

    fn within_text(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.in_text = false,
            _ => {}
        }
    }

    fn opens(&mut self, closing: u8) -> Result<(), BrokenJson> {
        if self.open.len() == MAX_DEPTH {
            return Err(BrokenJson::TooDeep);
        }
        self.open.push(closing);
        Ok(())
    }

    /// A bracket that closes nothing is a value of its own, which is not JSON.
    fn closes(&mut self, found: u8) -> Result<(), BrokenJson> {
        match self.open.pop() {
            Some(expected) if expected != found => {
                Err(BrokenJson::Mismatch { found: char::from(found), expected: char::from(expected) })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Invalid;

    /// Returns each record with its line, and at the end the error if there is one. The buffer is so small that records continue
    /// after its end.
    fn read(text: &[u8], capacity: usize) -> (Vec<(u64, String)>, Option<String>) {
        let mut reader = JsonReader::new(std::io::BufReader::with_capacity(capacity, text)).unwrap();
        let mut records = Vec::new();
        loop {
            match reader.read() {
                Ok(None) => return (records, None),
                Ok(Some(Numbered { line, record })) => {
                    let invalid = |Invalid { text, reason }| format!("{text} {reason}");
                    records.push((line, record.unwrap_or_else(invalid)));
                }
                Err(error) => return (records, Some(error.to_string())),
            }
        }
    }

    fn records(text: &str) -> Vec<(u64, String)> {
        let (records, error) = read(text.as_bytes(), 1 << 16);
        assert_eq!(error, None, "{text:?}");
        // How much is read at once makes no difference. That a file spans lines is seen in what is read first.
        for capacity in [8, 9, 16, 31] {
            assert_eq!(read(text.as_bytes(), capacity), (records.clone(), None), "{text:?}");
        }
        records
    }

    fn expected(records: &[(u64, &str)]) -> Vec<(u64, String)> {
        records.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
    }

    #[test]
    fn the_elements_of_an_array_are_records() {
        let a = "{\n    \"name\": \"A, [\\\"] }\",\n    \"list\": [\n      {\"x\": 1}\n    ]\n  }";
        let pretty = format!("\n[\n  {a},\n  {{\"name\": \"B\"}}\n]\n");
        assert_eq!(records(&pretty), expected(&[(3, a), (9, "{\"name\": \"B\"}")]));
        assert_eq!(records("[{\"a\":1},{\"b\":[]}]"), expected(&[(1, "{\"a\":1}"), (1, "{\"b\":[]}")]));
        assert_eq!(records(" [ ] "), []);
        let others = "[1, \"a,b\" ,null\n,[2],\n,{},]";
        assert_eq!(
            records(others),
            expected(&[(1, "1"), (1, "\"a,b\""), (1, "null"), (2, "[2]"), (3, "{}")])
        );
        assert!(JsonReader::new(&b" \n[1]"[..]).unwrap().is_array());
        assert!(!JsonReader::new(&b"{\"a\":[1]}"[..]).unwrap().is_array());
    }

    #[test]
    fn a_broken_element_costs_no_other() {
        let text = "[\n{\"name\": \"A},\n\"x\": 1},\n{\"b\"},\nnul}\n,{\"c\":1}\n]";
        let elements = [(2, "{\"name\": \"A},\n\"x\": 1}"), (4, "{\"b\"}"), (5, "nul}"), (6, "{\"c\":1}")];
        assert_eq!(records(text), expected(&elements));
        let not_utf_8 = "\"Z\u{fffd}\" has the byte 0xFC at byte 3, which is not UTF-8";
        assert_eq!(read(b"[\"Z\xfc\",\n1]", 8), (expected(&[(1, not_utf_8), (2, "1")]), None));
    }

    #[test]
    fn what_follows_an_array_is_read() {
        assert_eq!(
            records("[1]\n{\"a\":1}\n{\"b\n[2]"),
            expected(&[(1, "1"), (2, "{\"a\":1}"), (3, "{\"b"), (4, "[2]")])
        );
        assert_eq!(records("[1] [2,\n3]\n\n"), expected(&[(1, "1"), (1, "2"), (2, "3")]));
    }

    #[test]
    fn objects_may_span_lines() {
        let (a, b) = ("{\n\t\"a\": {\n\t}\n}", "{\n\t\"b\": 1}");
        let both = format!("{a}\n{b}\n\n{{}}\n");
        assert_eq!(records(&both), expected(&[(1, a), (5, b), (8, "{}")]));
        assert_eq!(records("{\n}\n"), expected(&[(1, "{\n}")]));
        // The first line of NDJSON may be broken.
        assert_eq!(
            records("{\n{\"a\":1}\n{\"b\":\n{}"),
            expected(&[(1, "{"), (2, "{\"a\":1}"), (3, "{\"b\":"), (4, "{}")])
        );
    }

    #[test]
    fn an_array_whose_brackets_do_not_match_is_an_error() {
        let error = |reason: &str| {
            Some(format!(
                "{reason}, so the records after it cannot be told apart; correct the file, or write one JSON object a line"
            ))
        };
        let not_closed = "opens a JSON array or object that is not closed";
        for (text, before, reason) in [
            ("[\n1,\n2\n", &[(2, "1"), (3, "2")][..], format!("line 1 {not_closed}")),
            ("\n[1,\n{\"a\":\n[2]", &[(2, "1")], format!("line 3 {not_closed}")),
            ("{\n\"a\": 1\n", &[], format!("line 1 {not_closed}")),
            ("[\n1,\n{\"a\":\n[2}\n]", &[(2, "1")], "line 4 has } where ] is expected".into()),
        ] {
            for capacity in [8, 1 << 16] {
                assert_eq!(read(text.as_bytes(), capacity), (expected(before), error(&reason)), "{text:?}");
            }
        }
        let deep = "[".repeat(MAX_DEPTH + 2);
        let reason = "line 1 is nested deeper than 128 arrays and objects";
        assert_eq!(read(deep.as_bytes(), 1 << 16), (Vec::new(), error(reason)));
    }

    #[test]
    fn an_element_that_is_too_long_is_cut_and_the_next_is_complete() {
        let text = format!("[\"{}\",\n{{}}]", "ü".repeat(MAX_RECORD_BYTES));
        let (records, error) = read(text.as_bytes(), 1 << 16);
        let lengths: Vec<_> =
            records.iter().map(|(line, text)| (*line, text.len() > MAX_RECORD_BYTES)).collect();
        assert_eq!((lengths, error), (vec![(1, true), (2, false)], None));
        assert!(records[0].1.len() < MAX_RECORD_BYTES + 8);
    }
}
