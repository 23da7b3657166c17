//! The meanings of the recorded words of taste, each computed once and kept in memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use embeddings::{Query, TextModel};
use read::archive::Term;

/// The cosine from which on a word is near. In the demo catalog synonyms have 0.4 to 0.7, materials of one kind 0.3, and words that have
/// nothing in common less than 0.25.
const FLOOR: f32 = 0.3;
/// The number of words whose meanings are kept: 300 bytes each.
const MOST_KEPT: usize = 60_000;

/// The meanings of words, each computed once.
#[derive(Debug, Default)]
pub struct TermMeanings(Mutex<HashMap<Box<str>, TermMeaning>>);

/// A vector with a byte a number, from -127 to 127; empty for a word that the model does not know.
#[derive(Debug)]
struct TermMeaning {
    numbers: Box<[i8]>,
    inverse_length: f32,
}

impl TermMeanings {
    /// Returns those of some words that are near to a query, the nearest first; of equally near ones the most used.
    pub fn near(&self, model: &TextModel, query: &Query, terms: impl Iterator<Item = Term>) -> Vec<Term> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MOST_KEPT {
            known.clear();
        }
        let mut near: Vec<(f32, Term)> = Vec::new();
        for term in terms {
            let score = match known.get(term.term.as_str()) {
                Some(meaning) => meaning.cosine(query),
                None => {
                    let meaning = TermMeaning::of(model, &term.term);
                    let score = meaning.cosine(query);
                    known.insert(term.term.as_str().into(), meaning);
                    score
                }
            };
            if score >= FLOOR {
                near.push((score, term));
            }
        }
        near.sort_by(|(one, a), (other, b)| {
            let by_use = || (Reverse(a.projects), &a.term).cmp(&(Reverse(b.projects), &b.term));
            other.total_cmp(one).then_with(by_use)
        });
        near.into_iter().map(|(_, term)| term).collect()
    }
}

impl TermMeaning {
    fn of(model: &TextModel, term: &str) -> TermMeaning {
        let vector = model.query(term).map(|query| query.vector).unwrap_or_default();
        let most = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let numbers: Box<[i8]> = vector.iter().map(|number| (number / most * 127.0).round() as i8).collect();
        let length = numbers.iter().map(|number| f32::from(*number).powi(2)).sum::<f32>().sqrt();
        TermMeaning { numbers, inverse_length: 1.0 / length.max(1.0) }
    }

    /// Returns the cosine with a query, which has unit length; 0 for a word that is not known.
    fn cosine(&self, query: &Query) -> f32 {
        let products = self.numbers.iter().zip(&query.vector);
        products.map(|(number, of_query)| f32::from(*number) * of_query).sum::<f32>() * self.inverse_length
    }
}
