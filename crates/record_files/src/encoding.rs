//! Character encodings.

use std::io::{BufRead, BufReader, Read};

use crate::Error;

/// The size of the read buffer, in bytes.
const BUFFER: usize = 1 << 18;

/// The maximum number of bytes that are decoded at once.
const CHUNK: usize = 1 << 15;

/// An encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// ISO 8859-1.
    Latin1,
    /// Windows-1252, as written by Windows programs in Western Europe.
    Windows1252,
    /// UTF-16 in either byte order.
    Utf16,
}

/// Returns a reader of the file's text in UTF-8, without a byte order mark. Bytes without a character in the encoding become
/// control characters or U+FFFD.
///
/// # Errors
///
/// Fails if the file cannot be read, or is UTF-16 although another encoding is named.
pub fn decode(
    input: Box<dyn Read + Send + '_>,
    encoding: Encoding,
) -> Result<Box<dyn BufRead + Send + '_>, Error> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let start = input.fill_buf()?;
    let mark =
        [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"].into_iter().find(|mark| start.starts_with(mark));
    let is_utf_16 = mark.is_some_and(|mark| mark.len() == 2);
    if is_utf_16 && encoding != Encoding::Utf16 {
        return Err(Error::IsUtf16);
    }
    let is_big_endian = mark == Some(b"\xfe\xff") || (mark.is_none() && start.first() == Some(&0));
    if is_utf_16 || (mark.is_some() && encoding == Encoding::Utf8) {
        let length = mark.map_or(0, <[u8]>::len);
        input.consume(length);
    }
    let decode: Box<dyn Decode + Send> = match encoding {
        Encoding::Utf8 => return Ok(Box::new(input)),
        Encoding::Latin1 => Box::new(latin_1),
        Encoding::Windows1252 => Box::new(windows_1252),
        Encoding::Utf16 => Box::new(Utf16 { is_big_endian, byte: None, surrogate: None }),
    };
    let decoder = Decoder { input, decode, text: String::new(), returned: 0 };
    Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)))
}

/// A decoder of an encoding, which keeps the state between chunks of bytes.
trait Decode {
    /// Appends the characters of the next bytes to the text; no bytes are the end of the file.
    fn decode(&mut self, bytes: &[u8], text: &mut String);
}

/// An encoding with one byte for each character.
impl<F: FnMut(u8) -> char> Decode for F {
    fn decode(&mut self, bytes: &[u8], text: &mut String) {
        text.extend(bytes.iter().map(|byte| self(*byte)));
    }
}

/// The first 256 characters of Unicode are those of ISO 8859-1.
fn latin_1(byte: u8) -> char {
    char::from(byte)
}

/// The characters of the bytes 0x80 to 0x9F in Windows-1252; the five that it leaves undefined are control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Returns the character of a byte in Windows-1252.
pub fn windows_1252(byte: u8) -> char {
    let control = usize::from(byte).checked_sub(0x80).and_then(|index| WINDOWS_1252.get(index));
    control.copied().unwrap_or(char::from(byte))
}

/// UTF-16, with the parts of a character that the last chunk ended with.
struct Utf16 {
    is_big_endian: bool,
    /// The first byte of a unit.
    byte: Option<u8>,
    /// The first surrogate of a pair.
    surrogate: Option<u16>,
}

impl Decode for Utf16 {
    fn decode(&mut self, bytes: &[u8], text: &mut String) {
        let mut units = Vec::with_capacity(bytes.len() / 2 + 2);
        units.extend(self.surrogate.take());
        for byte in bytes {
            match self.byte.take() {
                None => self.byte = Some(*byte),
                Some(first) if self.is_big_endian => units.push(u16::from_be_bytes([first, *byte])),
                Some(first) => units.push(u16::from_le_bytes([first, *byte])),
            }
        }
        let is_end = bytes.is_empty();
        if !is_end && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.surrogate = units.pop();
        }
        text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        if is_end && self.byte.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

struct Decoder<'a> {
    input: BufReader<Box<dyn Read + Send + 'a>>,
    decode: Box<dyn Decode + Send>,
    /// The text of the current chunk.
    text: String,
    /// The number of its bytes that were returned.
    returned: usize,
}

impl Read for Decoder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.returned == self.text.len() {
            self.text.clear();
            self.returned = 0;
            let bytes = self.input.fill_buf()?;
            let length = bytes.len().min(CHUNK);
            self.decode.decode(&bytes[..length], &mut self.text);
            self.input.consume(length);
            if length == 0 && self.text.is_empty() {
                return Ok(0);
            }
        }
        let left = &self.text.as_bytes()[self.returned..];
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.returned += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: Encoding) -> Result<String, Error> {
        let mut text = String::new();
        decode(Box::new(bytes), encoding)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn files_of_each_encoding_become_utf_8() {
        assert_eq!(read(b"\xef\xbb\xbfZ\xc3\xbcrich", Encoding::Utf8).unwrap(), "Zürich");
        assert_eq!(read(b"Z\xfcrich \x80", Encoding::Latin1).unwrap(), "Zürich \u{80}");
        assert_eq!(read(b"Z\xfcrich \x80\x81", Encoding::Windows1252).unwrap(), "Zürich €\u{81}");
        let text = "Zürich 𝔸 ".repeat(20_000);
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(read(&utf_16(&format!("\u{feff}{text}"), bytes), Encoding::Utf16).unwrap(), text);
        }
        assert_eq!(read(&utf_16("a", u16::to_le_bytes), Encoding::Utf16).unwrap(), "a");
        assert_eq!(read(&utf_16("a", u16::to_be_bytes), Encoding::Utf16).unwrap(), "a");
        assert_eq!(read(b"a\0\x3d\xd8b\0\x3d", Encoding::Utf16).unwrap(), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn utf_16_is_recognized_by_its_byte_order_mark() {
        let outcome = read(&utf_16("\u{feff}a", u16::to_le_bytes), Encoding::Utf8);
        assert!(matches!(outcome, Err(Error::IsUtf16)), "{outcome:?}");
    }
}
