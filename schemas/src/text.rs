//! Validation and normalisation of the texts in a record.

mod characters;

use std::borrow::Cow;

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
    /// A mark that shows the letters after it in another order.
    #[error(
        "has U+{code:04X} at character {at}, which shows the letters after it in another order; leave it out"
    )]
    Override {
        /// Its code point.
        code: u32,
        /// Its position in characters, from 1.
        at: usize,
    },
    /// The beginning of a run in another direction without its end in the same line, or an end without a beginning.
    #[error(
        "has U+{code:04X} at character {at}, which changes the direction of what stands beside the text; leave it out, or end \
         it in the same line"
    )]
    Unpaired {
        /// Its code point.
        code: u32,
        /// Its position in characters, from 1.
        at: usize,
    },
    /// A code point that Unicode has set aside for the inside of programs.
    #[error("has U+{code:04X} at character {at}, which is set aside and no character; leave it out")]
    Noncharacter {
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
/// Returns an error if the text has a control character, a noncharacter or an unpaired directional mark, or is too long.
pub fn normalised(text: &str, limit: usize) -> Result<Option<String>, TextFault> {
    let trimmed = trimmed(text);
    let text = &*trimmed;
    // Fast path: a printable ASCII text needs no normalisation.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if !is_plain && let Some(fault) = characters::find_fault(text) {
        return Err(fault);
    }
    let text = if is_plain { text.to_owned() } else { composed(text).into_owned() };
    // A character has at least one byte, so only a text with more bytes than the limit needs counting.
    if text.len() > limit {
        let length = text.chars().count();
        if length > limit {
            return Err(TextFault::TooLong { length, limit });
        }
    }
    Ok((!text.is_empty()).then_some(text))
}

/// Returns a text in the form in which labels, headings and sources are compared and recorded: that of [`normalised`], but
/// without its checks. Programs on macOS write the same text in NFD, and spreadsheets add blanks.
pub fn canonical(text: &str) -> Cow<'_, str> {
    match trimmed(text) {
        Cow::Borrowed(text) => composed(text),
        Cow::Owned(text) => Cow::Owned(composed(&text).into_owned()),
    }
}

/// Returns a text in Unicode NFC.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Returns a text in Unicode NFD, as macOS writes the names of files.
pub fn decomposed(text: &str) -> String {
    text.nfd().collect()
}

/// Returns a text with newlines for CRLF and without white space at both ends.
fn trimmed(text: &str) -> Cow<'_, str> {
    // Unicode counts U+0085 as white space; at the ends of a text it is rejected like any other control character.
    let is_blank = |c: char| c.is_whitespace() && c != '\u{85}';
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n").trim_matches(is_blank).to_owned())
    } else {
        Cow::Borrowed(text.trim_matches(is_blank))
    }
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
    fn spellings_of_one_text_have_one_canonical_form() {
        for spelling in ["Fl\u{e4}che\nin m²", " Fla\u{308}che\r\nin m²", "Fla\u{308}che\nin m²\u{a0}\t"] {
            assert_eq!(canonical(spelling), "Fl\u{e4}che\nin m²", "{spelling:?}");
        }
        assert_eq!(composed(" Fla\u{308}che"), " Fl\u{e4}che");
        assert_eq!(decomposed(" Fl\u{e4}che"), " Fla\u{308}che");
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
    fn a_mark_that_disguises_a_name_is_reported_with_its_position() {
        assert_eq!(normalised("ab\u{202e}c", 100), Err(TextFault::Override { code: 0x202e, at: 3 }));
        assert_eq!(normalised("\u{2067}a", 100), Err(TextFault::Unpaired { code: 0x2067, at: 1 }));
        assert_eq!(normalised("\u{fdd0}", 100), Err(TextFault::Noncharacter { code: 0xfdd0, at: 1 }));
        let paired = "\u{2067}בית\u{2069} Ulm";
        assert_eq!(normalised(paired, 100), Ok(Some(paired.to_owned())));
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
                prop_assert_eq!(canonical(&text), once);
            }
        }
    }
}
