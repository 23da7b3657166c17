//! The site's own address inside ready-rendered answers.
//!
//! Read models keep answers rendered to JSON, but the address under which a node is reached is a setting and may
//! change. So the rendered text holds one byte that no record can hold, [`MARK`], wherever the address belongs;
//! it is filled in while the answer is put together.

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use crate::ids::Revision;
use crate::picture::PictureId;

/// Stands for the site's address in values that are rendered by [`render`].
pub const SITE: &str = "\u{1}";

/// Stands for the site's address in rendered text. Control characters are refused in records and escaped in JSON,
/// so this byte has no other meaning.
pub const MARK: u8 = 1;

/// The page of a project.
pub fn project_page(slug: &str) -> String {
    format!("{SITE}/projects/{slug}")
}

/// The page that says for ever what a revision said.
pub fn citation_page(slug: &str, revision: Revision) -> String {
    format!("{SITE}/cite/{slug}/{revision}")
}

/// A kept picture at one of its widths, as WebP.
pub fn picture(id: PictureId, width: u32) -> String {
    format!("{SITE}/media/{id}/{width}.webp")
}

/// Serialises a value as JSON in which [`SITE`] has become [`MARK`].
pub fn render<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::with_capacity(1024);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Marking(CompactFormatter)))?;
    Ok(bytes)
}

/// Appends rendered text with the site's address filled in. The address must need no escaping in JSON.
pub fn fill(rendered: &[u8], site: &str, into: &mut Vec<u8>) {
    let mut start = 0;
    for mark in memchr::memchr_iter(MARK, rendered) {
        into.extend_from_slice(&rendered[start..mark]);
        into.extend_from_slice(site.as_bytes());
        start = mark + 1;
    }
    into.extend_from_slice(&rendered[start..]);
}

struct Marking(CompactFormatter);

impl Formatter for Marking {
    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match escape {
            CharEscape::AsciiControl(MARK) => writer.write_all(&[MARK]),
            other => self.0.write_char_escape(writer, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(value: &str) -> String {
        let mut bytes = Vec::new();
        fill(&render(&value).unwrap(), "https://x.org", &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_address_is_filled_in_where_it_is_marked() {
        assert_eq!(filled(&project_page("a")), r#""https://x.org/projects/a""#);
        assert_eq!(filled(&format!("{SITE}{SITE}")), r#""https://x.orghttps://x.org""#);
    }

    #[test]
    fn text_that_looks_like_a_mark_is_left_alone() {
        assert_eq!(filled(r"\u0001 \n"), r#""\\u0001 \\n""#);
        assert_eq!(filled("\u{2}\n\u{7f}"), "\"\\u0002\\n\u{7f}\"");
    }
}
