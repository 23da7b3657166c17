//! Looks at the heads of requests as they come in, for what hyper takes and proxies may read in another way: a line feed
//! without a carriage return, which ends a header for one and not for the other, and a body whose length is told twice. What is
//! not plain is spoilt, so that hyper refuses it as it refuses what is malformed.

use memchr::memchr;

/// How much of a line is remembered between two reads: more than any header that tells a body's length.
const REMEMBERED: usize = 128;

/// Follows the requests of a connection.
#[derive(Debug, Default)]
pub(super) struct Heads {
    at: At,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    head: Head,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Head,
    /// So many bytes of a body are still to come.
    Body(u64),
    /// The line that tells how long the next chunk is.
    ChunkSize,
    /// So many bytes of a chunk, and the end of the line behind it.
    Chunk(u64),
    Trailers,
    /// Nothing more is looked at: the connection is about to end.
    Over,
}

/// What the head that is being read has told.
#[derive(Debug, Default)]
struct Head {
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
}

/// A head that is not plain.
struct NotPlain;

impl Heads {
    /// Looks at bytes in the order in which they came, and spoils a head that is not plain.
    pub(super) fn look(&mut self, bytes: &mut [u8]) {
        let mut from = 0;
        while from < bytes.len() && self.at != At::Over {
            match self.at {
                At::Body(left) | At::Chunk(left) => {
                    let rest = (bytes.len() - from) as u64;
                    let passed = left.min(rest);
                    let left = left - passed;
                    from += usize::try_from(passed).unwrap_or(usize::MAX);
                    self.at = match self.at {
                        At::Body(_) if left == 0 => At::Head,
                        At::Body(_) => At::Body(left),
                        _ if left == 0 => At::ChunkSize,
                        _ => At::Chunk(left),
                    };
                }
                At::Head | At::ChunkSize | At::Trailers | At::Over => {
                    let Some(length) = memchr(b'\n', &bytes[from..]) else {
                        self.remember(&bytes[from..]);
                        return;
                    };
                    let end = from + length;
                    if self.line_ends(&bytes[from..end]).is_err() {
                        // No byte that a head may hold.
                        bytes[end] = 0;
                        self.at = At::Over;
                    }
                    from = end + 1;
                }
            }
        }
    }

    fn remember(&mut self, part: &[u8]) {
        // The last byte is always kept: it may be the carriage return.
        let room = REMEMBERED.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room
            && let (Some(last), Some(kept)) = (part.last(), self.line.last_mut())
        {
            *kept = *last;
        }
    }

    /// A line is complete but for its line feed; `part` is what came of it last.
    fn line_ends(&mut self, part: &[u8]) -> Result<(), NotPlain> {
        if self.line.is_empty() {
            return self.take(part);
        }
        self.remember(part);
        let line = std::mem::take(&mut self.line);
        self.take(&line)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), NotPlain> {
        let line = line.strip_suffix(b"\r").ok_or(NotPlain)?;
        match self.at {
            At::ChunkSize => self.at = chunk(line),
            At::Trailers if line.is_empty() => self.at = At::Head,
            At::Head if line.is_empty() && self.head.has_begun => {
                self.at = match std::mem::take(&mut self.head) {
                    Head { is_chunked: true, length: Some(_), .. } => return Err(NotPlain),
                    Head { is_chunked: true, .. } => At::ChunkSize,
                    Head { length: Some(length), .. } if length > 0 => At::Body(length),
                    Head { .. } => At::Head,
                };
            }
            At::Head if !line.is_empty() => self.header(line)?,
            _ => {}
        }
        Ok(())
    }

    fn header(&mut self, line: &[u8]) -> Result<(), NotPlain> {
        self.head.has_begun = true;
        if value_of(line, b"transfer-encoding").is_some() {
            self.head.is_chunked = true;
        } else if let Some(value) = value_of(line, b"content-length") {
            // Of a longer line the end may be forgotten.
            if line.len() + 1 >= REMEMBERED {
                return Err(NotPlain);
            }
            let digits = value.iter().all(u8::is_ascii_digit).then_some(value).ok_or(NotPlain)?;
            let length =
                std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(NotPlain)?;
            if self.head.length.is_some_and(|told| told != length) {
                return Err(NotPlain);
            }
            self.head.length = Some(length);
        }
        Ok(())
    }
}

/// What follows a line with the length of a chunk; one that cannot be read ends the connection.
fn chunk(line: &[u8]) -> At {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let size = std::str::from_utf8(&line[..digits]).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    match size {
        None => At::Over,
        Some(0) => At::Trailers,
        Some(size) => size.checked_add(2).map_or(At::Over, At::Chunk),
    }
}

/// The value of a header of this name, in small letters.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (own, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    own.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where bytes are spoilt, however they are cut into reads.
    fn spoilt(text: &str) -> Option<usize> {
        let mut found = Vec::new();
        for size in [1, 2, 3, 7, 64, 1_000_000] {
            let mut heads = Heads::default();
            let mut bytes = text.as_bytes().to_vec();
            bytes.chunks_mut(size).for_each(|part| heads.look(part));
            found.push(bytes.iter().zip(text.as_bytes()).position(|(now, before)| now != before));
        }
        assert!(found.iter().all(|at| *at == found[0]), "{text:?}: {found:?}");
        found[0]
    }

    const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn plain_requests_pass() {
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n{GET}", "y".repeat(3_000));
        for text in [
            GET.to_owned(),
            format!("\r\n{GET}{GET}"),
            format!("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\nb\nc{GET}"),
            format!("POST / HTTP/1.1\r\ncontent-length:  0 \r\n\r\n{GET}"),
            format!(
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\na\nb\r\n0\r\nT: u\r\n\r\n{GET}"
            ),
            long,
            "nonsense".to_owned(),
        ] {
            assert_eq!(spoilt(&text), None, "{text:?}");
        }
    }

    #[test]
    fn a_line_feed_alone_ends_no_header() {
        for (before, behind) in [
            ("GET / HTTP/1.1\r\nX: a", "\nTransfer-Encoding: chunked\r\n\r\n"),
            ("GET / HTTP/1.1", "\nHost: a\r\n\r\n"),
            ("GET / HTTP/1.1\r\nHost: a\r\n", "\n"),
        ] {
            assert_eq!(spoilt(&format!("{before}{behind}")), Some(before.len()), "{before:?}");
            for first in [
                GET.to_owned(),
                "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na\nb".to_owned(),
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n\r\n".to_owned(),
            ] {
                let at = first.len() + before.len();
                assert_eq!(spoilt(&format!("{first}{before}{behind}")), Some(at), "behind {first:?}");
            }
        }
    }

    #[test]
    fn a_body_has_one_length() {
        for headers in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: 99999999999999999999999\r\n",
        ] {
            assert!(spoilt(&format!("POST / HTTP/1.1\r\n{headers}\r\n")).is_some(), "{headers:?}");
        }
    }
}
