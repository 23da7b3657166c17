//! The rules that every text of a record obeys, and how a text is brought into their form.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Why a text cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// A control character other than newline and tab.
    #[error("has the control character U+{code:04X} at character {at}; only newline and tab are allowed")]
    Control {
        /// Its code point.
        code: u32,
        /// Where it stands, counted in characters from 1.
        at: usize,
    },
    /// More characters than the field holds.
    #[error("has {length} characters; at most {limit} are allowed")]
    TooLong {
        /// How many it has after normalisation.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
}

/// Brings a text into the form that records keep: NFC, CRLF as newline, no blanks at the ends; a blank text
/// is no text. Lengths are counted in characters.
pub fn normalised(text: &str, limit: usize) -> Result<Option<String>, TextFault> {
    // U+0085 counts as a blank in Unicode; in a text it is a control character like its neighbours, at the ends too.
    let is_blank = |c: char| c.is_whitespace() && c != '\u{85}';
    let unix;
    let text = if text.contains("\r\n") {
        unix = text.replace("\r\n", "\n");
        unix.trim_matches(is_blank)
    } else {
        text.trim_matches(is_blank)
    };
    // Most texts are plain, which their bytes tell sooner than their characters.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    let faulty = |(_, c): &(usize, char)| c.is_control() && !matches!(c, '\n' | '\t');
    if !is_plain && let Some((index, c)) = text.chars().enumerate().find(faulty) {
        return Err(TextFault::Control { code: u32::from(c), at: index + 1 });
    }
    let text = if is_plain || is_nfc(text) { text.to_owned() } else { text.nfc().collect() };
    // A character has at least one byte: only a text with more bytes than the limit needs counting.
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
    fn text_is_trimmed_and_composed() {
        assert_eq!(normalised("  Zu\u{308}rich\r\nWest ", 100), Ok(Some("Zürich\nWest".into())));
        assert_eq!(normalised(" \n\t ", 100), Ok(None));
    }

    #[test]
    fn a_control_character_is_named_with_its_place() {
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
        fn normalising_twice_changes_nothing(text in any::<String>()) {
            if let Ok(Some(once)) = normalised(&text, 10_000) {
                prop_assert_eq!(normalised(&once, 10_000), Ok(Some(once.clone())));
            }
        }
    }
}
