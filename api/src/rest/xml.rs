//! Escapes texts for XML.

/// Escapes a text for content and attributes, and removes characters that XML 1.0 does not allow.
pub(crate) fn text(text: &str) -> String {
    let is_legal = |character: char| match character {
        '\t' | '\n' | '\r' => true,
        _ => !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}'),
    };
    escape(&text.chars().filter(|character| is_legal(*character)).collect::<String>())
}

/// Escapes a text for content and attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_text_parses_to_itself() {
        for (given, read) in [
            ("a <b> & \"c\" 'd'", "a <b> & \"c\" 'd'"),
            ("]]></title><!--", "]]></title><!--"),
            ("\u{fffe}東\u{ffff}京\u{1}", "東京"),
        ] {
            let xml = format!("<a b=\"{0}\">{0}</a>", text(given));
            let document = roxmltree::Document::parse(&xml).unwrap();
            let element = document.root_element();
            assert_eq!((element.text(), element.attribute("b")), (Some(read), Some(read)));
        }
    }
}
