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

use super::{EXTENSION, Rows, VERSION};

/// Encodes a row for the indexing queue: tie-breaker, category, summary. `None` if the category is longer than 65,535 bytes.
pub(crate) fn encode(tie_breaker: u64, category: &str, summary: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(category.len()).ok()?;
    let mut row = Vec::with_capacity(10 + category.len() + summary.len());
    row.extend_from_slice(&tie_breaker.to_le_bytes());
    row.extend_from_slice(&length.to_le_bytes());
    row.extend_from_slice(category.as_bytes());
    row.extend_from_slice(summary);
    Some(row)
}

/// Decodes what [`encode`] encoded.
fn decode(row: &[u8]) -> Option<(u64, &str, &[u8])> {
    let tie_breaker = u64::from_le_bytes(row.get(..8)?.try_into().ok()?);
    let length = usize::from(u16::from_le_bytes(row.get(8..10)?.try_into().ok()?));
    Some((tie_breaker, std::str::from_utf8(row.get(10..10 + length)?).ok()?, row.get(10 + length..)?))
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
            for document in reader.doc_ids_alive() {
                file.push(rows.tie_breaker(document), rows.category(document), rows.summary(document))?;
            }
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
        let (tie_breaker, category, summary) =
            row.ok_or_else(|| TantivyError::InvalidArgument("a document without a row".to_owned()))?;
        self.file.push(tie_breaker, category, summary)
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
        18 * self.file.ends.len()
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
    /// The names of the categories, by code.
    names: Vec<String>,
    codes_by_name: HashMap<String, u16>,
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
            names: Vec::new(),
            codes_by_name: HashMap::new(),
        })
    }

    fn push(&mut self, tie_breaker: u64, category: &str, summary: &[u8]) -> tantivy::Result<()> {
        let code = match self.codes_by_name.get(category) {
            Some(&code) => code,
            None => {
                let code = u16::try_from(self.names.len())
                    .map_err(|_| TantivyError::InvalidArgument("more than 65,536 categories".to_owned()))?;
                self.names.push(category.to_owned());
                self.codes_by_name.insert(category.to_owned(), code);
                code
            }
        };
        self.file.write_all(summary)?;
        self.written += summary.len() as u64;
        self.ends.push(self.written);
        self.tie_breakers.push(tie_breaker);
        self.codes.push(code);
        Ok(())
    }

    fn finish(mut self) -> tantivy::Result<()> {
        let mut tail = Vec::with_capacity(18 * self.ends.len() + 256);
        self.ends
            .iter()
            .chain(&self.tie_breakers)
            .for_each(|number| tail.extend_from_slice(&number.to_le_bytes()));
        self.codes.iter().for_each(|code| tail.extend_from_slice(&code.to_le_bytes()));
        for name in &self.names {
            tail.extend_from_slice(&(name.len() as u16).to_le_bytes());
            tail.extend_from_slice(name.as_bytes());
        }
        tail.extend_from_slice(&(self.ends.len() as u32).to_le_bytes());
        tail.extend_from_slice(&(self.names.len() as u32).to_le_bytes());
        tail.extend_from_slice(&self.written.to_le_bytes());
        tail.extend_from_slice(&VERSION.to_le_bytes());
        self.file.write_all(&tail)?;
        self.file.terminate()?;
        Ok(())
    }
}
