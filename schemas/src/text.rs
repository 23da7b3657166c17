//! Validation and normalisation of the texts in a record.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Why a text is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// A control character other than newline and tab.
    #[error("has the control character U+{code:04X} at character {at}; only newline and tab are allowed")]
    Control {
        /// Its code point.
        code: u32,
        /// Its position in characters, from 1.
        at: usize,
    },
    /// More characters than the field allows.
    #[error("has {length} characters; at most {limit} are allowed")]
    TooLong {
        /// The length in characters after normalisation.
        length: usize,
        /// The maximum length in characters.
        limit: usize,
    },
}

/// Normalises a text: to Unicode NFC, CRLF to newline, white space at both ends removed. Returns `None` for a blank
/// text. `limit` is in characters.
///
/// # Errors
///
/// Returns an error if the text has a control character or is too long.
pub fn normalised(text: &str, limit: usize) -> Result<Option<String>, TextFault> {
    // Unicode counts U+0085 as white space; at the ends of a text it is rejected like any other control character.
    let is_blank = |c: char| c.is_whitespace() && c != '\u{85}';
    let unix;
    let text = if text.contains("\r\n") {
        unix = text.replace("\r\n", "\n");
        unix.trim_matches(is_blank)
    } else {
        text.trim_matches(is_blank)
    };
    // Fast path: a printable ASCII text needs no normalisation.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    let faulty = |(_, c): &(usize, char)| c.is_control() && !matches!(c, '\n' | '\t');
    if !is_plain && let Some((index, c)) = text.chars().enumerate().find(faulty) {
        return Err(TextFault::Control { code: u32::from(c), at: index + 1 });
    }
    let text = if is_plain || is_nfc(text) { text.to_owned() } else { text.nfc().collect() };
    // A character has at least one byte, so only a text with more bytes than the limit needs counting.
    if text.len() > limit {
        let length = text.chars().count();
        if length > limit {
            return Err(TextFault::TooLong { length, limit });
        }
    }
    Ok((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_trimmed_and_normalised_to_nfc() {
        assert_eq!(normalised("  Zu\u{308}rich\r\nWest ", 100), Ok(Some("Zürich\nWest".into())));
        assert_eq!(normalised(" \n\t ", 100), Ok(None));
    }

    #[test]
    fn a_control_character_is_reported_with_its_position() {
        assert_eq!(normalised("ab\u{0}c", 100), Err(TextFault::Control { code: 0, at: 3 }));
        assert_eq!(
            normalised("é\u{9b}", 100).unwrap_err().to_string(),
            "has the control character U+009B at character 2; only newline and tab are allowed"
        );
        assert_eq!(normalised("wait\u{85} ", 100), Err(TextFault::Control { code: 0x85, at: 5 }));
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(normalised(&"é".repeat(300), 300), Ok(Some("é".repeat(300))));
        assert_eq!(normalised(&"é".repeat(301), 300), Err(TextFault::TooLong { length: 301, limit: 300 }));
    }

    proptest! {
        #[test]
        fn normalisation_is_idempotent(text in any::<String>()) {
            if let Ok(Some(once)) = normalised(&text, 10_000) {
                prop_assert_eq!(normalised(&once, 10_000), Ok(Some(once.clone())));
            }
        }
    }
}
