//! BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the usual `k1` and `b`.
//!
//! A word that occurs `tf` times in a document scores there `idf × tf / (tf + length norm)`, and a document scores the sum over the
//! words of the query. The idf and the mean length change with every commit. A cursor carries those of the first page
//! ([`Bm25Weights`]), so that a document that did not change has the same score, bit for bit, in every later commit and on every
//! other node.

use tantivy::fieldnorm::FieldNormReader;

use crate::query::MAX_QUERY_WORDS;

/// `k1`: how soon further occurrences of a word stop to matter.
const K1: f32 = 1.2;
/// `b`: how much a document's length counts, from 0 to 1.
const B: f32 = 0.75;

/// The length norm of a document, `k1 × (1 - b + b × length / mean length)`, by its stored length (0 to 255): the summand beside
/// the term frequency in the denominator.
pub(crate) type LengthNorms = [f32; 256];

/// Returns the length norms for every length that the index can store. Lengths are in weighted words.
pub(crate) fn length_norms(mean_length: f32) -> Box<LengthNorms> {
    Box::new(std::array::from_fn(|stored| {
        let length = FieldNormReader::id_to_fieldnorm(stored as u8) as f32;
        K1 * (1.0 - B + B * length / mean_length)
    }))
}

/// Returns the saturated term frequency, from 0 to below 1: to be multiplied by the idf.
#[inline]
pub(crate) fn tf_saturation(frequency: f32, length_norm: f32) -> f32 {
    frequency / (frequency + length_norm)
}

/// Returns the inverse document frequency of a word that `document_frequency` of all `documents` contain; above 0.
pub(crate) fn idf(documents: u64, document_frequency: u32) -> f32 {
    let (all, with) = (documents as f32, (document_frequency as f32).min(documents as f32));
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// One for each word of a query, and one for the completions of its last word.
pub(crate) const MAX_IDFS: usize = MAX_QUERY_WORDS + 1;

/// The statistics of the index that the scores of one search depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bm25Weights {
    /// The mean length of documents in weighted words, at least 1.
    pub(crate) mean_length: f32,
    idfs: [f32; MAX_IDFS],
    count: u8,
}

impl Bm25Weights {
    /// Creates weights without an idf.
    pub(crate) fn new(mean_length: f32) -> Bm25Weights {
        Bm25Weights { mean_length, idfs: [0.0; MAX_IDFS], count: 0 }
    }

    /// Appends the idf of the next word; dropped if there are [`MAX_IDFS`] already.
    pub(crate) fn push(&mut self, idf: f32) {
        if let Some(next) = self.idfs.get_mut(usize::from(self.count)) {
            *next = idf;
            self.count += 1;
        }
    }

    /// Returns the idf of each word of the query, in its order, then that of the completions if they were searched.
    pub(crate) fn idfs(&self) -> &[f32] {
        self.idfs.get(..usize::from(self.count)).unwrap_or_default()
    }
}
