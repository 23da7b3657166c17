//! Cells: blanks, line breaks, invisible characters, and the words that say that there is nothing.

/// What stands for nothing when it is a whole cell, in lower case.
const ABSENT: [&str; 8] = ["", "null", "none", "n/a", "#n/a", "-", "–", "—"];

/// Whether line breaks of a text are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Each becomes a blank.
    Joined,
    /// They stay, with at most one blank line between paragraphs.
    Kept,
}

/// Returns a text without zero-width characters and superfluous blanks; `None` if it stands for nothing, by itself or by one of
/// these further words, which are in lower case.
pub(crate) fn clean(text: &str, lines: Lines, absent: &[String]) -> Option<String> {
    let text = without_zero_width(text);
    let cleaned = match lines {
        Lines::Joined => on_one_line(&text),
        Lines::Kept => in_paragraphs(&text),
    };
    let folded = cleaned.to_lowercase();
    let is_absent = ABSENT.contains(&folded.as_str()) || absent.contains(&folded);
    (!is_absent).then_some(cleaned)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn in_paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut cleaned = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']).map(on_one_line) {
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !cleaned.is_empty() {
            cleaned.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        cleaned.push_str(&line);
        blank = 0;
    }
    cleaned
}

fn without_zero_width(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_zero_width = match character {
            '\u{200b}' | '\u{2060}' | '\u{feff}' => true,
            // Joiners are part of the spelling of Persian and of Indic scripts, and of nothing in Latin letters.
            '\u{200c}' | '\u{200d}' => {
                let joins = |neighbour: Option<char>| {
                    neighbour.is_some_and(|neighbour| !neighbour.is_ascii() && !neighbour.is_whitespace())
                };
                !joins(kept.chars().next_back()) || !joins(characters.peek().copied())
            }
            _ => false,
        };
        if !is_zero_width {
            kept.push(character);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_become_one_and_zero_width_characters_go() {
        let joined = |text| clean(text, Lines::Joined, &[]);
        assert_eq!(
            joined(" Elevation\u{a0} of\ta Bank\u{200b},\n Euclid\u{feff} ").unwrap(),
            "Elevation of a Bank, Euclid"
        );
        assert_eq!(joined("a\u{200d}b").unwrap(), "ab");
        assert_eq!(joined("می\u{200c}خواهم").unwrap(), "می\u{200c}خواهم");
        let kept = |text| clean(text, Lines::Kept, &[]);
        assert_eq!(kept("\r\n a  b \r\n\r\n\n c\rd\n").unwrap(), "a b\n\nc\nd");
    }

    #[test]
    fn words_for_nothing_are_nothing() {
        for text in ["", "  ", "null", "None", "N/A", "#N/A", "-", " – ", "—", "\u{200b}"] {
            assert_eq!(clean(text, Lines::Joined, &[]), None, "{text:?}");
        }
        assert_eq!(clean("k. A.", Lines::Joined, &["k. a.".into()]), None);
        assert_eq!(clean("[title not known]", Lines::Joined, &[]).unwrap(), "[title not known]");
    }
}
