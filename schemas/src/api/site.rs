//! A placeholder for the site's address in stored answers.
//!
//! Read models store answers as rendered JSON, but the public address of a node is a setting and may change. Rendered
//! text therefore has the byte [`MARK`], which no record can contain, in the place of the address; [`fill`] replaces it
//! when the answer is sent.

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use crate::ids::Revision;
use crate::picture::PictureId;

/// The site's address in values for [`render`].
pub const SITE: &str = "\u{1}";

/// The site's address in rendered text. No record has control characters and JSON escapes them, so this byte has no
/// other meaning.
pub const MARK: u8 = 1;

/// Returns the URL of a project's page.
pub fn project_page(slug: &str) -> String {
    format!("{SITE}/projects/{slug}")
}

/// Returns the URL of a revision's permanent page.
pub fn citation_page(slug: &str, revision: Revision) -> String {
    format!("{SITE}/cite/{slug}/{revision}")
}

/// Returns the URL of a stored picture at one of its widths, as WebP.
pub fn picture(id: PictureId, width: u32) -> String {
    format!("{SITE}/media/{id}/{width}.webp")
}

/// Serialises a value as JSON, with [`SITE`] replaced by [`MARK`].
pub fn render<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::with_capacity(1024);
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut bytes,
        SiteFormatter(CompactFormatter),
    ))?;
    Ok(bytes)
}

/// Appends rendered text with the site's address filled in. The address must not need escaping in JSON.
pub fn fill(rendered: &[u8], site: &str, into: &mut Vec<u8>) {
    let mut start = 0;
    for mark in memchr::memchr_iter(MARK, rendered) {
        into.extend_from_slice(&rendered[start..mark]);
        into.extend_from_slice(site.as_bytes());
        start = mark + 1;
    }
    into.extend_from_slice(&rendered[start..]);
}

struct SiteFormatter(CompactFormatter);

impl Formatter for SiteFormatter {
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
    fn every_mark_is_replaced_by_the_address() {
        assert_eq!(filled(&project_page("a")), r#""https://x.org/projects/a""#);
        assert_eq!(filled(&format!("{SITE}{SITE}")), r#""https://x.orghttps://x.org""#);
    }

    #[test]
    fn text_that_looks_like_a_mark_stays() {
        assert_eq!(filled(r"\u0001 \n"), r#""\\u0001 \\n""#);
        assert_eq!(filled("\u{2}\n\u{7f}"), "\"\\u0002\\n\u{7f}\"");
    }
}
