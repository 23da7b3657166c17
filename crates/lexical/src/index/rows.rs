//! The row file of a segment: what is read of a document when it is ranked and answered, beside tantivy's own files. A row is
//! the summary, the tie-breaker, the category and the name of one document, in the form in which names are compared.
//!
//! The file is little-endian, mapped into memory, and never copied: all summaries one after the other; a column of their ends
//! (`u64`); a column of tie-breakers (`u64`); a column of category codes (`u16`); a column of lengths (`u8`); the table of names (see [`names`]) and that of the
//! words in them (see [`word_starts`]); the names of the categories, each after its `u16` length; and a footer with the number of
//! documents (`u32`), the number of categories (`u32`), the length of all summaries (`u64`), the number of named documents (`u32`), the
//! length of all names (`u64`), the number of word starts (`u32`) and the version (`u32`).

mod names;
#[cfg(feature = "writer")]
mod plugin;
mod word_starts;

use tantivy::DocId;
use tantivy::directory::OwnedBytes;

use crate::SearchError;

use names::NameTable;
pub(crate) use names::{NameRange, Names};
#[cfg(feature = "writer")]
pub(crate) use plugin::{Row, RowPlugin, encode};
pub(crate) use word_starts::WordStarts;

/// The extension of a row file.
pub(crate) const EXTENSION: &str = "rows";

const VERSION: u32 = 3;
/// The length of the footer in bytes.
const FOOTER: usize = 36;

/// The rows of one segment.
pub(crate) struct Rows {
    file: OwnedBytes,
    /// The offset of the column of ends, in bytes; the summaries end there as well.
    ends: usize,
    /// The offset of the column of tie-breakers.
    tie_breakers: usize,
    /// The offset of the column of category codes.
    codes: usize,
    /// The offset of the column of lengths.
    lengths: usize,
    names: NameTable,
    /// The number of word starts; they follow the names.
    word_starts: usize,
    /// The names of the categories, by code.
    categories: Vec<String>,
}

impl Rows {
    /// Reads the footer and the names of the categories.
    ///
    /// # Errors
    ///
    /// Fails if the file is not one of this version with `documents` rows.
    pub(crate) fn open(file: OwnedBytes, documents: u32) -> Result<Rows, SearchError> {
        Rows::parse(file, documents)
            .ok_or_else(|| SearchError::Corrupt("a row file does not fit its segment".to_owned()))
    }

    fn parse(file: OwnedBytes, documents: u32) -> Option<Rows> {
        let bytes = file.as_slice();
        let footer = bytes.len().checked_sub(FOOTER)?;
        if u32_at(bytes, footer)? != documents || u32_at(bytes, footer + 32)? != VERSION {
            return None;
        }
        let category_count = u32_at(bytes, footer + 4)?;
        let ends = usize::try_from(u64_at(bytes, footer + 8)?).ok()?;
        let tie_breakers = ends.checked_add(8 * documents as usize)?;
        let codes = tie_breakers.checked_add(8 * documents as usize)?;
        let lengths = codes.checked_add(2 * documents as usize)?;
        let names_at = lengths.checked_add(documents as usize)?;
        let names =
            NameTable::new(names_at, documents, u32_at(bytes, footer + 16)?, u64_at(bytes, footer + 20)?)?;
        let word_starts = u32_at(bytes, footer + 28)? as usize;
        let mut at = names.end().checked_add(word_starts.checked_mul(word_starts::ENTRY)?)?;
        let mut categories = Vec::new();
        for _ in 0..category_count {
            let start = at + 2;
            at = start + usize::from(u16::from_le_bytes(bytes.get(at..start)?.try_into().ok()?));
            categories.push(std::str::from_utf8(bytes.get(start..at)?).ok()?.to_owned());
        }
        (at == footer).then_some(Rows {
            file,
            ends,
            tie_breakers,
            codes,
            lengths,
            names,
            word_starts,
            categories,
        })
    }

    /// Returns the summary of a document, as it was indexed.
    pub(crate) fn summary(&self, document: DocId) -> &[u8] {
        let bytes = self.file.as_slice();
        let end = |row: usize| u64_at(bytes, self.ends + 8 * row).map_or(0, |end| end as usize);
        let start = if document == 0 { 0 } else { end(document as usize - 1) };
        bytes.get(start..end(document as usize)).unwrap_or_default()
    }

    /// Returns the names of the segment.
    pub(crate) fn names(&self) -> Names<'_> {
        self.names.read(self.file.as_slice())
    }

    /// Returns the beginnings of the words in the names of the segment.
    pub(crate) fn word_starts(&self) -> WordStarts<'_> {
        let start = self.names.end();
        let end = start + self.word_starts * word_starts::ENTRY;
        let entries = self.file.as_slice().get(start..end).unwrap_or_default();
        WordStarts { names: self.names(), entries: entries.as_chunks().0 }
    }

    /// Returns the tie-breaker of a document: of equal scores the lower comes first.
    #[inline]
    pub(crate) fn tie_breaker(&self, document: DocId) -> u64 {
        u64_at(self.file.as_slice(), self.tie_breakers + 8 * document as usize).unwrap_or(u64::MAX)
    }

    /// Returns the lengths of all documents in weighted words, each as the number of a step of tantivy's scale of lengths; 0 for a
    /// document without words. Joined words do not count: their parts do.
    pub(crate) fn length_ids(&self) -> &[u8] {
        self.file.as_slice().get(self.lengths..self.names.start()).unwrap_or_default()
    }

    /// Returns the code of a category in this segment; `None` if no document has it.
    pub(crate) fn category_code(&self, category: &str) -> Option<u16> {
        self.categories.iter().position(|name| name == category).and_then(|code| u16::try_from(code).ok())
    }

    /// Returns whether the document has the category of this code.
    #[inline]
    pub(crate) fn has_category(&self, document: DocId, code: u16) -> bool {
        let at = self.codes + 2 * document as usize;
        self.file.as_slice().get(at..at + 2) == Some(&code.to_le_bytes())
    }

    /// Returns the name of a document's category.
    #[cfg(feature = "writer")]
    fn category(&self, document: DocId) -> &str {
        let at = self.codes + 2 * document as usize;
        let code =
            self.file.as_slice().get(at..at + 2).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
        self.categories.get(usize::from(code)).map_or("", String::as_str)
    }
}

/// Reads a byte of each cache line of the summaries. The processor loads these lines in parallel; copying the summaries, which lie
/// far apart, would wait for one after the other.
pub(crate) fn prefetch<'r>(summaries: impl Iterator<Item = &'r [u8]>) {
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
