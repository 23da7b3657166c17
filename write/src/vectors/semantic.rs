//! What a record's words say, without a model: its words, each hashed to a few signed places of one vector.
//!
//! Nothing is learned from the catalog, so a record's vector does not change when another record comes. Two vectors
//! point the same way as far as their records share words; words that share nothing cancel out to chance.

mod fold;
mod frequent;
mod hash;

use schemas::record::{Record, Taste};

use self::fold::{Piece, pieces};
use self::hash::{Feature, feature};
use super::length::weigh;

/// How many numbers [`numbers`] gives.
pub(super) const DIMENSIONS: usize = 256;
/// Places that one feature is spread over: two features that meet in one place still differ in the others.
const PLACES: u32 = 8;

/// What a field counts, given that its words are brought to unit length together. Taste is what the catalog is about;
/// who made a thing and what it is called are rare words that would otherwise outweigh it.
const TASTE: f32 = 1.0;
const DESIGN_LANGUAGE: f32 = 0.9;
const INTRO: f32 = 0.6;
const CATEGORY: f32 = 0.5;
const DESCRIPTION: f32 = 0.5;
const DETAILS: f32 = 0.25;
const PICTURES: f32 = 0.25;
const CITY: f32 = 0.2;
const STUDIO: f32 = 0.2;
const NAME: f32 = 0.15;

/// What a word counts in any field, beside what it counts in its own.
const ANYWHERE: f32 = 0.5;
/// What two words side by side count, beside each of them.
const PAIR: f32 = 0.5;

/// Describes a record in [`DIMENSIONS`] finite numbers of unit length; `None` where no field holds a word, since its
/// category alone says nothing.
pub(super) fn numbers(record: &Record) -> Option<Vec<f32>> {
    let mut sum = Sum::new();
    let Taste { material, light, color, mood, composition, subject } = &record.taste;
    let taste = [
        ("material", material),
        ("light", light),
        ("color", color),
        ("mood", mood),
        ("composition", composition),
        ("subject", subject),
    ];
    for (field, text) in taste {
        sum.add(field, text.as_deref(), TASTE, Pairs::Counted);
    }
    sum.add("design_language", record.design_language.as_deref(), DESIGN_LANGUAGE, Pairs::Counted);
    sum.add("text", record.intro.as_deref(), INTRO, Pairs::Ignored);
    sum.add("text", record.description.as_deref(), DESCRIPTION, Pairs::Ignored);
    let details = record.details.iter().flat_map(|detail| [detail.label.as_str(), detail.value.as_str()]);
    sum.add("details", details, DETAILS, Pairs::Ignored);
    let alts = record.pictures.iter().filter_map(|picture| picture.alt.as_deref());
    sum.add("text", alts, PICTURES, Pairs::Ignored);
    sum.add("city", record.city.as_deref(), CITY, Pairs::Ignored);
    sum.add("studio", record.studio.as_deref(), STUDIO, Pairs::Ignored);
    sum.add("name", [record.name.as_str()], NAME, Pairs::Ignored);
    if !sum.said {
        return None;
    }
    sum.add("category", [record.category.as_str()], CATEGORY, Pairs::Ignored);
    let mut numbers = sum.numbers;
    weigh(&mut numbers, 1.0);
    numbers.iter().any(|n| *n != 0.0).then_some(numbers)
}

/// Whether words side by side count as pairs, which is worth its noise in short phrases only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pairs {
    Counted,
    Ignored,
}

struct Sum {
    numbers: Vec<f32>,
    /// The features of one field with what each counts; kept for its room.
    features: Vec<(Feature, f32)>,
    said: bool,
}

impl Sum {
    fn new() -> Sum {
        Sum { numbers: vec![0.0; DIMENSIONS], features: Vec::with_capacity(256), said: false }
    }

    /// Adds the words of one field, `weight` long together.
    fn add<'t>(&mut self, field: &str, texts: impl IntoIterator<Item = &'t str>, weight: f32, pairs: Pairs) {
        self.features.clear();
        let (own, anywhere) = (feature(field.as_bytes()), feature(b"anywhere"));
        for text in texts {
            let mut before: Option<(Feature, f32)> = None;
            pieces(text, &mut |piece| match piece {
                Piece::Word { word, weight } => {
                    self.features.push((own.then(word), weight));
                    self.features.push((anywhere.then(word), weight * ANYWHERE));
                    let pair = before.filter(|_| pairs == Pairs::Counted);
                    if let Some((first, its)) = pair {
                        self.features.push((own.then(first).then(word), PAIR * weight.min(its)));
                    }
                    before = Some((word, weight));
                }
                Piece::Break => before = None,
            });
        }
        self.project(weight);
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
        self.said = true;
        let scale = weight / (square * PLACES as f32).sqrt();
        for (feature, counts) in &self.features[..distinct] {
            feature.places(PLACES, |place, sign| self.numbers[place] += sign * counts * scale);
        }
    }
}

#[cfg(test)]
mod tests;
