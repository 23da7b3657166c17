//! Finds the characters that no text of a record may have: control characters, noncharacters, and marks that change the
//! direction of the text after them.

use super::TextFault;

/// Returns the first character that is rejected, with its position.
pub(super) fn find_fault(text: &str) -> Option<TextFault> {
    let numbered = || text.chars().enumerate();
    let is_rejected = |c: char| is_control(c) || is_noncharacter(c) || is_override(c);
    match numbered().find(|(_, c)| is_rejected(*c)) {
        Some((index, c)) if is_control(c) => Some(TextFault::Control { code: u32::from(c), at: index + 1 }),
        Some((index, c)) if is_override(c) => Some(TextFault::Override { code: u32::from(c), at: index + 1 }),
        Some((index, c)) => Some(TextFault::Noncharacter { code: u32::from(c), at: index + 1 }),
        None => find_unpaired(numbered()),
    }
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Returns whether Unicode has set a code point aside for the inside of programs.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// Returns whether a mark shows the letters after it in the wrong order: no language is written so, and file names and links
/// are disguised with it. The marks U+200E, U+200F and U+061C have no effect beyond their place.
fn is_override(c: char) -> bool {
    matches!(c, '\u{202d}' | '\u{202e}')
}

/// What a directional mark of Unicode (UAX 9) begins or ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Embedding,
    Isolate,
}

/// Finds the first embedding or isolate that is not ended in its line, or an end without a beginning: it would change the
/// order of the names and the words that stand beside the text.
fn find_unpaired(text: impl Iterator<Item = (usize, char)>) -> Option<TextFault> {
    let fault = |(index, c): (usize, char)| TextFault::Unpaired { code: u32::from(c), at: index + 1 };
    let mut open: Vec<(Run, (usize, char))> = Vec::new();
    for mark in text {
        match mark.1 {
            '\u{202a}' | '\u{202b}' => open.push((Run::Embedding, mark)),
            '\u{2066}'..='\u{2068}' => open.push((Run::Isolate, mark)),
            end @ ('\u{202c}' | '\u{2069}') => {
                let ended = if end == '\u{202c}' { Run::Embedding } else { Run::Isolate };
                if open.pop().is_none_or(|(begun, _)| begun != ended) {
                    return Some(fault(mark));
                }
            }
            '\n' | '\u{2029}' if !open.is_empty() => break,
            _ => {}
        }
    }
    open.first().map(|(_, mark)| fault(*mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<String> {
        find_fault(text).map(|fault| fault.to_string())
    }

    #[test]
    fn an_override_of_the_direction_is_found() {
        for (code, mark) in [("202D", '\u{202d}'), ("202E", '\u{202e}')] {
            let sentence = format!(
                "has U+{code} at character 3, which shows the letters after it in another order; leave it out"
            );
            for text in [format!("ab{mark}c"), format!("ab{mark}c\u{202c}")] {
                assert_eq!(fault(&text), Some(sentence.clone()), "{text:?}");
            }
        }
    }

    #[test]
    fn an_embedding_or_isolate_ends_in_its_line() {
        let sentence = |code: &str, at: usize| {
            Some(format!(
                "has U+{code} at character {at}, which changes the direction of what stands beside the text; leave it out, or \
                 end it in the same line"
            ))
        };
        for text in [
            "שלום \u{2067}a\u{2069}",
            "\u{202b}a\u{2068}b\u{2069}c\u{202c}",
            "\u{200f}\u{200e}\u{61c}",
            "a\nb",
        ] {
            assert_eq!(fault(text), None, "{text:?}");
        }
        for (text, code, at) in [
            ("a\u{202b}b", "202B", 2),
            ("\u{2066}a\nb\u{2069}", "2066", 1),
            ("\u{2067}a\u{2029}b\u{2069}", "2067", 1),
            ("a\u{2069}", "2069", 2),
            ("a\u{202c}", "202C", 2),
            ("\u{202a}a\u{2069}", "2069", 3),
            ("\u{2068}a\u{202c}\u{2069}", "202C", 3),
        ] {
            assert_eq!(fault(text), sentence(code, at), "{text:?}");
        }
    }

    #[test]
    fn a_noncharacter_is_found() {
        for (code, c) in
            [("FDD0", '\u{fdd0}'), ("FDEF", '\u{fdef}'), ("FFFE", '\u{fffe}'), ("10FFFF", '\u{10ffff}')]
        {
            let sentence =
                format!("has U+{code} at character 2, which is set aside and no character; leave it out");
            assert_eq!(fault(&format!("é{c}")), Some(sentence));
        }
        for c in ['\u{fdcf}', '\u{fdf0}', '\u{fffc}', '\u{fffd}', '\u{1fffd}', '\u{e000}', '\u{feff}'] {
            assert_eq!(fault(&c.to_string()), None, "{c:?}");
        }
    }
}
