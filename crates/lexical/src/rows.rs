//! The row file of a segment: what is read of a document when it is ranked and answered, beside tantivy's own files.
//!
//! Little-endian, mapped into memory, never copied: all summaries one after the other; then a column of their ends (`u64`); a
//! column of tie-breakers (`u64`); a column of category codes (`u16`); the categories' names, each with a `u16` length before it;
//! and a foot with the number of documents (`u32`), of names (`u32`), the length of all summaries (`u64`) and the version (`u32`).

#[cfg(feature = "writer")]
mod plugin;

use tantivy::DocId;
use tantivy::directory::OwnedBytes;

use super::SearchError;

#[cfg(feature = "writer")]
pub(super) use plugin::{RowPlugin, encode};

/// The file's extension in a segment.
pub(super) const EXTENSION: &str = "rows";

const VERSION: u32 = 1;
const FOOT: usize = 20;

/// The rows of one segment.
pub(super) struct Rows {
    file: OwnedBytes,
    /// Where the column of ends begins; the summaries end there as well.
    ends: usize,
    ties: usize,
    codes: usize,
    categories: Vec<String>,
}

impl Rows {
    /// Reads the foot and the categories' names, and checks that the columns fit the file.
    pub(super) fn open(file: OwnedBytes, documents: u32) -> Result<Rows, SearchError> {
        Rows::parse(file, documents)
            .ok_or_else(|| SearchError::Corrupt("a row file does not fit its segment".to_owned()))
    }

    fn parse(file: OwnedBytes, documents: u32) -> Option<Rows> {
        let bytes = file.as_slice();
        let foot = bytes.len().checked_sub(FOOT)?;
        if u32_at(bytes, foot)? != documents || u32_at(bytes, foot + 16)? != VERSION {
            return None;
        }
        let names = u32_at(bytes, foot + 4)?;
        let ends = usize::try_from(u64_at(bytes, foot + 8)?).ok()?;
        let ties = ends.checked_add(8 * documents as usize)?;
        let codes = ties.checked_add(8 * documents as usize)?;
        let mut at = codes.checked_add(2 * documents as usize)?;
        let mut categories = Vec::new();
        for _ in 0..names {
            let start = at + 2;
            at = start + usize::from(u16::from_le_bytes(bytes.get(at..start)?.try_into().ok()?));
            categories.push(std::str::from_utf8(bytes.get(start..at)?).ok()?.to_owned());
        }
        (at == foot).then_some(Rows { file, ends, ties, codes, categories })
    }

    /// The document's summary, as it was given.
    pub(super) fn summary(&self, document: DocId) -> &[u8] {
        let bytes = self.file.as_slice();
        let end = |row: usize| u64_at(bytes, self.ends + 8 * row).map_or(0, |end| end as usize);
        let start = if document == 0 { 0 } else { end(document as usize - 1) };
        bytes.get(start..end(document as usize)).unwrap_or_default()
    }

    /// The document's place among equal scores; the lower comes first.
    #[inline]
    pub(super) fn tie(&self, document: DocId) -> u64 {
        u64_at(self.file.as_slice(), self.ties + 8 * document as usize).unwrap_or(u64::MAX)
    }

    /// The code that stands for `category` in this segment, if any document has it.
    pub(super) fn code(&self, category: &str) -> Option<u16> {
        self.categories.iter().position(|name| name == category).and_then(|code| u16::try_from(code).ok())
    }

    /// Whether the document is of the category that `code` stands for.
    #[inline]
    pub(super) fn is_of(&self, document: DocId, code: u16) -> bool {
        let at = self.codes + 2 * document as usize;
        self.file.as_slice().get(at..at + 2) == Some(&code.to_le_bytes())
    }

    /// The name of the document's category.
    #[cfg(feature = "writer")]
    fn category(&self, document: DocId) -> &str {
        let at = self.codes + 2 * document as usize;
        let code =
            self.file.as_slice().get(at..at + 2).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
        self.categories.get(usize::from(code)).map_or("", String::as_str)
    }
}

/// Reads a byte of each line of memory that summaries lie in. The processor fetches these lines all at once, where whoever
/// copies the summaries would wait for one after the other: they lie far apart.
pub(super) fn fetch<'r>(summaries: impl Iterator<Item = &'r [u8]>) {
    const LINE: usize = 64;
    let bytes = summaries.flat_map(|summary| summary.iter().step_by(LINE));
    std::hint::black_box(bytes.fold(0, |all, byte| all ^ byte));
}

#[inline]
fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
