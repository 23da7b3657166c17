//! Fills the index. One writer at a time holds a folder.

use std::path::Path;

use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{
    DocSet, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TERMINATED, TantivyDocument,
    TantivyError, Term,
};

use super::ranking::{ORDINAL_BOUND, tie};
use super::rows::{RowPlugin, encode};
use super::schema::{Fields, TOKENIZER, WeightedFields, combined, schema};
use super::{Digest, SearchDocument, SearchError, SearchReader};

/// What the documents of one segment may take in memory before they are written, in bytes.
const MEMORY_BUDGET: usize = 48_000_000;
/// So many segments of like size are merged into one.
const MERGE_AT: usize = 6;
/// Segments smaller than this are of like size.
const SMALLEST_LAYER: u32 = 500;
/// Merging makes room when this share of a segment is deleted.
const DELETED_SHARE: f32 = 0.25;
/// Beyond this size segments are left alone, but for deletions.
const LARGEST_MERGED: usize = 4_000_000;

/// So often a merge of everything is tried while merges in the background end.
const MERGE_ATTEMPTS: u32 = 20;

/// So many documents are merged into one segment whenever there is time.
const SMALL_INDEX: u32 = 20_000;
/// A larger index is merged once one in so many documents stands outside its largest segment.
const OUTSIDE_PART: u32 = 10;

/// The writing side of the index. What is given to it becomes visible, and durable, with [`commit`](SearchWriter::commit) only.
pub struct SearchWriter {
    writer: IndexWriter,
    index: Index,
    fields: Fields,
    folder: std::path::PathBuf,
    payload: String,
    /// Reads states as of the last commit.
    reader: IndexReader,
    /// Whether there was a commit that `reader` has not seen.
    committed_since: bool,
}

impl SearchWriter {
    /// Opens the index in `folder`, which must exist, or creates it there. Fails while another writer holds it.
    pub fn open_or_create(folder: &Path) -> Result<SearchWriter, SearchError> {
        let (schema, fields) = schema();
        let tokenizers = TokenizerManager::default();
        tokenizers.register(TOKENIZER, WeightedFields::default());
        let directory = MmapDirectory::open(folder).map_err(TantivyError::from)?;
        let index = Index::builder()
            .schema(schema)
            .settings(IndexSettings::default())
            .tokenizers(tokenizers)
            .register_plugin(std::sync::Arc::new(RowPlugin { field: fields.row }))
            .open_or_create(directory)?;
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(MEMORY_BUDGET)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter = index.writer_with_options(options)?;
        writer.set_merge_policy(Box::new(merge_policy()));
        let payload = index.load_metas()?.payload.unwrap_or_default();
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(SearchWriter {
            writer,
            index,
            fields,
            folder: folder.to_owned(),
            payload,
            reader,
            committed_since: false,
        })
    }

    /// Adds the document, in place of the one of the same project.
    pub fn upsert(&mut self, document: &SearchDocument<'_>) -> Result<(), SearchError> {
        self.remove(document.project);
        self.insert(document)
    }

    /// Adds the document of a project that the index has none of: looking for one to replace takes its time.
    pub fn insert(&mut self, document: &SearchDocument<'_>) -> Result<(), SearchError> {
        if document.ordinal >= ORDINAL_BOUND {
            return Err(SearchError::Rejected(format!(
                "its ordinal {} is not below {ORDINAL_BOUND}",
                document.ordinal
            )));
        }
        let row = encode(tie(document.published, document.ordinal), document.category, document.summary)
            .ok_or_else(|| SearchError::Rejected("its category is longer than 65,535 bytes".to_owned()))?;
        let mut content = TantivyDocument::new();
        content.add_text(self.fields.project, document.project);
        content.add_bytes(self.fields.state, document.state);
        // A document without words cannot be found; it keeps the state of a project that may come back.
        if document.listed {
            content.add_text(self.fields.slug, document.slug);
            content.add_text(self.fields.text, combined(document));
        }
        content.add_custom(self.fields.row, &row);
        self.writer.add_document(content)?;
        Ok(())
    }

    /// Takes the project's document out, if there is one.
    pub fn remove(&mut self, project: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.project, project));
    }

    /// The state that the project's document had at the last commit.
    pub fn state(&mut self, project: &str) -> Result<Option<Vec<u8>>, SearchError> {
        if std::mem::take(&mut self.committed_since) {
            self.reader.reload()?;
        }
        let searcher = self.reader.searcher();
        let term = Term::from_field_text(self.fields.project, project);
        for segment in searcher.segment_readers() {
            let projects = segment.inverted_index(self.fields.project)?;
            let found = projects
                .read_postings(&term, IndexRecordOption::Basic)
                .map_err(tantivy::TantivyError::from)?;
            let Some(mut found) = found else { continue };
            let mut document = found.doc();
            while document != TERMINATED && segment.is_deleted(document) {
                document = found.advance();
            }
            if document != TERMINATED {
                let store = segment.get_store_reader(1).map_err(tantivy::TantivyError::from)?;
                let stored: TantivyDocument = store.get(document)?;
                return Ok(stored
                    .get_first(self.fields.state)
                    .and_then(|state| state.as_bytes().map(<[u8]>::to_vec)));
            }
        }
        Ok(None)
    }

    /// Makes everything since the last commit visible and durable, together with `payload`: the checkpoint that it belongs to.
    pub fn commit(&mut self, payload: &str) -> Result<(), SearchError> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(payload);
        prepared.commit()?;
        payload.clone_into(&mut self.payload);
        self.committed_since = true;
        Ok(())
    }

    /// The payload of the last commit; empty before the first.
    pub fn payload(&self) -> &str {
        &self.payload
    }

    /// Leaves segments as they are until the next [`SearchWriter::settle`] or [`SearchWriter::merge`].
    pub fn pause_merging(&mut self) {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
    }

    /// Merges all segments into one where that costs little beside what it brings: a small index, or one of which a
    /// good part stands outside its largest segment. Dropped before its end, the merge goes on in the background, and
    /// commits are possible beside it.
    pub async fn settle(&mut self) -> Result<(), SearchError> {
        let documents: Vec<u32> =
            self.index.load_metas()?.segments.iter().map(tantivy::SegmentMeta::num_docs).collect();
        let (all, largest) = (documents.iter().sum::<u32>(), documents.iter().copied().max().unwrap_or(0));
        if documents.len() > 1 && (all <= SMALL_INDEX || all - largest >= all / OUTSIDE_PART) {
            let segments = self.index.searchable_segment_ids()?;
            match self.writer.merge(&segments).await {
                // A merge in the background has some of these segments already; the next call looks again.
                Ok(_) | Err(TantivyError::InvalidArgument(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.writer.set_merge_policy(Box::new(merge_policy()));
        Ok(())
    }

    /// Merges all segments into one, which searches fastest. For the end of a rebuild; what was not committed stays pending.
    pub fn merge(&mut self) -> Result<(), SearchError> {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
        let merged = self.merge_all();
        self.writer.set_merge_policy(Box::new(merge_policy()));
        merged
    }

    fn merge_all(&mut self) -> Result<(), SearchError> {
        let mut attempts = 0;
        loop {
            let segments = self.index.searchable_segment_ids()?;
            if segments.len() < 2 {
                return Ok(());
            }
            attempts += 1;
            match self.writer.merge(&segments).wait() {
                // A merge that was under way in the background took some of the segments. No new one begins.
                Err(TantivyError::InvalidArgument(_)) if attempts < MERGE_ATTEMPTS => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Waits for merges that run in the background, and closes the writer. What was not committed is lost.
    pub fn close(self) -> Result<(), SearchError> {
        Ok(self.writer.wait_merging_threads()?)
    }

    /// The digest of what was committed last (see [`SearchReader::digest`]).
    pub fn digest(&self) -> Result<Digest, SearchError> {
        SearchReader::open(&self.folder)?.digest()
    }
}

/// Merges like with like, so that one-document commits leave few segments and each document is rewritten seldom.
fn merge_policy() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(MERGE_AT);
    policy.set_min_layer_size(SMALLEST_LAYER);
    policy.set_del_docs_ratio_before_merge(DELETED_SHARE);
    policy.set_max_docs_before_merge(LARGEST_MERGED);
    policy
}
