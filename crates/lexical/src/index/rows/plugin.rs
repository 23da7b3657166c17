//! Writes and merges row files as part of tantivy's segments.

use std::any::Any;
use std::collections::HashMap;
use std::io::Write;

use tantivy::directory::{TerminatingWrite, WritePtr};
use tantivy::index::SegmentComponent;
use tantivy::plugin::{PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin};
use tantivy::schema::document::{ErasedDocument, Value};
use tantivy::schema::{Field, Schema};
use tantivy::{DocId, Segment, TantivyDocument, TantivyError};

use super::names::NO_NAME;
use super::word_starts::{self, WordStart};
use super::{EXTENSION, Rows, VERSION};

/// What is written of a document.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) tie_breaker: u64,
    /// The step of its length (see [`Rows::length_ids`]).
    pub(crate) length_id: u8,
    pub(crate) category: &'a str,
    /// The name in the form in which names are compared; empty for a project that is not listed.
    pub(crate) name: &'a [u8],
    pub(crate) summary: &'a [u8],
}

/// Encodes a row for the indexing queue: tie-breaker, length, category, name, summary. `None` if the category is longer than 65,535 bytes or
/// the name than 4 GiB.
pub(crate) fn encode(row: Row<'_>) -> Option<Vec<u8>> {
    let Row { tie_breaker, length_id, category, name, summary } = row;
    let category_length = u16::try_from(category.len()).ok()?;
    let name_length = u32::try_from(name.len()).ok()?;
    let mut row = Vec::with_capacity(15 + category.len() + name.len() + summary.len());
    row.extend_from_slice(&tie_breaker.to_le_bytes());
    row.push(length_id);
    row.extend_from_slice(&category_length.to_le_bytes());
    row.extend_from_slice(&name_length.to_le_bytes());
    row.extend_from_slice(category.as_bytes());
    row.extend_from_slice(name);
    row.extend_from_slice(summary);
    Some(row)
}

/// Decodes what [`encode`] encoded.
fn decode(row: &[u8]) -> Option<Row<'_>> {
    let tie_breaker = u64::from_le_bytes(row.get(..8)?.try_into().ok()?);
    let category = 15 + usize::from(u16::from_le_bytes(row.get(9..11)?.try_into().ok()?));
    let name = category + u32::from_le_bytes(row.get(11..15)?.try_into().ok()?) as usize;
    Some(Row {
        tie_breaker,
        length_id: *row.get(8)?,
        category: std::str::from_utf8(row.get(15..category)?).ok()?,
        name: row.get(category..name)?,
        summary: row.get(name..)?,
    })
}

/// Gives every segment of the index its row file.
pub(crate) struct RowPlugin {
    /// The field whose value is an encoded row.
    pub(crate) field: Field,
}

impl SegmentPlugin for RowPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, context: &PluginWriterContext<'_>) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(RowWriter { field: self.field, file: RowFile::create(context.segment)? }))
    }

    fn merge(&self, context: PluginMergeContext<'_>) -> tantivy::Result<()> {
        let mut file = RowFile::create(context.target_segment)?;
        for reader in context.readers {
            let rows = reader.open_read(SegmentComponent::Custom(EXTENSION.to_owned()))?.read_bytes()?;
            let rows = Rows::open(rows, reader.max_doc())
                .map_err(|error| TantivyError::InternalError(error.to_string()))?;
            let first = file.ends.len() as DocId;
            let mut merged = vec![NO_NAME; reader.max_doc() as usize];
            for (number, document) in (first..).zip(reader.doc_ids_alive()) {
                file.push(Row {
                    tie_breaker: rows.tie_breaker(document),
                    length_id: rows.length_ids().get(document as usize).copied().unwrap_or_default(),
                    category: rows.category(document),
                    name: rows.names().of(document),
                    summary: rows.summary(document),
                })?;
                merged[document as usize] = number;
            }
            let names = rows.names();
            let in_order = names.documents().map(|document| merged[document as usize]);
            file.by_name.extend(in_order.filter(|number| *number != NO_NAME));
            let in_order = rows.word_starts().all();
            let in_order = in_order.map(|start| (merged[names.document(start.rank) as usize], start.offset));
            file.words.extend(in_order.filter(|(number, _)| *number != NO_NAME));
        }
        file.finish()
    }
}

/// Writes the row file of a segment that is being indexed: summaries go straight to the file, columns are kept in memory until
/// its end.
struct RowWriter {
    field: Field,
    file: RowFile,
}

impl PluginWriter for RowWriter {
    fn add_document(
        &mut self,
        _document: DocId,
        content: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        let row = content
            .as_any()
            .downcast_ref::<TantivyDocument>()
            .and_then(|content| content.get_first(self.field));
        let row = row.as_ref().and_then(|row| row.as_custom()).and_then(decode);
        let row = row.ok_or_else(|| TantivyError::InvalidArgument("a document without a row".to_owned()))?;
        let document = self.file.ends.len() as DocId;
        if !row.name.is_empty() {
            self.file.by_name.push(document);
        }
        self.file.words.extend(word_starts::offsets(row.name).map(|offset| (document, offset)));
        self.file.push(row)
    }

    fn serialize(
        self: Box<Self>,
        _segment: &Segment,
        mapping: Option<&tantivy::indexer::doc_id_mapping::DocIdMapping>,
    ) -> tantivy::Result<()> {
        if mapping.is_some() {
            return Err(TantivyError::InvalidArgument(
                "rows keep the order in which documents were added".to_owned(),
            ));
        }
        self.file.finish()
    }

    fn mem_usage(&self) -> usize {
        30 * self.file.ends.len() + self.file.names.len() + self.file.words.len() * size_of::<(DocId, u16)>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A row file being written.
struct RowFile {
    file: WritePtr,
    /// The length of all summaries so far, in bytes.
    written: u64,
    ends: Vec<u64>,
    tie_breakers: Vec<u64>,
    codes: Vec<u16>,
    lengths: Vec<u8>,
    /// The names, one after the other, and where each ends.
    names: Vec<u8>,
    name_ends: Vec<u64>,
    /// The documents that have a name: in ascending runs by name, which are merged at the end.
    by_name: Vec<DocId>,
    /// The beginnings of words in the names: document and offset, in ascending runs by the name from there on.
    words: Vec<(DocId, u16)>,
    /// The names of the categories, by code.
    categories: Vec<String>,
    codes_by_category: HashMap<String, u16>,
}

impl RowFile {
    fn create(segment: &Segment) -> tantivy::Result<RowFile> {
        let file = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.to_owned()))?;
        Ok(RowFile {
            file,
            written: 0,
            ends: Vec::new(),
            tie_breakers: Vec::new(),
            codes: Vec::new(),
            lengths: Vec::new(),
            names: Vec::new(),
            name_ends: Vec::new(),
            by_name: Vec::new(),
            words: Vec::new(),
            categories: Vec::new(),
            codes_by_category: HashMap::new(),
        })
    }

    fn push(&mut self, row: Row<'_>) -> tantivy::Result<()> {
        let Row { tie_breaker, length_id, category, name, summary } = row;
        let code = match self.codes_by_category.get(category) {
            Some(&code) => code,
            None => {
                let code = u16::try_from(self.categories.len())
                    .map_err(|_| TantivyError::InvalidArgument("more than 65,536 categories".to_owned()))?;
                self.categories.push(category.to_owned());
                self.codes_by_category.insert(category.to_owned(), code);
                code
            }
        };
        self.file.write_all(summary)?;
        self.written += summary.len() as u64;
        self.ends.push(self.written);
        self.tie_breakers.push(tie_breaker);
        self.codes.push(code);
        self.lengths.push(length_id);
        self.names.extend_from_slice(name);
        self.name_ends.push(self.names.len() as u64);
        Ok(())
    }

    fn name(&self, document: DocId) -> &[u8] {
        let end = |index: usize| self.name_ends[index] as usize;
        let index = document as usize;
        &self.names[if index == 0 { 0 } else { end(index - 1) }..end(index)]
    }

    /// Writes the table of names (see `names`), and returns their length and the rank of each document's name.
    fn write_names(&mut self, tail: &mut Vec<u8>) -> (u64, Vec<u32>) {
        let mut by_name = std::mem::take(&mut self.by_name);
        // A stable sort finds the runs of the merged segments, and merges them.
        let tie_breaker = |document: DocId| (self.tie_breakers[document as usize], document);
        by_name.sort_by(|a, b| {
            self.name(*a).cmp(self.name(*b)).then_with(|| tie_breaker(*a).cmp(&tie_breaker(*b)))
        });
        let mut ranks = vec![NO_NAME; self.ends.len()];
        (0..).zip(&by_name).for_each(|(rank, document)| ranks[*document as usize] = rank);
        ranks.iter().chain(&by_name).for_each(|number| tail.extend_from_slice(&number.to_le_bytes()));
        let mut end = 0;
        for document in &by_name {
            end += self.name(*document).len() as u64;
            tail.extend_from_slice(&end.to_le_bytes());
        }
        by_name.iter().for_each(|document| tail.extend_from_slice(self.name(*document)));
        self.by_name = by_name;
        (end, ranks)
    }

    /// Writes the table of the words in the names (see `word_starts`), and returns their number.
    fn write_words(&mut self, ranks: &[u32], tail: &mut Vec<u8>) -> tantivy::Result<u32> {
        let words = std::mem::take(&mut self.words);
        let count = u32::try_from(words.len())
            .map_err(|_| TantivyError::InvalidArgument("names with more than 2^32 words".to_owned()))?;
        let text = |document: DocId, offset: u16| &self.name(document)[usize::from(offset)..];
        // Their first bytes as a number are compared several times faster than the texts.
        let first =
            |(document, offset): (DocId, u16)| (first_bytes(text(document, offset)), document, offset);
        let mut sorted: Vec<(u64, DocId, u16)> = words.into_iter().map(first).collect();
        sorted.sort_by(|(a, document, offset), (b, other, at)| {
            a.cmp(b)
                .then_with(|| text(*document, *offset).cmp(text(*other, *at)))
                .then_with(|| ranks[*document as usize].cmp(&ranks[*other as usize]))
        });
        tail.reserve(sorted.len() * word_starts::ENTRY);
        for (_, document, offset) in sorted {
            let name_length = u16::try_from(self.name(document).len()).unwrap_or(u16::MAX);
            let start = WordStart { rank: ranks[document as usize], offset, name_length };
            tail.extend_from_slice(&start.encode());
        }
        Ok(count)
    }

    fn finish(mut self) -> tantivy::Result<()> {
        let mut tail = Vec::with_capacity(34 * self.ends.len() + self.names.len() + 256);
        self.ends
            .iter()
            .chain(&self.tie_breakers)
            .for_each(|number| tail.extend_from_slice(&number.to_le_bytes()));
        self.codes.iter().for_each(|code| tail.extend_from_slice(&code.to_le_bytes()));
        tail.extend_from_slice(&self.lengths);
        let (names_length, ranks) = self.write_names(&mut tail);
        let words = self.write_words(&ranks, &mut tail)?;
        for name in &self.categories {
            tail.extend_from_slice(&(name.len() as u16).to_le_bytes());
            tail.extend_from_slice(name.as_bytes());
        }
        tail.extend_from_slice(&(self.ends.len() as u32).to_le_bytes());
        tail.extend_from_slice(&(self.categories.len() as u32).to_le_bytes());
        tail.extend_from_slice(&self.written.to_le_bytes());
        tail.extend_from_slice(&(self.by_name.len() as u32).to_le_bytes());
        tail.extend_from_slice(&names_length.to_le_bytes());
        tail.extend_from_slice(&words.to_le_bytes());
        tail.extend_from_slice(&VERSION.to_le_bytes());
        self.file.write_all(&tail)?;
        self.file.terminate()?;
        Ok(())
    }
}

/// Returns the first eight bytes as a number, in the order of the texts.
fn first_bytes(text: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(8);
    bytes[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(bytes)
}
