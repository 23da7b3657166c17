//! The built-in vector of a document: feature hashing (Weinberger et al. 2009), each word to [`HASHES`] signed components.
//!
//! Nothing is learned from a corpus, so a vector does not depend on other documents. The cosine of two vectors measures the words
//! that they share; the expected contribution of all others is 0.

mod fold;
mod hash;
mod word_weights;

use self::fold::{Token, tokens};
use self::hash::{Feature, feature};
use super::{Document, Field, scale_to};

/// The length of the vector.
pub(super) const DIMENSIONS: usize = 256;
/// Components per feature: two features that collide in one component differ in the others.
const HASHES: u32 = 8;

/// The weight of a word in common with any field, beside 1 with fields of the same name.
const ANY_FIELD: f32 = 0.5;
/// The weight of a pair of adjacent words, beside each of them.
const PAIR: f32 = 0.5;

/// Returns the vector of a document, [`DIMENSIONS`] finite numbers of unit length; `None` if no field holds a word.
pub(super) fn vector(document: &Document<'_>) -> Option<Vec<f32>> {
    let mut sum = FieldSum::new();
    document.fields.iter().for_each(|field| sum.add(field));
    if !sum.has_words {
        return None;
    }
    document.context.iter().for_each(|field| sum.add(field));
    let mut vector = sum.vector;
    scale_to(&mut vector, 1.0);
    vector.iter().any(|n| *n != 0.0).then_some(vector)
}

/// The sum of the weighted vectors of fields.
struct FieldSum {
    vector: Vec<f32>,
    /// The weighted features of one field; a field of the struct to reuse its allocation.
    features: Vec<(Feature, f32)>,
    has_words: bool,
}

impl FieldSum {
    fn new() -> FieldSum {
        FieldSum { vector: vec![0.0; DIMENSIONS], features: Vec::with_capacity(256), has_words: false }
    }

    /// Adds the words of one field.
    fn add(&mut self, field: &Field<'_>) {
        self.features.clear();
        let (field_name, any_field) = (feature(field.name.as_bytes()), feature(b"anywhere"));
        for text in &field.texts {
            let mut previous: Option<(Feature, f32)> = None;
            tokens(text, &mut |token| match token {
                Token::Word { word, weight } => {
                    self.features.push((field_name.then(word), weight));
                    self.features.push((any_field.then(word), weight * ANY_FIELD));
                    let pair = previous.filter(|_| field.has_phrases);
                    if let Some((first, first_weight)) = pair {
                        self.features
                            .push((field_name.then(first).then(word), PAIR * weight.min(first_weight)));
                    }
                    previous = Some((word, weight));
                }
                Token::Break => previous = None,
            });
        }
        self.add_features(field.weight);
    }

    /// Adds the vector of the collected features, scaled to the length `weight`.
    fn add_features(&mut self, weight: f32) {
        // In a fixed order: floating-point sums depend on it, and the same words must give the same bits.
        self.features.sort_unstable_by_key(|(feature, _)| *feature);
        let mut distinct = 0;
        let mut square = 0.0;
        let mut at = 0;
        while at < self.features.len() {
            let (feature, word_weight) = self.features[at];
            let times = self.features[at..].iter().take_while(|(next, _)| *next == feature).count();
            // Term-frequency saturation: repetitions add less and less.
            let word_weight = word_weight * (1.0 + (times as f32).ln());
            self.features[distinct] = (feature, word_weight);
            square += word_weight * word_weight;
            distinct += 1;
            at += times;
        }
        if distinct == 0 {
            return;
        }
        self.has_words = true;
        let scale = weight / (square * HASHES as f32).sqrt();
        for (feature, word_weight) in &self.features[..distinct] {
            feature.components(HASHES, |index, sign| self.vector[index] += sign * word_weight * scale);
        }
    }
}
