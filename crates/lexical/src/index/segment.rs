//! One segment of the index: opened once, shared by all snapshots that contain it.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Index, InvertedIndexReader, SegmentComponent, SegmentId, SegmentMeta, SegmentReader};
use tantivy::postings::TermInfo;
use tantivy::schema::Value;
use tantivy::store::StoreReader;
use tantivy::{DocId, Opstamp, TantivyDocument, TantivyError};

use super::lexicon::WordSet;
use super::postings::{LetterDocuments, PostingList, PostingLists};
use super::rows::{EXTENSION, Rows};
use super::schema::{Fields, for_each_weighted_word};
use crate::SearchError;
use crate::ranking::ordinal_of;

/// The content of a segment, which never changes.
pub(crate) struct SegmentContent {
    pub(crate) positions: Arc<InvertedIndexReader>,
    /// The words. Walking tantivy's own dictionary, a finite-state transducer, for every variant of a typed word was the largest
    /// part of a search.
    words: WordSet,
    /// Where tantivy stores the postings of each word.
    term_infos: Vec<TermInfo>,
    postings: PostingLists,
    pub(crate) slugs: Arc<InvertedIndexReader>,
    /// The stored length of each document: 0 to 255, an index into the scale of lengths of tantivy's field norms.
    length_ids: Vec<u8>,
    pub(crate) rows: Rows,
    /// The documents of listed projects by ordinal, deleted ones included. Other documents have no words.
    by_ordinal: Vec<DocId>,
    store: StoreReader,
    fields: Fields,
    /// The sum of the lengths of all documents in weighted words, deleted ones included.
    total_length: u64,
}

/// A segment at one commit: its content, and which of its documents are live.
#[derive(Clone)]
pub(crate) struct Segment {
    id: SegmentId,
    deleted_at: Option<Opstamp>,
    reader: SegmentReader,
    content: Arc<SegmentContent>,
}

/// The stored fields of a document.
pub(crate) struct StoredDocument {
    pub(crate) project: String,
    pub(crate) slug: String,
    /// The combined text (see `schema`).
    pub(crate) text: String,
    pub(crate) state: Vec<u8>,
}

impl std::ops::Deref for Segment {
    type Target = SegmentContent;

    fn deref(&self) -> &SegmentContent {
        &self.content
    }
}

impl Segment {
    /// Opens the segment that `meta` describes; shares the content of the same segment at an `earlier` commit.
    pub(crate) fn open(
        index: &Index,
        fields: Fields,
        meta: &SegmentMeta,
        earlier: Option<&Segment>,
    ) -> Result<Segment, SearchError> {
        let reader = SegmentReader::open(&index.segment(meta.clone()))?;
        let content = match earlier {
            Some(earlier) => Arc::clone(&earlier.content),
            None => Arc::new(SegmentContent::open(&reader, fields)?),
        };
        Ok(Segment { id: meta.id(), deleted_at: meta.delete_opstamp(), reader, content })
    }

    /// Returns whether `meta` describes this segment with the same deletions.
    pub(crate) fn is_current(&self, meta: &SegmentMeta) -> bool {
        self.id == meta.id() && self.deleted_at == meta.delete_opstamp()
    }

    pub(crate) fn id(&self) -> SegmentId {
        self.id
    }

    /// Returns the number of live documents, of listed projects and others.
    pub(crate) fn live_count(&self) -> u64 {
        u64::from(self.reader.num_docs())
    }

    /// Returns one more than the highest document number.
    pub(crate) fn max_doc(&self) -> DocId {
        self.reader.max_doc()
    }

    pub(crate) fn has_deletions(&self) -> bool {
        self.reader.has_deletes()
    }

    #[inline]
    pub(crate) fn is_live(&self, document: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
    }

    /// Returns the documents that are deleted here and were live in the `earlier` state; without one, all deleted documents.
    pub(crate) fn deleted_since<'a>(
        &'a self,
        earlier: Option<&'a Segment>,
    ) -> impl Iterator<Item = DocId> + 'a {
        let all = if self.has_deletions() { self.max_doc() } else { 0 };
        (0..all).filter(move |&document| {
            !self.is_live(document) && earlier.is_none_or(|earlier| earlier.is_live(document))
        })
    }

    pub(crate) fn live_documents(&self) -> impl Iterator<Item = DocId> + '_ {
        (0..self.max_doc()).filter(|&document| self.is_live(document))
    }
}

impl SegmentContent {
    fn open(reader: &SegmentReader, fields: Fields) -> Result<SegmentContent, SearchError> {
        let rows =
            reader.open_read(SegmentComponent::Custom(EXTENSION.to_owned())).map_err(TantivyError::from)?;
        let rows = Rows::open(rows.read_bytes().map_err(TantivyError::from)?, reader.max_doc())?;
        let length_ids = rows.length_ids().to_vec();
        let total_length = length_ids.iter().map(|id| u64::from(FieldNormReader::id_to_fieldnorm(*id))).sum();
        let mut by_ordinal: Vec<DocId> =
            (0..reader.max_doc()).filter(|document| length_ids[*document as usize] > 0).collect();
        by_ordinal.sort_unstable_by_key(|document| ordinal_of(rows.tie_breaker(*document)));
        let positions = reader.inverted_index(fields.text)?;
        let (words, term_infos, postings) = read_words(&positions, reader.max_doc())?;
        Ok(SegmentContent {
            positions,
            words,
            term_infos,
            postings,
            slugs: reader.inverted_index(fields.slug)?,
            rows,
            by_ordinal,
            store: reader.get_store_reader(1).map_err(TantivyError::from)?,
            length_ids,
            fields,
            total_length,
        })
    }

    /// Returns the posting list of a word; `None` if no document contains it.
    pub(crate) fn posting_list(&self, word: &str) -> Option<PostingList<'_>> {
        self.words.find(word).map(|index| self.postings.list(index))
    }

    /// Returns the documents with a word that begins with this letter; `None` if it is none of a to z.
    pub(crate) fn documents_with_letter(&self, letter: &str) -> Option<LetterDocuments<'_>> {
        self.postings.letter(letter)
    }

    /// Returns the words that begin with `prefix`, in the order of their bytes, each with its posting list.
    pub(crate) fn words_with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, PostingList<'_>)> {
        self.words.with_prefix(prefix).map(|index| (self.words.word(index), self.postings.list(index)))
    }

    /// Returns where tantivy stores the positions of a word; `None` if no document contains it.
    pub(crate) fn term_info(&self, word: &str) -> Option<&TermInfo> {
        self.words.find(word).map(|index| &self.term_infos[index])
    }

    /// Returns the ordinal of a document's project.
    pub(crate) fn ordinal(&self, document: DocId) -> u64 {
        ordinal_of(self.rows.tie_breaker(document))
    }

    /// Returns the documents of the listed project with this ordinal, deleted ones included.
    pub(crate) fn documents_of(&self, ordinal: u64) -> impl Iterator<Item = DocId> + '_ {
        let first = self.by_ordinal.partition_point(|document| self.ordinal(*document) < ordinal);
        self.by_ordinal[first..]
            .iter()
            .copied()
            .take_while(move |document| self.ordinal(*document) == ordinal)
    }

    /// Returns the documents of listed projects by ordinal, deleted ones included.
    pub(crate) fn listed_documents(&self) -> impl Iterator<Item = DocId> + '_ {
        self.by_ordinal.iter().copied()
    }

    /// Returns the number of documents of listed projects, deleted ones included.
    pub(crate) fn listed_count(&self) -> u64 {
        self.by_ordinal.len() as u64
    }

    /// Returns the sum of the lengths of all documents in weighted words, deleted ones included.
    pub(crate) fn total_length(&self) -> u64 {
        self.total_length
    }

    /// Returns the stored length of a document, below 256: its index in [`LengthNorms`](crate::ranking::bm25::LengthNorms).
    #[inline]
    pub(crate) fn length_id(&self, document: DocId) -> usize {
        usize::from(self.length_ids[document as usize])
    }

    /// Returns the length of a document in weighted words, as rounded by tantivy's scale.
    pub(crate) fn length(&self, document: DocId) -> u64 {
        u64::from(FieldNormReader::id_to_fieldnorm(self.length_ids[document as usize]))
    }

    /// Reads the stored fields of a document.
    pub(crate) fn stored_document(&self, document: DocId) -> tantivy::Result<StoredDocument> {
        let stored: TantivyDocument = self.store.get(document)?;
        let text = |field| {
            stored.get_first(field).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        Ok(StoredDocument {
            project: text(self.fields.project),
            slug: text(self.fields.slug),
            text: text(self.fields.text),
            state: stored
                .get_first(self.fields.state)
                .and_then(|v| v.as_bytes().map(<[u8]>::to_vec))
                .unwrap_or_default(),
        })
    }

    /// Calls `visit` with every word of the segment and the number of documents that contain it, deleted ones included.
    pub(crate) fn for_each_word(&self, mut visit: impl FnMut(&str, i64)) {
        for (index, info) in self.term_infos.iter().enumerate() {
            visit(self.words.word(index), i64::from(info.doc_freq));
        }
    }

    /// Calls `visit` with every distinct word of a document.
    pub(crate) fn for_each_word_in(
        &self,
        document: DocId,
        mut visit: impl FnMut(&str),
    ) -> tantivy::Result<()> {
        let text = self.stored_document(document)?.text;
        let mut seen = HashSet::new();
        for_each_weighted_word(&text, &mut |word, _| {
            if !seen.contains(word.text) {
                seen.insert(word.text.to_owned());
                visit(word.text);
            }
        });
        Ok(())
    }
}

/// Reads all words of the text field with their postings.
fn read_words(
    reader: &InvertedIndexReader,
    max_doc: DocId,
) -> tantivy::Result<(WordSet, Vec<TermInfo>, PostingLists)> {
    let (mut words, mut term_infos) = (WordSet::default(), Vec::with_capacity(reader.terms().num_terms()));
    let mut postings = PostingLists::new(max_doc);
    let mut terms = reader.terms().stream()?;
    while let Some((word, info)) = terms.next() {
        if let Ok(word) = std::str::from_utf8(word) {
            words.push(word);
            term_infos.push(info.clone());
            postings.push(reader, word, info)?;
        }
    }
    Ok((words.finish(), term_infos, postings.finish()))
}
