//! The writing side. One writer at a time owns a folder.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tantivy::directory::MmapDirectory;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{
    DocSet, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TERMINATED, TantivyDocument,
    TantivyError, Term,
};

use crate::index::digest::Digest;
use crate::index::partition_point;
use crate::index::rows::{Row, RowPlugin, encode};
use crate::index::schema::{
    Fields, TOKENIZER, WeightedFieldTokenizer, combined_text, for_each_weighted_word, schema,
};
use crate::ranking::{ORDINAL_BOUND, tie_breaker};
use crate::reader::SearchReader;
use crate::{SearchDocument, SearchError};

/// The memory for documents that are not written to a segment yet, in bytes.
const MEMORY_BUDGET: usize = 48_000_000;
/// The number of segments of similar size that are merged into one.
const MERGE_SEGMENTS: usize = 6;
/// Segments with fewer documents than this count as of similar size.
const MIN_LAYER_SIZE: u32 = 500;
/// A segment is merged too when more than this share of its documents is deleted.
const MAX_DELETED_SHARE: f32 = 0.25;
/// Segments with more documents than this are merged for their deletions only.
const MAX_MERGED_SIZE: usize = 4_000_000;

/// How long a merge of all segments waits for merges in the background to end, and how long between two attempts.
const MERGE_TIMEOUT: Duration = Duration::from_secs(60);
const MERGE_PAUSE: Duration = Duration::from_millis(10);

/// An index is compacted if at least one in this many documents is outside its largest segment, or deleted in it: a single edit
/// does not rewrite the whole index.
const OUTSIDE_SHARE: u32 = 10;

/// Writes the index in a folder. Changes become visible, and durable, with [`commit`](SearchWriter::commit).
pub struct SearchWriter {
    writer: IndexWriter,
    index: Index,
    fields: Fields,
    folder: std::path::PathBuf,
    payload: String,
    /// Reads states as of the last commit.
    reader: IndexReader,
    /// Whether `reader` is to be reloaded before its next use.
    is_reader_stale: bool,
}

impl SearchWriter {
    /// Opens the index in `folder`, which must exist, or creates it there.
    ///
    /// # Errors
    ///
    /// Fails with [`SearchError::Busy`] while another writer has it open; if it is of another version; and if its files cannot be read
    /// or written.
    pub fn open_or_create(folder: &Path) -> Result<SearchWriter, SearchError> {
        let (schema, fields) = schema();
        let tokenizers = TokenizerManager::default();
        tokenizers.register(TOKENIZER, WeightedFieldTokenizer::default());
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
            is_reader_stale: false,
        })
    }

    /// Adds a document, and deletes the earlier one of the same project.
    ///
    /// # Errors
    ///
    /// As [`insert`](SearchWriter::insert).
    pub fn upsert(&mut self, document: &SearchDocument<'_>) -> Result<(), SearchError> {
        self.remove(document.project);
        self.insert(document)
    }

    /// Adds the document of a project that has none in the index, which saves the search for an earlier one.
    ///
    /// # Errors
    ///
    /// Fails with [`SearchError::Rejected`] if the ordinal is not below 2^40 or the category is longer than 65,535 bytes, and if the
    /// index cannot be written.
    pub fn insert(&mut self, document: &SearchDocument<'_>) -> Result<(), SearchError> {
        if document.ordinal >= ORDINAL_BOUND {
            return Err(SearchError::Rejected(format!(
                "its ordinal {} is not below {ORDINAL_BOUND}",
                document.ordinal
            )));
        }
        // A project that is not listed is not found by its name either.
        let name = if document.listed { text::comparison_form(document.name) } else { String::new() };
        let text = if document.listed { combined_text(document) } else { String::new() };
        let row = encode(Row {
            tie_breaker: tie_breaker(document.published, document.ordinal),
            length_id: length_id(&text),
            category: document.category,
            name: name.as_bytes(),
            summary: document.summary,
        });
        let row =
            row.ok_or_else(|| SearchError::Rejected("its category is longer than 65,535 bytes".to_owned()))?;
        let mut content = TantivyDocument::new();
        content.add_text(self.fields.project, document.project);
        content.add_bytes(self.fields.state, document.state);
        // A document without words cannot be found; it keeps the state of a project that may be listed again.
        if document.listed {
            content.add_text(self.fields.slug, document.slug);
            content.add_text(self.fields.text, text);
        }
        content.add_custom(self.fields.row, &row);
        self.writer.add_document(content)?;
        Ok(())
    }

    /// Deletes the document of a project, if there is one.
    pub fn remove(&mut self, project: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.project, project));
    }

    /// Returns the state of a project's document at the last commit.
    ///
    /// # Errors
    ///
    /// Fails if the index's files cannot be read.
    pub fn state(&mut self, project: &str) -> Result<Option<Vec<u8>>, SearchError> {
        if std::mem::take(&mut self.is_reader_stale) {
            self.reader.reload()?;
        }
        let searcher = self.reader.searcher();
        let term = Term::from_field_text(self.fields.project, project);
        for segment in searcher.segment_readers() {
            let projects = segment.inverted_index(self.fields.project)?;
            let postings = projects
                .read_postings(&term, IndexRecordOption::Basic)
                .map_err(tantivy::TantivyError::from)?;
            let Some(mut postings) = postings else { continue };
            let mut document = postings.doc();
            while document != TERMINATED && segment.is_deleted(document) {
                document = postings.advance();
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

    /// Makes all changes since the last commit visible and durable, together with `payload`, as the checkpoint of the caller.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be written.
    pub fn commit(&mut self, payload: &str) -> Result<(), SearchError> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(payload);
        prepared.commit()?;
        payload.clone_into(&mut self.payload);
        self.is_reader_stale = true;
        Ok(())
    }

    /// Returns the payload of the last commit; empty before the first.
    pub fn payload(&self) -> &str {
        &self.payload
    }

    /// Merges no segments until the next [`compact`](SearchWriter::compact) or [`force_merge`](SearchWriter::force_merge).
    pub fn pause_merging(&mut self) {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
    }

    /// Merges all segments into one if a tenth of the documents is outside the largest segment, or deleted in it, and ends
    /// [`pause_merging`](SearchWriter::pause_merging). If the future is dropped the merge continues in the background, and commits
    /// are possible meanwhile.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be written.
    pub async fn compact(&mut self) -> Result<(), SearchError> {
        let segments = self.index.load_metas()?.segments;
        let all: u32 = segments.iter().map(|segment| segment.max_doc()).sum();
        let largest = segments.iter().map(|segment| segment.num_docs()).max().unwrap_or(0);
        if segments.len() > 1 && (all - largest) * OUTSIDE_SHARE >= all {
            let segments = self.index.searchable_segment_ids()?;
            match self.writer.merge(&segments).await {
                // A merge in the background includes some of these segments; the next call tries again.
                Ok(_) | Err(TantivyError::InvalidArgument(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.writer.set_merge_policy(Box::new(merge_policy()));
        Ok(())
    }

    /// Merges all committed segments into one, which is searched fastest, and waits for it.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be written, or merges in the background do not end within a minute.
    pub fn force_merge(&mut self) -> Result<(), SearchError> {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
        let merged = self.merge_all();
        self.writer.set_merge_policy(Box::new(merge_policy()));
        merged
    }

    fn merge_all(&mut self) -> Result<(), SearchError> {
        let began = Instant::now();
        loop {
            let segments = self.index.searchable_segment_ids()?;
            if segments.len() < 2 {
                return Ok(());
            }
            match self.writer.merge(&segments).wait() {
                // A merge in the background includes some of these segments. No new one begins.
                Err(TantivyError::InvalidArgument(_)) if began.elapsed() < MERGE_TIMEOUT => {
                    sleep(MERGE_PAUSE)
                }
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Waits for merges in the background, and closes the writer. Uncommitted changes are lost.
    ///
    /// # Errors
    ///
    /// Fails if a merge failed.
    pub fn close(self) -> Result<(), SearchError> {
        Ok(self.writer.wait_merging_threads()?)
    }

    /// Returns the digest of the last commit (see [`SearchReader::digest`]).
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be read.
    pub fn digest(&self) -> Result<Digest, SearchError> {
        SearchReader::open(&self.folder)?.digest()
    }
}

/// Returns the step of a combined text's length in tantivy's scale of lengths.
fn length_id(text: &str) -> u8 {
    let mut length = 0_u32;
    for_each_weighted_word(text, &mut |word, weight| {
        // The words that are joined count already.
        if word.kind != text::Kind::Joined {
            length = length.saturating_add(weight);
        }
    });
    let next = partition_point(0..256, |id| FieldNormReader::id_to_fieldnorm(id as u8) <= length);
    next.saturating_sub(1) as u8
}

/// Returns the policy of merges in the background: segments of similar size are merged, so that commits of one document leave few
/// segments, and each document is rewritten rarely.
fn merge_policy() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(MERGE_SEGMENTS);
    policy.set_min_layer_size(MIN_LAYER_SIZE);
    policy.set_del_docs_ratio_before_merge(MAX_DELETED_SHARE);
    policy.set_max_docs_before_merge(MAX_MERGED_SIZE);
    policy
}
