//! BibTeX: one `@misc`, which every style supports. UTF-8 is kept; TeX's special characters are escaped.

use std::fmt::Write;

use super::{Citation, bare_address, one_line};

impl Citation {
    /// Formats the citation as BibTeX.
    pub fn bibtex(&self) -> String {
        let mut entry = format!("@misc{{{},\n", self.key());
        let mut field = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                // Writing to a string never fails.
                let _ = writeln!(entry, "  {name} = {{{value}}},");
            }
        };
        // Double braces: names are not split, and titles keep their capitals.
        let whole = |text: &str| format!("{{{}}}", escape(&one_line(text)));
        field("title", Some(whole(&self.title)));
        field("author", self.creator.as_deref().map(whole));
        field("year", self.year.clone());
        field("howpublished", Some(escape(&self.publisher)));
        field("url", Some(bare_address(&self.url)));
        field("urldate", self.accessed.map(|day| day.to_string()));
        field("note", Some(escape(&self.note())));
        entry.push_str("}\n");
        entry
    }
}

/// BibTeX counts braces even after a backslash, so a brace is written as a command.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        match character {
            // TeX joins two of these to one: a dash, or a quote.
            '-' | '\'' | '`' if before == character => escaped.extend(['{', '}', character]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '{' => escaped.push_str("\\textbraceleft{}"),
            '}' => escaped.push_str("\\textbraceright{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '#' | '$' | '%' | '&' | '_' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
        before = character;
    }
    escaped
}
