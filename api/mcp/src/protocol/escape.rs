//! JSON inside JSON: a result has its content a second time, as text.

/// Seven bits of each byte of a word.
const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const QUOTES: u64 = 0x2222_2222_2222_2222;
const BACKSLASHES: u64 = 0x5c5c_5c5c_5c5c_5c5c;
/// Bytes of a word.
const WORD: usize = 8;

/// Appends JSON text as the inside of a JSON string. Compact JSON has no control characters, so only quotes and backslashes are
/// escaped. Every tenth byte is one of them: eight bytes are examined together, which takes half the time of searching for each.
pub(crate) fn escape(json: &[u8], into: &mut Vec<u8>) {
    let start = into.len();
    // Twice as long if every byte is escaped, and space to write a whole word after the last one.
    into.resize(start + 2 * json.len() + WORD, 0);
    let out = &mut into[start..];
    let mut at = 0;
    let (words, rest) = json.as_chunks::<WORD>();
    for word in words {
        at = put(u64::from_le_bytes(*word), out, at);
    }
    for &byte in rest {
        if matches!(byte, b'"' | b'\\') {
            out[at] = b'\\';
            at += 1;
        }
        out[at] = byte;
        at += 1;
    }
    into.truncate(start + at);
}

/// Writes the eight bytes of a word, the lowest first, and returns where the next ones begin.
fn put(word: u64, out: &mut [u8], mut at: usize) -> usize {
    let (mut rest, mut left) = (word, WORD);
    let mut marks = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES);
    while marks != 0 {
        let before = marks.trailing_zeros() / 8;
        out[at..at + WORD].copy_from_slice(&rest.to_le_bytes());
        at += before as usize;
        rest >>= 8 * before;
        out[at] = b'\\';
        out[at + 1] = rest.to_le_bytes()[0];
        at += 2;
        left -= before as usize + 1;
        // A word cannot be shifted by all of its 64 bits at once.
        rest >>= 8;
        marks = marks >> (8 * before) >> 8;
    }
    out[at..at + WORD].copy_from_slice(&rest.to_le_bytes());
    at + left
}

/// Returns the highest bit of each byte that is zero.
fn zeros(word: u64) -> u64 {
    !(((word & LOW) + LOW) | word | LOW)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> String {
        let mut into = b"before".to_vec();
        escape(text.as_bytes(), &mut into);
        String::from_utf8(into).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn quotes_and_backslashes_are_escaped_at_every_offset() {
        for (text, expected) in
            [("", ""), ("a", "a"), ("\"", "\\\""), ("\\\"\\\"\\\"\\\"", "\\\\\\\"\\\\\\\"\\\\\\\"\\\\\\\"")]
        {
            assert_eq!(escaped(text), expected);
        }
        for at in 0..24 {
            let text: String = (0..24).map(|index| if index == at { '"' } else { 'x' }).collect();
            assert_eq!(escaped(&text), text.replace('"', "\\\""));
        }
    }

    proptest! {
        #[test]
        fn an_escaped_text_parses_to_itself(text in "[a\"\\\\é東\u{7f}#]{0,80}") {
            let inside: String = serde_json::from_str(&format!("\"{}\"", escaped(&text))).unwrap();
            prop_assert_eq!(inside, text);
        }
    }
}
