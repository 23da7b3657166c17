//! The introduction in a rendered summary.

use memchr::memmem;

/// The bytes before the text. Quotes within texts are escaped, so that they occur nowhere else.
const MEMBER: &[u8] = br#","intro":""#;
/// The minimum length in bytes of a shortened introduction.
const LEAST: usize = 80;
const ELLIPSIS: &str = "…";

/// Returns the summary with its introduction cut at a word, so that it has at most `most` bytes if possible; `None` if the
/// introduction need not be cut.
pub(super) fn shortened(summary: &[u8], most: usize) -> Option<Vec<u8>> {
    let excess = summary.len().checked_sub(most).filter(|excess| *excess > 0)?;
    let start = memmem::find(summary, MEMBER)? + MEMBER.len();
    let length = end_of_text(&summary[start..])?;
    let (text, rest) = summary[start..].split_at(length);
    let room = length.saturating_sub(excess + ELLIPSIS.len()).max(LEAST);
    if length <= room + ELLIPSIS.len() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let mut cut = text.floor_char_boundary(room);
    cut = text[..cut].rfind(' ').map_or(cut, |blank| blank + 1);
    // An incomplete escape is removed.
    let kept = whole_escapes(&text[..cut]);
    let mut shortened = summary[..start].to_vec();
    shortened.extend_from_slice(kept.as_bytes());
    shortened.extend_from_slice(ELLIPSIS.as_bytes());
    shortened.extend_from_slice(rest);
    Some(shortened)
}

/// Returns the end of a text: its first unescaped quote.
fn end_of_text(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns an escaped text without an incomplete escape at its end.
fn whole_escapes(text: &str) -> &str {
    let bytes = text.as_bytes();
    let (mut at, mut whole) = (0, 0);
    while at < bytes.len() {
        at += match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        if at <= bytes.len() {
            whole = at;
        }
    }
    &text[..text.floor_char_boundary(whole)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_introduction_is_cut_at_a_word_and_stays_json() {
        for intro in [
            "Zürich, a „house“ of stone. ".repeat(30),
            "a \"quoted\" \\ path\n ".repeat(30),
            "東京".repeat(200),
            "\u{1}".repeat(200),
        ] {
            let summary =
                serde_json::json!({"name": ",\"intro\":\"no\"", "intro": intro, "url": "u"}).to_string();
            for most in 0..summary.len() {
                let Some(shortened) = shortened(summary.as_bytes(), most) else { continue };
                let read: serde_json::Value = serde_json::from_slice(&shortened).unwrap();
                let kept = read["intro"].as_str().unwrap().strip_suffix(ELLIPSIS).unwrap();
                assert!(intro.starts_with(kept) && read["url"] == "u", "{most}: {read}");
                assert!(
                    shortened.len() < summary.len() && (shortened.len() <= most || kept.len() <= LEAST),
                    "{most}"
                );
            }
            assert_eq!(shortened(summary.as_bytes(), summary.len()), None);
        }
        assert_eq!(shortened(br#"{"name":"n","intro":null"#, 5), None);
    }
}
