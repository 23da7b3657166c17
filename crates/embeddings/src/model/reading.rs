//! The text that a sentence encoder reads of a document.

use super::super::document::Document;

/// Returns the passages as sentences, the title where they say nothing; `None` where neither holds a letter or digit.
pub(super) fn text(document: &Document<'_>) -> Option<String> {
    let mut text = String::new();
    for part in document.passages.iter().map(|part| part.trim()).filter(|part| says_something(part)) {
        if !text.is_empty() {
            text.push_str(if text.ends_with(['.', '!', '?', '。']) { " " } else { ". " });
        }
        text.push_str(part);
    }
    if text.is_empty() {
        text.push_str(document.title.trim());
    }
    says_something(&text).then_some(text)
}

fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_come_first_and_the_title_only_alone() {
        let mut document = Document { title: "Alder House", ..Document::default() };
        assert_eq!(text(&document).as_deref(), Some("Alder House"));
        document.passages = vec!["pale oak", "—", "A house on a slope.\n", "Steep."];
        assert_eq!(text(&document).as_deref(), Some("pale oak. A house on a slope. Steep."));
        assert_eq!(text(&Document { title: " … ", ..Document::default() }), None);
    }
}
