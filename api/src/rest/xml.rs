//! Texts in XML.

/// A text as it stands in XML, between tags or in quotes; what XML 1.0 cannot hold at all is left out.
pub(crate) fn text(text: &str) -> String {
    let is_legal = |character: char| match character {
        '\t' | '\n' | '\r' => true,
        _ => !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}'),
    };
    escape(&text.chars().filter(|character| is_legal(*character)).collect::<String>())
}

/// A text as it stands between tags or in quotes.
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
    fn whatever_a_text_holds_is_read_back() {
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
