//! The encoding of a file that does not name it.

use std::io::{self, Read};

use crate::Encoding;

/// The number of bytes that are looked at at once.
const CHUNK: usize = 1 << 16;

/// The number of bytes at the beginning of a file in which UTF-16 without a byte order mark is looked for.
const UTF_16_SAMPLE: usize = 1 << 10;

/// Returns the encoding of a whole file: UTF-16 or UTF-8 by a byte order mark, UTF-16 by the zeros that Latin letters have in it,
/// otherwise UTF-8 or Windows-1252 by which of both the bytes beyond ASCII rather are. A file of UTF-8 with a few broken bytes
/// remains UTF-8, so that these cost their lines and not the umlauts of all the others.
///
/// The file is read to its end, in constant memory.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub(crate) fn of_file(mut file: impl Read) -> io::Result<Encoding> {
    let (mut counts, mut chunk, mut carried) = (Counts::default(), vec![0; CHUNK], 0);
    let mut is_start = true;
    loop {
        let length = carried + file.read(&mut chunk[carried..])?;
        let at_end = length == carried;
        if is_start && let Some(encoding) = by_mark_or_zeros(&chunk[..length]) {
            return Ok(encoding);
        }
        is_start = false;
        let tail = counts.add(&chunk[..length], at_end);
        chunk.copy_within(length - tail..length, 0);
        carried = tail;
        if at_end {
            return Ok(counts.encoding());
        }
    }
}

/// Returns the encoding of a stream of which only the beginning is known, by the same rules.
pub(crate) fn of_start(start: &[u8]) -> Encoding {
    by_mark_or_zeros(start).unwrap_or_else(|| {
        let mut counts = Counts::default();
        counts.add(start, false);
        counts.encoding()
    })
}

/// Returns the encoding that a byte order mark names, or UTF-16 where every other byte is zero.
pub(crate) fn by_mark_or_zeros(start: &[u8]) -> Option<Encoding> {
    match start {
        [0xef, 0xbb, 0xbf, ..] => return Some(Encoding::Utf8),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Some(Encoding::Utf16),
        _ => {}
    }
    let sample = &start[..start.len().min(UTF_16_SAMPLE)];
    let zeros = |first: usize| sample.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    // Latin text has a zero in nearly every unit, always on the same side.
    (even.max(odd) * 2 > sample.len() / 2 && even.min(odd) == 0).then_some(Encoding::Utf16)
}

/// What the bytes beyond ASCII are.
#[derive(Debug, Default)]
struct Counts {
    /// Characters of several bytes in UTF-8.
    characters: u64,
    /// Bytes that are not UTF-8.
    invalid: u64,
}

impl Counts {
    /// Counts what is in the bytes. Returns the number of bytes at the end that are the beginning of a character, and are not
    /// counted unless this is the end of the file.
    fn add(&mut self, bytes: &[u8], at_end: bool) -> usize {
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            self.characters += chunk.valid().bytes().map(|byte| u64::from(byte >= 0xc0)).sum::<u64>();
            let invalid = chunk.invalid();
            at += chunk.valid().len() + invalid.len();
            let is_cut =
                at == bytes.len() && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if is_cut && !at_end {
                return invalid.len();
            }
            self.invalid += u64::from(!invalid.is_empty());
        }
        0
    }

    fn encoding(&self) -> Encoding {
        match self.invalid > self.characters {
            true => Encoding::Windows1252,
            false => Encoding::Utf8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the encoding of a file of which each read returns one byte more than the one before.
    fn detect(bytes: &[u8]) -> Encoding {
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.1 += 1;
                let length = self.1.min(buffer.len());
                self.0.read(&mut buffer[..length])
            }
        }
        // The first read must hold what the file begins with.
        let encoding = of_file(Slow(bytes, 64)).unwrap();
        assert_eq!(of_start(bytes), encoding);
        encoding
    }

    #[test]
    fn the_encoding_is_found_by_the_bytes() {
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "Titel;Künstler\nHaus;Ägidius\n".encode_utf16().flat_map(bytes).collect()
        };
        let long = "Zürich, Łódź, 東京 — ".repeat(2_000);
        for (bytes, encoding) in [
            (&b""[..], Encoding::Utf8),
            (b"name,city\n", Encoding::Utf8),
            (b"\xef\xbb\xbfZ\xfcrich", Encoding::Utf8),
            (b"\xff\xfea\0", Encoding::Utf16),
            (b"\xfe\xff\0a", Encoding::Utf16),
            (&utf_16(u16::to_le_bytes), Encoding::Utf16),
            (&utf_16(u16::to_be_bytes), Encoding::Utf16),
            (b"Z\xfcrich \x96 \x80 12", Encoding::Windows1252),
            (long.as_bytes(), Encoding::Utf8),
            // One broken byte among umlauts is not another encoding.
            (b"Z\xc3\xbcrich\nK\xc3\xb6ln\nBr\xfcgge\n", Encoding::Utf8),
        ] {
            assert_eq!(
                detect(bytes),
                encoding,
                "{:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(60)])
            );
        }
    }
}
