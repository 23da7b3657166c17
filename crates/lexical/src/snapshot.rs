//! The index at one commit: its segments, its words with their counts, and the measures that scores need.

use std::collections::HashMap;
use std::hash::Hasher;

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory, META_LOCK};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Index, IndexMeta};

use super::SearchError;
use super::lexicon::Lexicon;
use super::schema::Fields;
use super::segment::Segment;

/// How much a document's length counts in its score, from 0 to 1.
const LENGTH_SHARE: f32 = 0.75;
/// How soon repeating a word stops to count.
const SATURATION: f32 = 1.2;

/// A word is frequent if more than one project in so many holds it, and more than a few do.
const FREQUENT_SHARE: u64 = 20;
const FEW: u32 = 10;

/// So often the last commit is opened without a lock.
const ATTEMPTS: usize = 5;

/// The index at one commit. Immutable; segments are shared between snapshots.
pub(super) struct Snapshot {
    pub(super) segments: Vec<Segment>,
    pub(super) lexicon: Lexicon,
    /// The number of listed projects; withdrawn ones have documents without words.
    pub(super) documents: u64,
    /// The sum of the lengths of live documents, in weighted words.
    length: u64,
    /// The mean length of the documents of listed projects, in weighted words.
    pub(super) mean_length: f32,
    /// The damping that goes with the mean length.
    pub(super) damping: Box<Damping>,
    pub(super) payload: String,
    /// Stands for this commit and this state of merging.
    pub(super) identity: u64,
}

/// For each stored length what stands beside the word's frequency in the score's denominator.
pub(super) type Damping = [f32; 256];

impl Snapshot {
    /// Opens the last commit of `index`, sharing with an `earlier` snapshot what did not change. Gives nothing if nothing did.
    pub(super) fn open(
        index: &Index,
        fields: Fields,
        earlier: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, SearchError> {
        // Between our reading the names of files and our opening them the writer may have removed some: then there is a newer
        // commit. The lock would rule that out, but waits a tenth of a second whenever the writer holds it.
        for _ in 0..ATTEMPTS {
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
        let identity = identity(&metas);
        if earlier.is_some_and(|earlier| earlier.identity == identity) {
            return Ok(None);
        }
        let mut segments = Vec::with_capacity(metas.segments.len());
        for meta in &metas.segments {
            let known =
                earlier.and_then(|earlier| earlier.segments.iter().find(|segment| segment.id() == meta.id()));
            segments.push(match known {
                Some(same) if same.is(meta) => same.clone(),
                changed => Segment::open(index, fields, meta, changed)?,
            });
        }
        // The largest first: most matches come first, and the order does not depend on how metas are listed.
        segments.sort_by_key(|segment| (std::cmp::Reverse(segment.documents()), segment.id()));
        Snapshot::count(segments, earlier, metas.payload.unwrap_or_default(), identity).map(Some)
    }

    /// Counts words and lengths: what the earlier snapshot had, and the difference.
    fn count(
        segments: Vec<Segment>,
        earlier: Option<&Snapshot>,
        payload: String,
        identity: u64,
    ) -> Result<Snapshot, SearchError> {
        let empty = Lexicon::default();
        let mut words = earlier.map_or(&empty, |earlier| &earlier.lexicon).change();
        // Signed: a merged segment takes its deleted documents away before they are given back.
        let (mut length, mut listed) = (0_i64, 0_i64);
        let mut known: HashMap<_, _> = HashMap::new();
        for segment in earlier.map_or(&[][..], |earlier| &earlier.segments) {
            known.insert(segment.id(), segment);
        }
        for segment in &segments {
            let before = known.remove(&segment.id());
            if before.is_none() {
                length += segment.total_length().cast_signed();
                listed += segment.listed().cast_signed();
                segment.for_each_word(|word, documents| words.add(word, documents));
            }
            for document in segment.deleted_since(before) {
                length -= segment.words_in(document).cast_signed();
                listed -= i64::from(segment.words_in(document) > 0);
                segment.for_each_word_of(document, |word| words.add(word, -1))?;
            }
        }
        for gone in known.into_values() {
            length -= gone.total_length().cast_signed();
            listed -= gone.listed().cast_signed();
            gone.for_each_word(|word, documents| words.add(word, -documents));
            for document in gone.deleted_since(None) {
                length += gone.words_in(document).cast_signed();
                listed += i64::from(gone.words_in(document) > 0);
                gone.for_each_word_of(document, |word| words.add(word, 1))?;
            }
        }
        let length = earlier.map_or(0, |earlier| earlier.length).checked_add_signed(length);
        let length =
            length.ok_or_else(|| SearchError::Corrupt("its documents have a negative length".to_owned()))?;
        let documents = earlier.map_or(0, |earlier| earlier.documents).checked_add_signed(listed);
        let documents =
            documents.ok_or_else(|| SearchError::Corrupt("it lists fewer than no projects".to_owned()))?;
        let mean_length = mean_length(length, documents);
        Ok(Snapshot {
            segments,
            lexicon: words.finish(),
            documents,
            length,
            mean_length,
            damping: damping(mean_length),
            payload,
            identity,
        })
    }

    /// What a word in `documents` live documents is worth.
    pub(super) fn rarity(&self, documents: u32) -> f32 {
        let (all, with) = (self.documents as f32, (documents as f32).min(self.documents as f32));
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// The most documents that may hold a word which still says something: more than these make it a frequent word.
    pub(super) fn most_holders(&self) -> u32 {
        u32::try_from(self.documents / FREQUENT_SHARE).unwrap_or(u32::MAX).max(FEW)
    }
}

fn mean_length(length: u64, documents: u64) -> f32 {
    if documents == 0 { 1.0 } else { (length as f64 / documents as f64).max(1.0) as f32 }
}

/// The part of BM25 that depends on the document's length alone, for every length that the index can store.
pub(super) fn damping(average: f32) -> Box<Damping> {
    Box::new(std::array::from_fn(|stored| {
        let length = FieldNormReader::id_to_fieldnorm(stored as u8) as f32;
        SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / average)
    }))
}

/// What a word that stands `frequency` times in a document of this damping adds, between 0 and 1; to be weighed by its rarity.
#[inline]
pub(super) fn saturated(frequency: f32, damping: f32) -> f32 {
    frequency / (frequency + damping)
}

fn identity(metas: &IndexMeta) -> u64 {
    let mut hash = super::fnv::Fnv::default();
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
