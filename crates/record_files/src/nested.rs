//! Records within a JSON file: the elements of an array in a member, or a member of each element.

use std::io::BufRead;

use crate::json::{BrokenJson, ValueScan};
use crate::json_path::Step;
use crate::{Error, MAX_RECORD_BYTES, Numbered, RecordPath, ndjson};

/// The longest name of a member that is compared, in bytes; of longer ones the beginning is.
const MAX_MEMBER_BYTES: usize = 1 << 10;

/// The number of members that are kept to be named where the path leads nowhere.
const MAX_SEEN: usize = 12;

/// The number of bytes of an element without a record that are kept.
const EXCERPT_BYTES: usize = 200;

/// Reads the records at a path of a JSON file, in memory that holds one record. The path is followed from each value of the file, so it
/// may be NDJSON too. A record of more than [`MAX_RECORD_BYTES`] is cut two bytes after them.
#[derive(Debug)]
pub(crate) struct NestedReader<R> {
    reader: R,
    path: RecordPath,
    /// The number of line feeds that were consumed.
    lines: u64,
    /// The arrays and objects from the outermost to the one that is read.
    open: Vec<Container>,
    /// The number of values that were read outside of all of them.
    outermost: u64,
    pub(crate) reach: Reach,
}

/// How far the path led.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Whether its end was reached in some value of the file.
    pub(crate) is_found: bool,
    /// The members beside the place where the path ended for the first time.
    pub(crate) seen: Vec<String>,
    /// Whether an array stands where the path names a member.
    pub(crate) has_array: bool,
}

/// A record at the path, or an element that has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Nested {
    Record(Numbered<String>),
    /// Nothing is at this rest of the path in an element of which this is the beginning.
    Absent {
        line: u64,
        rest: String,
        text: String,
    },
}

/// An array or object on the path.
#[derive(Debug)]
struct Container {
    closing: u8,
    /// The line in which it opens.
    line: u64,
    /// The number of steps of the path that lead to its values, or, for an object, to it.
    steps: usize,
    /// The number of values that were read.
    count: u64,
    is_found: bool,
}

impl<R: BufRead> NestedReader<R> {
    pub(crate) fn new(reader: R, path: RecordPath) -> NestedReader<R> {
        NestedReader { reader, path, lines: 0, open: Vec::new(), outermost: 0, reach: Reach::default() }
    }

    /// Returns where the value that was read last is, such as `data[3]`, with elements counted from 0.
    pub(crate) fn place(&self) -> String {
        let mut place = String::new();
        for container in &self.open {
            match self.path.steps().get(container.steps) {
                Some(Step::Member(member)) if container.closing == b'}' => {
                    let point = if place.is_empty() { "" } else { "." };
                    place.push_str(point);
                    place.push_str(member);
                }
                _ => place.push_str(&format!("[{}]", container.count.saturating_sub(1))),
            }
        }
        place
    }

    /// Returns the next record, or an element without one; `None` at the end of the file.
    pub(crate) fn read(&mut self) -> Result<Option<Nested>, Error> {
        loop {
            let next = self.skip_separators()?;
            let Some(container) = self.open.last_mut() else {
                if next.is_none() {
                    return Ok(None);
                }
                self.outermost += 1;
                if let Some(nested) = self.enter(0)? {
                    return Ok(Some(nested));
                }
                continue;
            };
            let nested = match next {
                None => return Err(Error::Json { line: container.line, reason: BrokenJson::NotClosed }),
                Some(byte) if byte == container.closing => {
                    self.reader.consume(1);
                    self.leave()
                }
                Some(_) if container.closing == b']' => {
                    container.count += 1;
                    let steps = container.steps;
                    self.enter(steps)?
                }
                Some(_) => self.member()?,
            };
            if nested.is_some() {
                return Ok(nested);
            }
        }
    }

    /// Reads the member that begins at the next byte, and enters its value if the path leads there.
    fn member(&mut self) -> Result<Option<Nested>, Error> {
        let line = self.lines + 1;
        let key = self.value_text(Some(b':'), MAX_MEMBER_BYTES)?;
        if self.skip(|byte| byte.is_ascii_whitespace())? != Some(b':') {
            return Err(Error::Json { line, reason: BrokenJson::NoColon });
        }
        self.reader.consume(1);
        if self.skip(|byte| byte.is_ascii_whitespace())?.is_none() {
            return Err(Error::Json { line, reason: BrokenJson::NotClosed });
        }
        let key = serde_json::from_slice(&key).unwrap_or_else(|_| String::from_utf8_lossy(&key).into_owned());
        let Some(container) = self.open.last_mut() else { return Ok(None) };
        let steps = container.steps;
        if self.path.steps().get(steps) == Some(&Step::Member(key.clone())) {
            container.is_found = true;
            return self.enter(steps + 1);
        }
        if !self.reach.is_found && self.reach.seen.len() < MAX_SEEN && !self.reach.seen.contains(&key) {
            self.reach.seen.push(key);
        }
        self.value_text(Some(b'}'), 0)?;
        Ok(None)
    }

    /// Follows the path into the value that begins at the next byte, to which so many steps lead.
    fn enter(&mut self, steps: usize) -> Result<Option<Nested>, Error> {
        let first = self.reader.fill_buf()?.first().copied();
        let closing = match (self.path.steps().get(steps), first) {
            (None, Some(b'[')) if !self.is_list_of_records() => Some((b']', steps)),
            (None, _) => None,
            (Some(Step::Each), Some(b'[')) => Some((b']', steps + 1)),
            (Some(Step::Member(_)), Some(b'{')) => Some((b'}', steps)),
            (step, _) => {
                self.reach.has_array |= first == Some(b'[') && step.is_some();
                return self.absent(steps).map(Some);
            }
        };
        let end = self.path.steps().len();
        if steps == end || closing == Some((b']', end)) {
            self.reach.is_found = true;
        }
        match closing {
            Some((closing, steps)) => {
                let line = self.lines + 1;
                self.reader.consume(1);
                self.open.push(Container { closing, line, steps, count: 0, is_found: false });
                Ok(None)
            }
            None => {
                let line = self.lines + 1;
                let text = self.value_text(self.closing(), MAX_RECORD_BYTES + 2)?;
                Ok(Some(Nested::Record(Numbered { line, record: ndjson::record(&text) })))
            }
        }
    }

    /// Returns whether the innermost array is the one at the end of the path.
    fn is_list_of_records(&self) -> bool {
        self.open
            .last()
            .is_some_and(|container| container.closing == b']' && container.steps == self.path.steps().len())
    }

    fn closing(&self) -> Option<u8> {
        self.open.last().map(|container| container.closing)
    }

    /// Leaves the array or object that was closed.
    fn leave(&mut self) -> Option<Nested> {
        let left = self.open.pop()?;
        if left.closing != b'}' || left.is_found {
            return None;
        }
        let text = "{…}".to_owned();
        Some(Nested::Absent { line: left.line, rest: self.path.rest(left.steps), text })
    }

    /// Skips the value that begins at the next byte, in which the path leads nowhere.
    fn absent(&mut self, steps: usize) -> Result<Nested, Error> {
        let line = self.lines + 1;
        let text = self.value_text(self.closing(), EXCERPT_BYTES)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Nested::Absent { line, rest: self.path.rest(steps), text })
    }

    /// Consumes the value that begins at the next byte, and returns at most this number of its bytes.
    fn value_text(&mut self, around: Option<u8>, most: usize) -> Result<Vec<u8>, Error> {
        let (line, mut scan, mut text) = (self.lines + 1, ValueScan::new(around), Vec::new());
        loop {
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() && scan.is_open() {
                return Err(Error::Json { line, reason: BrokenJson::NotClosed });
            }
            let end = scan
                .end(bytes, &mut self.lines)
                .map_err(|reason| Error::Json { line: self.lines + 1, reason })?;
            let length = end.unwrap_or(bytes.len());
            let room = most - text.len();
            text.extend_from_slice(&bytes[..length.min(room)]);
            self.reader.consume(length);
            if end.is_some() || length == 0 {
                return Ok(text);
            }
        }
    }

    fn skip_separators(&mut self) -> Result<Option<u8>, Error> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b',')
    }

    /// Consumes bytes of a kind. Returns the first other one, which is not consumed; `None` at the end of the file.
    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) -> Result<Option<u8>, Error> {
        loop {
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| !is_skipped(*byte));
            let (length, next) = (end.unwrap_or(bytes.len()), end.map(|at| bytes[at]));
            self.lines += bytes[..length].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            self.reader.consume(length);
            if next.is_some() {
                return Ok(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Invalid;

    /// Returns each record with its place and line, or what an element lacks; at the end the error if there is one; and how far
    /// the path led. The buffer is so small that records continue after its end.
    fn read(text: &[u8], path: &str, capacity: usize) -> (Vec<String>, Reach) {
        let reader = std::io::BufReader::with_capacity(capacity, text);
        let mut reader = NestedReader::new(reader, path.parse().unwrap());
        let mut records = Vec::new();
        loop {
            match reader.read() {
                Ok(None) => return (records, reader.reach),
                Ok(Some(Nested::Record(Numbered { line, record }))) => {
                    let invalid = |Invalid { text, reason }| format!("{text} {reason}");
                    let record = record.unwrap_or_else(invalid);
                    records.push(format!("{line} {}: {record}", reader.place()));
                }
                Ok(Some(Nested::Absent { line, rest, text })) => {
                    records.push(format!("{line} {}: no {rest} in {text}", reader.place()));
                }
                Err(error) => {
                    records.push(error.to_string());
                    return (records, reader.reach);
                }
            }
        }
    }

    #[track_caller]
    fn assert_records(text: &str, path: &str, expected: &[&str]) {
        for capacity in [1, 7, 1 << 16] {
            let (records, reach) = read(text.as_bytes(), path, capacity);
            assert_eq!((&records[..], reach.is_found), (&owned(expected)[..], true), "{text} {path}");
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn an_array_in_a_member_is_a_list_of_records() {
        let text = "{\"info\": {\"data\": [0], \"x\": \"}]\"}, \"n\": 1,\n \"data\": [{\"a\": [1]},\n  [2], \"b\"\n], \"end\":true}\n";
        assert_records(text, "data", &["2 data[0]: {\"a\": [1]}", "3 data[1]: [2]", "3 data[2]: \"b\""]);
        assert_records(text, "data[]", &["2 data[0]: {\"a\": [1]}", "3 data[1]: [2]", "3 data[2]: \"b\""]);
        assert_records(text, "info", &["1 info: {\"data\": [0], \"x\": \"}]\"}"]);
        assert_records(text, "info.data", &["1 info.data[0]: 0"]);
        assert_records("{\"data\":[]}", "data", &[]);
        assert_records("[]", "[]", &[]);
        assert_records("{\"Stra\\u00dfe\":[7]}", "Straße", &["1 Straße[0]: 7"]);
    }

    #[test]
    fn a_member_of_each_element_is_a_record() {
        let text = "[\n{\"stat\":\"ok\",\"object\":{\"id\":1}},\n{\"stat\":\"fail\"},\nnull,\n{\"object\":[{\"id\":2},{\"id\":3}]}]";
        assert_records(
            text,
            "[].object",
            &[
                "2 [0].object: {\"id\":1}",
                "3 [1]: no object in {…}",
                "4 [2]: no object in null",
                "5 [3].object[0]: {\"id\":2}",
                "5 [3].object[1]: {\"id\":3}",
            ],
        );
        // Each line of NDJSON is followed, too.
        assert_records("{\"o\":{\"a\":1}}\n{\"o\":{\"a\":2}}\n", "o", &["1 o: {\"a\":1}", "2 o: {\"a\":2}"]);
    }

    #[test]
    fn how_far_a_wrong_path_led_is_known() {
        let seen = |members: &[&str], has_array| Reach { is_found: false, seen: owned(members), has_array };
        let reach = |text: &str, path| read(text.as_bytes(), path, 1 << 16).1;
        assert_eq!(reach("{\"info\":{},\"data\":[1]}", "dta"), seen(&["info", "data"], false));
        assert_eq!(reach("{\"info\":{\"x\":1}}", "info.y"), seen(&["x"], false));
        assert_eq!(reach("[{\"a\":1}]", "object"), seen(&[], true));
        assert_eq!(reach("{\"a\":1}", "[].object"), seen(&[], false));
    }

    #[test]
    fn broken_json_is_named_by_its_line() {
        let error = |text: &str| read(text.as_bytes(), "data", 7).0.pop().unwrap();
        let end = ", so the records after it cannot be told apart; correct the file, or write one JSON object a line";
        assert_eq!(
            error("{\n\"data\": [1,\n2"),
            format!("line 2 opens a JSON array or object that is not closed{end}")
        );
        assert_eq!(
            error("{\n\"data\" [1]}"),
            format!("line 2 has a member of an object without a colon after its name{end}")
        );
        assert_eq!(error("{\"x\":\n[1}}"), format!("line 2 has }} where ] is expected{end}"));
    }

    /// An array of elements that is longer than any memory that is held for it.
    struct Elements {
        left: u64,
        text: Vec<u8>,
    }

    impl std::io::Read for Elements {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.text.is_empty() && self.left > 0 {
                self.left -= 1;
                let end = if self.left == 0 { "]}" } else { "," };
                let start = "{\"name\": \"An element of a long array\", \"list\": [1, 2, {\"a\": null}]}";
                self.text = format!("{start}{end}").into_bytes();
            }
            let length = self.text.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.text[..length]);
            self.text.drain(..length);
            Ok(length)
        }
    }

    #[test]
    fn a_long_array_is_read_element_by_element() {
        const ELEMENTS: u64 = 50_000;
        let elements = Elements { left: ELEMENTS, text: b"{\"data\": [".to_vec() };
        let mut reader = NestedReader::new(std::io::BufReader::new(elements), "data".parse().unwrap());
        let mut count = 0;
        while let Some(Nested::Record(Numbered { record, .. })) = reader.read().unwrap() {
            assert_eq!(record.unwrap().len(), 67);
            count += 1;
        }
        assert_eq!((count, reader.place()), (ELEMENTS, String::new()));
        let long = format!("{{\"skipped\":\"{0}\",\"data\":[\"{0}\",1]}}", "x".repeat(3 * MAX_RECORD_BYTES));
        let (records, _) = read(long.as_bytes(), "data", 1 << 16);
        assert_eq!(records.iter().map(String::len).collect::<Vec<_>>(), [MAX_RECORD_BYTES + 2 + 11, 12]);
    }
}
