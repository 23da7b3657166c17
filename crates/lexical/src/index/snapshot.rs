//! The index at one commit: its segments, its words with their document frequencies, and the statistics that scores need.

use std::collections::HashMap;
use std::hash::Hasher;

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory, META_LOCK};
use tantivy::index::{Index, IndexMeta};

use super::lexicon::Lexicon;
use super::schema::Fields;
use super::segment::Segment;
use crate::SearchError;
use crate::fnv::Fnv;
use crate::ranking::bm25::{self, LengthNorms, length_norms};

/// A word is frequent if more than one in this many projects contains it, and more than [`MIN_FREQUENT`] do.
const FREQUENT_SHARE: u64 = 20;
const MIN_FREQUENT: u32 = 10;

/// How often opening the last commit is tried without a lock.
const MAX_ATTEMPTS: usize = 5;

/// The index at one commit. Immutable; segments are shared between snapshots.
pub(crate) struct Snapshot {
    pub(crate) segments: Vec<Segment>,
    pub(crate) lexicon: Lexicon,
    /// The number of listed projects. Others have documents too, but without words.
    pub(crate) documents: u64,
    /// The sum of the lengths of live documents in weighted words.
    total_length: u64,
    /// The mean length of the documents of listed projects in weighted words, at least 1.
    pub(crate) mean_length: f32,
    /// The length norms for the mean length.
    pub(crate) length_norms: Box<LengthNorms>,
    /// The payload of the commit.
    pub(crate) payload: String,
    /// A hash of the commit and of its segments, which merges change without a commit.
    fingerprint: u64,
}

impl Snapshot {
    /// Opens the last commit of `index`; shares unchanged segments with an `earlier` snapshot. Returns `None` if nothing changed since
    /// that.
    pub(crate) fn open(
        index: &Index,
        fields: Fields,
        earlier: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, SearchError> {
        // The writer may remove files between the reading of their names and their opening: then there is a newer commit. The
        // lock would rule that out, but waits a tenth of a second whenever the writer has it.
        for _ in 0..MAX_ATTEMPTS {
            match Snapshot::try_open(index, fields, earlier) {
                Err(SearchError::Unavailable(TantivyError::OpenReadError(
                    OpenReadError::FileDoesNotExist(_),
                ))) => {}
                answer => return answer,
            }
        }
        let _lock = index.directory().acquire_lock(&META_LOCK).map_err(TantivyError::from)?;
        Snapshot::try_open(index, fields, earlier)
    }

    fn try_open(
        index: &Index,
        fields: Fields,
        earlier: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, SearchError> {
        let metas = index.load_metas()?;
        let fingerprint = fingerprint(&metas);
        if earlier.is_some_and(|earlier| earlier.fingerprint == fingerprint) {
            return Ok(None);
        }
        let mut segments = Vec::with_capacity(metas.segments.len());
        for meta in &metas.segments {
            let known =
                earlier.and_then(|earlier| earlier.segments.iter().find(|segment| segment.id() == meta.id()));
            segments.push(match known {
                Some(same) if same.is_current(meta) => same.clone(),
                changed => Segment::open(index, fields, meta, changed)?,
            });
        }
        // The largest first, so that pages fill up early; the order does not depend on how tantivy lists segments.
        segments.sort_by_key(|segment| (std::cmp::Reverse(segment.live_count()), segment.id()));
        Snapshot::with_statistics(segments, earlier, metas.payload.unwrap_or_default(), fingerprint).map(Some)
    }

    /// Computes the statistics: those of the earlier snapshot, and the difference. Only live documents count.
    fn with_statistics(
        segments: Vec<Segment>,
        earlier: Option<&Snapshot>,
        payload: String,
        fingerprint: u64,
    ) -> Result<Snapshot, SearchError> {
        let empty = Lexicon::default();
        let mut words = earlier.map_or(&empty, |earlier| &earlier.lexicon).update();
        // Signed: the difference may be negative, and a dropped segment is subtracted with its deleted documents, which are then
        // added back.
        let (mut length, mut listed) = (0_i64, 0_i64);
        let mut dropped: HashMap<_, _> = HashMap::new();
        for segment in earlier.map_or(&[][..], |earlier| &earlier.segments) {
            dropped.insert(segment.id(), segment);
        }
        for segment in &segments {
            let before = dropped.remove(&segment.id());
            if before.is_none() {
                length += segment.total_length().cast_signed();
                listed += segment.listed_count().cast_signed();
                segment.for_each_word(|word, documents| words.add(word, documents));
            }
            for document in segment.deleted_since(before) {
                length -= segment.length(document).cast_signed();
                listed -= i64::from(segment.length(document) > 0);
                segment.for_each_word_in(document, |word| words.add(word, -1))?;
            }
        }
        for segment in dropped.into_values() {
            length -= segment.total_length().cast_signed();
            listed -= segment.listed_count().cast_signed();
            segment.for_each_word(|word, documents| words.add(word, -documents));
            for document in segment.deleted_since(None) {
                length += segment.length(document).cast_signed();
                listed += i64::from(segment.length(document) > 0);
                segment.for_each_word_in(document, |word| words.add(word, 1))?;
            }
        }
        let total_length = earlier.map_or(0, |earlier| earlier.total_length).checked_add_signed(length);
        let total_length = total_length
            .ok_or_else(|| SearchError::Corrupt("its documents have a negative length".to_owned()))?;
        let documents = earlier.map_or(0, |earlier| earlier.documents).checked_add_signed(listed);
        let documents =
            documents.ok_or_else(|| SearchError::Corrupt("it lists fewer than no projects".to_owned()))?;
        let mean_length = mean_length(total_length, documents);
        Ok(Snapshot {
            segments,
            lexicon: words.finish(),
            documents,
            total_length,
            mean_length,
            length_norms: length_norms(mean_length),
            payload,
            fingerprint,
        })
    }

    /// Returns the inverse document frequency of a word that this number of live documents contain.
    pub(crate) fn idf(&self, document_frequency: u32) -> f32 {
        bm25::idf(self.documents, document_frequency)
    }

    /// Returns the document frequency above which a word is frequent: it says too little to base an approximate match on.
    pub(crate) fn frequent_above(&self) -> u32 {
        u32::try_from(self.documents / FREQUENT_SHARE).unwrap_or(u32::MAX).max(MIN_FREQUENT)
    }
}

fn mean_length(total_length: u64, documents: u64) -> f32 {
    if documents == 0 { 1.0 } else { (total_length as f64 / documents as f64).max(1.0) as f32 }
}

fn fingerprint(metas: &IndexMeta) -> u64 {
    let mut hash = Fnv::default();
    hash.write_u64(metas.opstamp);
    hash.write(metas.payload.as_deref().unwrap_or_default().as_bytes());
    let mut segments: Vec<_> = metas.segments.iter().map(|meta| (meta.id(), meta.delete_opstamp())).collect();
    segments.sort_unstable();
    for (id, deleted_at) in segments {
        hash.write(id.uuid_string().as_bytes());
        hash.write_u64(deleted_at.map_or(0, |opstamp| opstamp + 1));
    }
    hash.finish()
}
