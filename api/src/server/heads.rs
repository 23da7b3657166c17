//! Inspects the heads of requests as they arrive for what hyper accepts and proxies may parse differently (request smuggling): a line
//! feed without a carriage return, which ends a header for one and not for the other, and a body whose length is stated twice. An
//! ambiguous head is corrupted, so that hyper refuses it like any malformed one.

use memchr::memchr;

/// The bytes of a line that are kept between two reads: more than any header with the length of a body.
const REMEMBERED: usize = 128;

/// Inspects the requests of a connection.
#[derive(Debug, Default)]
pub(super) struct Heads {
    at: At,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    head: Head,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Head,
    /// Within a body, with this number of bytes to come.
    Body(u64),
    /// The line with the length of the next chunk.
    ChunkSize,
    /// Within a chunk, with this number of bytes to come, including the line end after it.
    Chunk(u64),
    Trailers,
    /// Nothing more is inspected: the connection is about to end.
    Over,
}

/// The facts of the head so far.
#[derive(Debug, Default)]
struct Head {
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
}

/// An ambiguous head.
struct Ambiguous;

impl Heads {
    /// Inspects bytes in their order, and corrupts an ambiguous head.
    pub(super) fn inspect(&mut self, bytes: &mut [u8]) {
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
                        // A byte that is not allowed in a head.
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

    /// Handles a line that is complete except for its line feed; `part` is its last read part.
    fn line_ends(&mut self, part: &[u8]) -> Result<(), Ambiguous> {
        if self.line.is_empty() {
            return self.take(part);
        }
        self.remember(part);
        let line = std::mem::take(&mut self.line);
        self.take(&line)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Ambiguous> {
        let line = line.strip_suffix(b"\r").ok_or(Ambiguous)?;
        match self.at {
            At::ChunkSize => self.at = chunk(line),
            At::Trailers if line.is_empty() => self.at = At::Head,
            At::Head if line.is_empty() && self.head.has_begun => {
                self.at = match std::mem::take(&mut self.head) {
                    Head { is_chunked: true, length: Some(_), .. } => return Err(Ambiguous),
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

    fn header(&mut self, line: &[u8]) -> Result<(), Ambiguous> {
        self.head.has_begun = true;
        if value_of(line, b"transfer-encoding").is_some() {
            self.head.is_chunked = true;
        } else if let Some(value) = value_of(line, b"content-length") {
            // The end of a longer line may be missing.
            if line.len() + 1 >= REMEMBERED {
                return Err(Ambiguous);
            }
            let digits = value.iter().all(u8::is_ascii_digit).then_some(value).ok_or(Ambiguous)?;
            let length =
                std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(Ambiguous)?;
            if self.head.length.is_some_and(|declared| declared != length) {
                return Err(Ambiguous);
            }
            self.head.length = Some(length);
        }
        Ok(())
    }
}

/// Returns what follows a line with the length of a chunk; an invalid line ends the connection.
fn chunk(line: &[u8]) -> At {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let size = std::str::from_utf8(&line[..digits]).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    match size {
        None => At::Over,
        Some(0) => At::Trailers,
        Some(size) => size.checked_add(2).map_or(At::Over, At::Chunk),
    }
}

/// Returns the value of the header with this name in lower case.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (own, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    own.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the offset of the corrupted byte, the same for every division into reads.
    fn corrupted(text: &str) -> Option<usize> {
        let mut found = Vec::new();
        for size in [1, 2, 3, 7, 64, 1_000_000] {
            let mut heads = Heads::default();
            let mut bytes = text.as_bytes().to_vec();
            bytes.chunks_mut(size).for_each(|part| heads.inspect(part));
            found.push(bytes.iter().zip(text.as_bytes()).position(|(now, before)| now != before));
        }
        assert!(found.iter().all(|at| *at == found[0]), "{text:?}: {found:?}");
        found[0]
    }

    const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn unambiguous_requests_pass() {
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
            assert_eq!(corrupted(&text), None, "{text:?}");
        }
    }

    #[test]
    fn a_line_feed_alone_is_refused() {
        for (before, behind) in [
            ("GET / HTTP/1.1\r\nX: a", "\nTransfer-Encoding: chunked\r\n\r\n"),
            ("GET / HTTP/1.1", "\nHost: a\r\n\r\n"),
            ("GET / HTTP/1.1\r\nHost: a\r\n", "\n"),
        ] {
            assert_eq!(corrupted(&format!("{before}{behind}")), Some(before.len()), "{before:?}");
            for first in [
                GET.to_owned(),
                "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na\nb".to_owned(),
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n\r\n".to_owned(),
            ] {
                let at = first.len() + before.len();
                assert_eq!(corrupted(&format!("{first}{before}{behind}")), Some(at), "behind {first:?}");
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
            assert!(corrupted(&format!("POST / HTTP/1.1\r\n{headers}\r\n")).is_some(), "{headers:?}");
        }
    }
}
