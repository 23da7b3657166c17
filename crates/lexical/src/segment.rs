//! One segment of the index, opened once and shared by every snapshot that holds it.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Index, InvertedIndexReader, SegmentComponent, SegmentId, SegmentMeta, SegmentReader};
use tantivy::postings::TermInfo;
use tantivy::schema::Value;
use tantivy::store::StoreReader;
use tantivy::{DocId, Opstamp, TantivyDocument, TantivyError};

use super::SearchError;
use super::lexicon::Words;
use super::postings::{Holders, Postings};
use super::ranking::ordinal_of;
use super::rows::{EXTENSION, Rows};
use super::schema::{Fields, weighted_words};

/// What of a segment never changes.
pub(super) struct Content {
    pub(super) positions: Arc<InvertedIndexReader>,
    /// The words. tantivy's own dictionary is a tree of letters: walking it for every word that a typed one may stand for
    /// was the largest part of a search.
    words: Words,
    infos: Vec<TermInfo>,
    postings: Postings,
    pub(super) slugs: Arc<InvertedIndexReader>,
    /// The stored length of each document: an index of 0 to 255 into a scale of lengths.
    lengths: Vec<u8>,
    pub(super) rows: Rows,
    /// The documents of listed projects in the order of their ordinals. Others have no words.
    by_ordinal: Vec<DocId>,
    store: StoreReader,
    fields: Fields,
    /// The sum of all documents' lengths, deleted ones included.
    total_length: u64,
}

/// A segment at one commit: its content, and which of its documents are alive.
#[derive(Clone)]
pub(super) struct Segment {
    id: SegmentId,
    deleted_at: Option<Opstamp>,
    reader: SegmentReader,
    content: Arc<Content>,
}

/// A document as it was stored.
pub(super) struct Stored {
    pub(super) project: String,
    pub(super) slug: String,
    /// The combined text (see `schema`).
    pub(super) text: String,
    pub(super) state: Vec<u8>,
}

impl std::ops::Deref for Segment {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.content
    }
}

impl Segment {
    /// Opens the segment that `meta` describes, sharing its content with an earlier state of it.
    pub(super) fn open(
        index: &Index,
        fields: Fields,
        meta: &SegmentMeta,
        earlier: Option<&Segment>,
    ) -> Result<Segment, SearchError> {
        let reader = SegmentReader::open(&index.segment(meta.clone()))?;
        let content = match earlier {
            Some(earlier) => Arc::clone(&earlier.content),
            None => Arc::new(Content::open(&reader, fields)?),
        };
        Ok(Segment { id: meta.id(), deleted_at: meta.delete_opstamp(), reader, content })
    }

    /// Whether this is the very state that `meta` describes.
    pub(super) fn is(&self, meta: &SegmentMeta) -> bool {
        self.id == meta.id() && self.deleted_at == meta.delete_opstamp()
    }

    pub(super) fn id(&self) -> SegmentId {
        self.id
    }

    /// The number of live documents.
    pub(super) fn documents(&self) -> u64 {
        u64::from(self.reader.num_docs())
    }

    /// One more than the highest document number.
    pub(super) fn bound(&self) -> DocId {
        self.reader.max_doc()
    }

    pub(super) fn has_deletions(&self) -> bool {
        self.reader.has_deletes()
    }

    #[inline]
    pub(super) fn is_alive(&self, document: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
    }

    /// The documents that are deleted here and were alive in the `earlier` state; all deleted ones without it.
    pub(super) fn deleted_since<'a>(
        &'a self,
        earlier: Option<&'a Segment>,
    ) -> impl Iterator<Item = DocId> + 'a {
        let all = if self.has_deletions() { self.bound() } else { 0 };
        (0..all).filter(move |&document| {
            !self.is_alive(document) && earlier.is_none_or(|earlier| earlier.is_alive(document))
        })
    }

    pub(super) fn live_documents(&self) -> impl Iterator<Item = DocId> + '_ {
        (0..self.bound()).filter(|&document| self.is_alive(document))
    }
}

impl Content {
    fn open(reader: &SegmentReader, fields: Fields) -> Result<Content, SearchError> {
        let rows =
            reader.open_read(SegmentComponent::Custom(EXTENSION.to_owned())).map_err(TantivyError::from)?;
        let lengths = reader.get_fieldnorms_reader(fields.text)?;
        let lengths: Vec<u8> = (0..reader.max_doc()).map(|document| lengths.fieldnorm_id(document)).collect();
        let total_length =
            lengths.iter().map(|length| u64::from(FieldNormReader::id_to_fieldnorm(*length))).sum();
        let rows = Rows::open(rows.read_bytes().map_err(TantivyError::from)?, reader.max_doc())?;
        let mut by_ordinal: Vec<DocId> =
            (0..reader.max_doc()).filter(|document| lengths[*document as usize] > 0).collect();
        by_ordinal.sort_unstable_by_key(|document| ordinal_of(rows.tie(*document)));
        let positions = reader.inverted_index(fields.text)?;
        let (words, infos, postings) = read_words(&positions, reader.max_doc())?;
        Ok(Content {
            positions,
            words,
            infos,
            postings,
            slugs: reader.inverted_index(fields.slug)?,
            rows,
            by_ordinal,
            store: reader.get_store_reader(1).map_err(TantivyError::from)?,
            lengths,
            fields,
            total_length,
        })
    }

    /// The documents that hold a word, if one does.
    pub(super) fn find(&self, word: &str) -> Option<Holders<'_>> {
        self.words.find(word).map(|index| self.postings.holders(index))
    }

    /// Where tantivy has the places at which documents hold a word, if one does.
    pub(super) fn info(&self, word: &str) -> Option<&TermInfo> {
        self.words.find(word).map(|index| &self.infos[index])
    }

    /// The ordinal of the document's project.
    pub(super) fn ordinal(&self, document: DocId) -> u64 {
        ordinal_of(self.rows.tie(document))
    }

    /// The documents of the listed project with this ordinal, deleted ones included.
    pub(super) fn listed_as(&self, ordinal: u64) -> impl Iterator<Item = DocId> + '_ {
        let first = self.by_ordinal.partition_point(|document| self.ordinal(*document) < ordinal);
        self.by_ordinal[first..]
            .iter()
            .copied()
            .take_while(move |document| self.ordinal(*document) == ordinal)
    }

    /// The number of documents of listed projects, deleted ones included.
    pub(super) fn listed(&self) -> u64 {
        self.by_ordinal.len() as u64
    }

    pub(super) fn total_length(&self) -> u64 {
        self.total_length
    }

    /// The document's stored length: the index of its length in the scale, below 256.
    #[inline]
    pub(super) fn length(&self, document: DocId) -> usize {
        usize::from(self.lengths[document as usize])
    }

    /// The document's length in weighted words, as the scale has it.
    pub(super) fn words_in(&self, document: DocId) -> u64 {
        u64::from(FieldNormReader::id_to_fieldnorm(self.lengths[document as usize]))
    }

    /// Reads a document's stored fields.
    pub(super) fn stored(&self, document: DocId) -> tantivy::Result<Stored> {
        let stored: TantivyDocument = self.store.get(document)?;
        let text = |field| {
            stored.get_first(field).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        Ok(Stored {
            project: text(self.fields.project),
            slug: text(self.fields.slug),
            text: text(self.fields.text),
            state: stored
                .get_first(self.fields.state)
                .and_then(|v| v.as_bytes().map(<[u8]>::to_vec))
                .unwrap_or_default(),
        })
    }

    /// Calls `visit` with every word of the segment and the number of documents that hold it, deleted ones included.
    pub(super) fn for_each_word(&self, mut visit: impl FnMut(&str, i64)) {
        for (index, info) in self.infos.iter().enumerate() {
            visit(self.words.word(index), i64::from(info.doc_freq));
        }
    }

    /// Calls `visit` with every distinct word of a document.
    pub(super) fn for_each_word_of(
        &self,
        document: DocId,
        mut visit: impl FnMut(&str),
    ) -> tantivy::Result<()> {
        let text = self.stored(document)?.text;
        let mut seen = HashSet::new();
        weighted_words(&text, &mut |word, _| {
            if !seen.contains(word.text) {
                seen.insert(word.text.to_owned());
                visit(word.text);
            }
        });
        Ok(())
    }
}

fn read_words(
    reader: &InvertedIndexReader,
    bound: DocId,
) -> tantivy::Result<(Words, Vec<TermInfo>, Postings)> {
    let (mut words, mut infos) = (Words::default(), Vec::with_capacity(reader.terms().num_terms()));
    let mut postings = Postings::new(bound);
    let mut terms = reader.terms().stream()?;
    while let Some((word, info)) = terms.next() {
        if let Ok(word) = std::str::from_utf8(word) {
            words.push(word);
            infos.push(info.clone());
            postings.push(reader, info)?;
        }
    }
    Ok((words.finish(), infos, postings.finish()))
}
