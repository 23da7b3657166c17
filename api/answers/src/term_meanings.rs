//! The meanings of the recorded words of taste, each computed once and kept in memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use embeddings::{Query, TextModel};
use read::archive::Term;

/// The cosine from which on a word may be near. Synonyms have 0.4 to 0.7, and words that have nothing in common up to 0.3.
///
/// Measured with 145 words of ordinary language that are not in use themselves, in the works of three museums and in the demo catalog: of
/// the first four that are near 6 % are wrong. With 0.3 as the only floor 11 % are wrong, and there are 15 % more right ones.
const LEAST: f32 = 0.33;
/// The cosine from which on a word is near whatever the others are.
const ENOUGH: f32 = 0.36;
/// Between the two a word is near that has this share of the cosine of the nearest one.
const OF_BEST: f32 = 0.7;
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
            if score >= LEAST {
                near.push((score, term));
            }
        }
        let best = near.iter().map(|(score, _)| *score).fold(LEAST, f32::max);
        let least = (OF_BEST * best).clamp(LEAST, ENOUGH);
        near.retain(|(score, _)| *score >= least);
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

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: usize = 29_528;
    const NUMBERS: usize = 256;

    /// Words with the first two numbers of each: the cosine with the first word is their first number in hundredths.
    const WORDS: [(&str, [i8; 2]); 7] = [
        ("wood", [100, 0]),
        ("timber", [60, 80]),
        ("oak", [37, 93]),
        ("larch", [37, 93]),
        ("ash", [35, 94]),
        ("stone", [32, 95]),
        ("steel", [-100, 0]),
    ];

    fn model() -> TextModel {
        let mut table = [0.01_f32.to_le_bytes(); PIECES].concat();
        let mut rows = vec![0; PIECES * NUMBERS];
        for (row, (_, numbers)) in rows.chunks_exact_mut(NUMBERS).zip(WORDS) {
            row.iter_mut().zip(numbers).for_each(|(byte, number)| *byte = number.cast_unsigned());
        }
        table.append(&mut rows);
        let others = (WORDS.len()..PIECES).map(|piece| format!("[unused{piece}]"));
        let lines: Vec<String> = WORDS.iter().map(|(word, _)| (*word).to_owned()).chain(others).collect();
        table.extend(lines.join("\n").into_bytes());
        TextModel::from_table(table).unwrap()
    }

    #[test]
    fn a_word_is_near_from_a_floor_on_that_is_lower_if_none_is_nearer() {
        let (model, meanings) = (model(), TermMeanings::default());
        let wood = model.query("wood").unwrap();
        let terms =
            [("stone", 9), ("larch", 1), ("oak", 4), ("ash", 2), ("timber", 1), ("steel", 3), ("zzz", 5)];
        let near = |without: &[&str]| -> Vec<String> {
            let asked = terms.into_iter().filter(|(term, _)| !without.contains(term));
            let asked = asked.map(|(term, projects)| Term { term: term.to_owned(), projects });
            meanings.near(&model, &wood, asked).into_iter().map(|term| term.term).collect()
        };
        for _ in 0..2 {
            assert_eq!(near(&[]), ["timber", "oak", "larch"], "of equally near ones the most used is first");
            assert_eq!(near(&["timber"]), ["oak", "larch", "ash"]);
            assert_eq!(near(&["timber", "oak", "larch"]), ["ash"]);
            assert_eq!(near(&["timber", "oak", "larch", "ash"]), [""; 0]);
        }
    }
}
