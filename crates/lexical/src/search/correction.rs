//! The corrected tier: in place of each word that no project has, in no form, the one that was most likely meant.
//!
//! A word of four letters or more is corrected by one edit (a transposition is one) to any word with the same first letter, however
//! frequent. Of several the one counts that has most full matches together with the other words. In quotes no word is corrected.

use super::expansion::{is_literal, is_no_correction, is_short};
use super::{FORM_WEIGHT, Search};
use crate::index::lexicon::SimilarWord;
use crate::matching::{Clause, Variant, count_full};
use crate::ranking::bm25::Bm25Weights;

/// The most words that a typed one may be corrected to.
const MAX_CANDIDATES: usize = 16;
/// The weight of a correction.
const CORRECTION_WEIGHT: f32 = 0.7;

/// Returns a clause for each word that results must contain, with corrections in place of those that do not occur. None if all occur,
/// or one of them cannot be corrected. `weights` are those of the page before.
pub(super) fn clauses<'a>(
    search: &Search<'a>,
    weights: Option<&Bm25Weights>,
) -> tantivy::Result<Vec<Clause<'a>>> {
    let (mut clauses, mut unknown) = (Vec::new(), Vec::new());
    for word in search.query.required_words() {
        match known(search, word) {
            Some(clause) => clauses.push(clause),
            None => unknown.push((word, candidates(search, word))),
        }
    }
    if unknown.is_empty() || unknown.iter().any(|(_, candidates)| candidates.is_empty()) {
        return Ok(Vec::new());
    }
    for (word, candidates) in unknown {
        let mut best = None;
        for candidate in candidates {
            clauses.push(corrected(search, word, candidate));
            let count = count_full(search.snapshot, search.query, &clauses, search.scope)?;
            let clause = clauses.pop();
            if best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, clause));
            }
        }
        match best {
            Some((1.., Some(clause))) => clauses.push(clause),
            _ => return Ok(Vec::new()),
        }
    }
    clauses.sort_by_key(|clause| clause.word);
    if let Some(weights) = weights {
        for clause in &mut clauses {
            clause.idf = weights.idfs().get(clause.word).copied().unwrap_or(clause.idf);
        }
    }
    Ok(clauses)
}

/// Returns a clause of a word in any form; `None` if it does not occur.
fn known<'a>(search: &Search<'a>, word: usize) -> Option<Clause<'a>> {
    let (query, lexicon) = (search.query, &search.snapshot.lexicon);
    let mut clause = Clause::new(word, search.snapshot.idf(search.frequency(word)));
    let typed = std::iter::once((query.words[word].as_str(), 1.0));
    let forms = query.forms[word].iter().map(|form| (form.as_str(), FORM_WEIGHT));
    let occurring = typed.chain(forms).filter(|(word, _)| lexicon.document_frequency(word) > 0);
    clause.variants.extend(occurring.map(|(word, weight)| Variant { word, weight }));
    (!clause.variants.is_empty()).then_some(clause)
}

fn corrected<'a>(search: &Search<'a>, word: usize, candidate: SimilarWord<'a>) -> Clause<'a> {
    let lexicon = &search.snapshot.lexicon;
    let forms = text::forms(candidate.word);
    let forms: Vec<&str> = forms.iter().filter_map(|form| lexicon.stored(form)).collect();
    let frequencies = forms.iter().map(|form| lexicon.document_frequency(form));
    let frequency = frequencies.fold(candidate.document_frequency, u32::saturating_add);
    let mut clause = Clause::new(word, search.snapshot.idf(frequency));
    clause.variants.push(Variant { word: candidate.word, weight: CORRECTION_WEIGHT });
    let weight = CORRECTION_WEIGHT * FORM_WEIGHT;
    clause.variants.extend(forms.into_iter().map(|word| Variant { word, weight }));
    clause
}

/// Returns the words that a word may be corrected to, the most frequent first; if there are none, those for its other forms, and for
/// the word without an s at its end. None for a word in quotes.
fn candidates<'a>(search: &Search<'a>, word: usize) -> Vec<SimilarWord<'a>> {
    let query = search.query;
    if query.is_verbatim(word) {
        return Vec::new();
    }
    let near = candidates_near(search, &query.words[word]);
    if !near.is_empty() {
        return near;
    }
    let singular = query.words[word].strip_suffix('s').into_iter();
    let others = query.forms[word].iter().map(String::as_str).chain(singular);
    let mut found: Vec<SimilarWord<'a>> = Vec::new();
    for near in others.flat_map(|form| candidates_near(search, form)) {
        if !found.iter().any(|other| other.word == near.word) {
            found.push(near);
        }
    }
    found
}

fn candidates_near<'a>(search: &Search<'a>, word: &str) -> Vec<SimilarWord<'a>> {
    if is_short(word) || is_literal(word) {
        return Vec::new();
    }
    let snapshot = search.snapshot;
    let mut near = snapshot.lexicon.nearest(word, 1, MAX_CANDIDATES);
    near.retain(|found| found.word.chars().next() == word.chars().next() && !is_no_correction(found.word));
    near
}
