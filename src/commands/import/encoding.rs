//! Reads files of other encodings as UTF-8.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, Result, bail};

use super::repair::windows_1252;
use crate::cli::Encoding;

const BUFFER: usize = 1 << 18;

/// How many bytes are decoded at once.
const CHUNK: usize = 1 << 15;

/// Returns the text of a file as UTF-8, without a byte order mark. What an encoding has nothing for becomes a control
/// character or U+FFFD, which no record may have: its line is refused.
pub fn decoded(input: Box<dyn Read + Send>, encoding: Encoding) -> Result<Box<dyn BufRead + Send>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let start = input.fill_buf().context("the file cannot be read")?;
    let mark =
        [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"].into_iter().find(|mark| start.starts_with(mark));
    let is_utf_16 = mark.is_some_and(|mark| mark.len() == 2);
    if is_utf_16 && encoding != Encoding::Utf16 {
        bail!("the file is UTF-16; say --encoding utf-16, or save it as UTF-8");
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
    let decoder = Decoder { input, decode, text: String::new(), at: 0 };
    Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)))
}

/// Turns bytes into characters, over the ends of chunks.
trait Decode {
    /// Decodes the next bytes; none at the end of the file.
    fn decode(&mut self, bytes: &[u8], text: &mut String);
}

/// Encodings with one byte for each character.
impl<F: FnMut(u8) -> char> Decode for F {
    fn decode(&mut self, bytes: &[u8], text: &mut String) {
        text.extend(bytes.iter().map(|byte| self(*byte)));
    }
}

/// The first 256 characters of Unicode are those of ISO 8859-1.
fn latin_1(byte: u8) -> char {
    char::from(byte)
}

/// UTF-16, with what the end of a chunk cut in two.
struct Utf16 {
    is_big_endian: bool,
    byte: Option<u8>,
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

struct Decoder {
    input: BufReader<Box<dyn Read + Send>>,
    decode: Box<dyn Decode + Send>,
    text: String,
    /// How much of the text was given.
    at: usize,
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            let bytes = self.input.fill_buf()?;
            let length = bytes.len().min(CHUNK);
            self.decode.decode(&bytes[..length], &mut self.text);
            self.input.consume(length);
            if length == 0 && self.text.is_empty() {
                return Ok(0);
            }
        }
        let left = &self.text.as_bytes()[self.at..];
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.at += length;
        Ok(length)
    }
}

/// What is wrong with bytes that are no UTF-8.
pub fn not_utf_8(bytes: &[u8], error: std::str::Utf8Error) -> String {
    let at = error.valid_up_to();
    let byte = bytes.get(at).copied().unwrap_or_default();
    format!(
        "has the byte 0x{byte:02X} at byte {}, which is no UTF-8; save the file as UTF-8, or name its encoding with --encoding",
        at + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: Encoding) -> Result<String> {
        let mut text = String::new();
        decoded(Box::new(std::io::Cursor::new(bytes.to_vec())), encoding)?.read_to_string(&mut text)?;
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
    fn utf_16_is_known_by_its_mark() {
        let error = read(&utf_16("\u{feff}a", u16::to_le_bytes), Encoding::Utf8).unwrap_err().to_string();
        assert_eq!(error, "the file is UTF-16; say --encoding utf-16, or save it as UTF-8");
    }
}
