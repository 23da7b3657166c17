//! Texts of callers in sentences.

/// The maximum number of characters that are quoted.
const MAX_CHARS: usize = 60;

/// The quotes in which words are requested as a phrase.
const OF_PHRASES: [(char, char); 2] = [('"', '"'), ('“', '”')];

/// Returns a text in quotation marks, shortened to 60 characters. Those of a phrase are replaced: it is not quoted twice.
pub fn quoted(text: &str) -> String {
    let text = unquoted(text);
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("“{}…”", &text[..end]),
        None => format!("“{text}”"),
    }
}

/// Returns what is in the quotes of a phrase, and another text as it is.
pub fn unquoted(text: &str) -> &str {
    let within = |(open, close): (char, char)| {
        let inner = text.trim().strip_prefix(open)?.strip_suffix(close)?;
        (!inner.contains([open, close])).then_some(inner)
    };
    OF_PHRASES.into_iter().find_map(within).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_quoted_once() {
        for (text, shown) in [
            ("oak", "“oak”"),
            ("\"pale oak\"", "“pale oak”"),
            (" “pale oak” ", "“pale oak”"),
            ("\"stone\" \"house\"", "“\"stone\" \"house\"”"),
            ("\"oak", "“\"oak”"),
            ("\"", "“\"”"),
            ("", "“”"),
        ] {
            assert_eq!(quoted(text), shown, "{text}");
        }
        assert_eq!(quoted(&format!("\"{}\"", "é".repeat(61))), format!("“{}…”", "é".repeat(60)));
    }
}
