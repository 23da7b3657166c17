//! The vector of a document without a model: feature hashing, each word to a few signed places of one vector.
//!
//! Nothing is learned from a corpus, so a document's vector does not depend on other documents. Two vectors point the same way as
//! far as their documents share words; words that are not shared cancel out to chance.

mod fold;
mod frequent;
mod hash;

use self::fold::{Piece, pieces};
use self::hash::{Feature, feature};
use super::document::{Document, Field};
use super::length::weigh;

/// How many numbers [`numbers`] gives.
pub(super) const DIMENSIONS: usize = 256;
/// Places that one feature is spread over: two features that meet in one place still differ in the others.
const PLACES: u32 = 8;

/// What a word counts in any field, beside what it counts in its own.
const ANYWHERE: f32 = 0.5;
/// What two words side by side count, beside each of them.
const PAIR: f32 = 0.5;

/// Encodes a document in [`DIMENSIONS`] finite numbers of unit length; `None` where no field holds a word.
pub(super) fn numbers(document: &Document<'_>) -> Option<Vec<f32>> {
    let mut sum = Sum::new();
    document.fields.iter().for_each(|field| sum.add(field));
    if !sum.has_words {
        return None;
    }
    document.context.iter().for_each(|field| sum.add(field));
    let mut numbers = sum.numbers;
    weigh(&mut numbers, 1.0);
    numbers.iter().any(|n| *n != 0.0).then_some(numbers)
}

struct Sum {
    numbers: Vec<f32>,
    /// The features of one field with what each counts; kept for its room.
    features: Vec<(Feature, f32)>,
    has_words: bool,
}

impl Sum {
    fn new() -> Sum {
        Sum { numbers: vec![0.0; DIMENSIONS], features: Vec::with_capacity(256), has_words: false }
    }

    /// Adds the words of one field.
    fn add(&mut self, field: &Field<'_>) {
        self.features.clear();
        let (own, anywhere) = (feature(field.name.as_bytes()), feature(b"anywhere"));
        for text in &field.texts {
            let mut before: Option<(Feature, f32)> = None;
            pieces(text, &mut |piece| match piece {
                Piece::Word { word, weight } => {
                    self.features.push((own.then(word), weight));
                    self.features.push((anywhere.then(word), weight * ANYWHERE));
                    let pair = before.filter(|_| field.has_phrases);
                    if let Some((first, its)) = pair {
                        self.features.push((own.then(first).then(word), PAIR * weight.min(its)));
                    }
                    before = Some((word, weight));
                }
                Piece::Break => before = None,
            });
        }
        self.project(field.weight);
    }

    fn project(&mut self, weight: f32) {
        // In the order of the features, so that the same words give the same bits.
        self.features.sort_unstable_by_key(|(feature, _)| *feature);
        let mut distinct = 0;
        let mut square = 0.0;
        let mut at = 0;
        while at < self.features.len() {
            let (feature, counts) = self.features[at];
            let times = self.features[at..].iter().take_while(|(next, _)| *next == feature).count();
            // The second time a word is said it says less.
            let counts = counts * (1.0 + (times as f32).ln());
            self.features[distinct] = (feature, counts);
            square += counts * counts;
            distinct += 1;
            at += times;
        }
        if distinct == 0 {
            return;
        }
        self.has_words = true;
        let scale = weight / (square * PLACES as f32).sqrt();
        for (feature, counts) in &self.features[..distinct] {
            feature.places(PLACES, |place, sign| self.numbers[place] += sign * counts * scale);
        }
    }
}
