//! NDJSON: one text per line. Whether it is JSON is left to the caller.

use std::io::{BufRead, Read};

use crate::{Error, Invalid, MAX_RECORD_BYTES, Numbered, Reason};

/// Reads the lines of an NDJSON file. Blank lines are skipped. A line of more than [`MAX_RECORD_BYTES`] is cut two bytes
/// after them, so that its length shows that it is too long.
#[derive(Debug)]
pub(crate) struct NdjsonReader<R> {
    pub(crate) reader: R,
    /// The number of the last line that was read.
    pub(crate) line: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> NdjsonReader<R> {
    /// Returns a reader whose first line is line 1.
    pub(crate) fn new(reader: R) -> NdjsonReader<R> {
        NdjsonReader { reader, line: 0, buffer: Vec::new() }
    }

    /// Returns the next line that is not blank; `None` at the end of the file.
    pub(crate) fn read(&mut self) -> Result<Option<Numbered<String>>, Error> {
        loop {
            self.buffer.clear();
            let limit = MAX_RECORD_BYTES as u64 + 2;
            if self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            if self.buffer.len() as u64 == limit && !self.buffer.ends_with(b"\n") {
                self.reader.skip_until(b'\n')?;
            }
            self.line += 1;
            let text = self.buffer.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let record = record(text);
            return Ok(Some(Numbered { line: self.line, record }));
        }
    }
}

/// Returns the bytes of a record as a text.
pub(crate) fn record(bytes: &[u8]) -> Result<String, Invalid> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        // A long record may be cut within a character.
        Err(error) if bytes.len() > MAX_RECORD_BYTES && error.error_len().is_none() => {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
        Err(error) => Err(Invalid {
            text: String::from_utf8_lossy(bytes).into_owned(),
            reason: Reason::not_utf8(bytes, error, None),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each line with its number; for an invalid one the text and the reason.
    fn read(bytes: &[u8]) -> Vec<(u64, String)> {
        let mut reader = NdjsonReader::new(bytes);
        let lines = std::iter::from_fn(|| {
            let Numbered { line, record } = reader.read().unwrap()?;
            Some((line, record.unwrap_or_else(|Invalid { text, reason }| format!("{text} {reason}"))))
        });
        lines.collect()
    }

    #[test]
    fn lines_keep_their_numbers() {
        assert_eq!(read(b"{\"a\":1}\r\n\n  \n{\"b\":2}"), [(1, "{\"a\":1}".into()), (4, "{\"b\":2}".into())]);
    }

    #[test]
    fn a_line_that_is_not_utf_8_is_invalid_and_its_byte_is_named() {
        let reason = "has the byte 0xFC at byte 11, which is not UTF-8";
        assert_eq!(
            read(b"{}\n{\"name\":\"Z\xfcrich\"}\n{}"),
            [(1, "{}".into()), (2, format!("{{\"name\":\"Z\u{fffd}rich\"}} {reason}")), (3, "{}".into())]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_next_is_complete() {
        let mut file = vec![b'x'; 3 * MAX_RECORD_BYTES];
        file.extend_from_slice(b"\n{}\n");
        let lines = read(&file);
        assert_eq!(
            lines.iter().map(|(number, text)| (*number, text.len())).collect::<Vec<_>>(),
            [(1, MAX_RECORD_BYTES + 2), (2, 2)]
        );
    }
}
