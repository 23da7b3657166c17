//! Text of HTML: tags go, `<br>` and the ends of blocks are line breaks, scripts and styles go with what they contain, entities
//! are decoded.

/// Elements whose end, and whose start after text, is a line break.
const BLOCKS: [&str; 24] = [
    "address",
    "article",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "tr",
    "ul",
];

/// Elements within a line, and parts of tables.
const INLINE: [&str; 34] = [
    "a", "abbr", "b", "big", "center", "cite", "code", "del", "em", "embed", "font", "i", "iframe", "img",
    "input", "ins", "kbd", "label", "mark", "o:p", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "table", "tbody", "td", "th", "u",
];

/// Elements that are left out with what they contain.
const HIDDEN: [&str; 2] = ["script", "style"];

/// The maximum length of the name of an entity, in bytes.
const MAX_ENTITY: usize = 32;

/// Returns the text of HTML. Only the tags of known elements are tags: `<untitled>` and `a < b` stay as they are.
pub(crate) fn text_of(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        text.push_str(before);
        match tag_at(tag) {
            None => {
                text.push('<');
                rest = &tag[1..];
            }
            Some(Tag { name, is_end, length }) => {
                rest = &tag[length..];
                if HIDDEN.contains(&name.as_str()) && !is_end {
                    rest = after_hidden(rest, &name);
                } else if BLOCKS.contains(&name.as_str()) {
                    let breaks = is_end || name == "br" || name == "hr";
                    if breaks || !(text.is_empty() || text.ends_with('\n')) {
                        text.push('\n');
                    }
                }
            }
        }
    }
    text.push_str(rest);
    decoded(&text)
}

struct Tag {
    name: String,
    is_end: bool,
    /// The length of the tag in bytes, with its brackets.
    length: usize,
}

/// Returns the tag of a known element, or the comment, at the start of a text.
fn tag_at(text: &str) -> Option<Tag> {
    if text.starts_with("<!--") {
        let length = text.find("-->").map_or(text.len(), |at| at + 3);
        return Some(Tag { name: String::new(), is_end: false, length });
    }
    let inner = text.strip_prefix('<')?;
    let is_end = inner.starts_with('/');
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let end = inner.find(|character: char| !(character.is_ascii_alphanumeric() || character == ':'))?;
    let name = inner[..end].to_ascii_lowercase();
    let is_known = [&BLOCKS[..], &INLINE, &HIDDEN].iter().any(|names| names.contains(&name.as_str()));
    let length = text.find('>').filter(|_| is_known)? + 1;
    Some(Tag { name, is_end, length })
}

fn after_hidden<'t>(text: &'t str, name: &str) -> &'t str {
    let end = format!("</{name}");
    // Not with lower case of the whole text, which may have other lengths.
    let found = text
        .char_indices()
        .find(|(at, _)| text.get(*at..at + end.len()).is_some_and(|part| part.eq_ignore_ascii_case(&end)));
    let Some((at, _)) = found else { return "" };
    text[at..].find('>').map_or("", |length| &text[at + length + 1..])
}

/// Decodes entities; an ampersand that begins none stays.
fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        decoded.push_str(before);
        let end = entity.bytes().take(MAX_ENTITY).position(|byte| byte == b';').map(|at| at + 1);
        let character = end.and_then(|end| htmlescape::decode_html(&entity[..end]).ok());
        match (character, end) {
            (Some(character), Some(end)) => {
                decoded.push_str(&character);
                rest = &entity[end..];
            }
            _ => {
                decoded.push('&');
                rest = &entity[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Lines, clean};

    #[test]
    fn html_becomes_text() {
        for (html, text) in [
            ("Plan, from <i>The Builder&#39;s Book</i>", "Plan, from The Builder's Book"),
            ("<p>A &amp; B.</p>\n<p>See <a href=\"/x\">C</a>.</p>", "A & B.\n\nSee C."),
            ("a<br>b<BR/>c<div>d</div>e", "a\nb\nc\nd\ne"),
            ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
            ("<em>Ecce</em> &mdash; nobody &unknown; & co", "Ecce — nobody &unknown; & co"),
            ("a<script>if (a < b) { x() }</SCRIPT>b<style>p{}</style>", "ab"),
            ("<untitled> a < b <!-- c -->d", "<untitled> a < b d"),
            ("&lt;b&gt; Zur M&uuml;hle &#x2013; x", "<b> Zur Mühle – x"),
            ("open <b", "open <b"),
        ] {
            assert_eq!(clean(&text_of(html), Lines::Kept, &[]).as_deref(), Some(text), "{html}");
        }
    }
}
