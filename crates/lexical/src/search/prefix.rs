//! The third tier: what was typed with a longer word in place of the last one, with two words joined, or with one apart.

use tantivy::DocId;
use text::is_stop_word;

use super::full::FullMatches;
use super::{FORM_WEIGHT, Search};
use crate::matching::{Beginnings, Clause, Collector, Completion, CompletionWeight, DocumentSet, MatchBatch};
use crate::matching::{MatchBuffer, PhraseVariant, Variant, band_in_name, match_all};
use crate::ranking::band::MatchBand;
use crate::ranking::bm25::{Bm25Weights, LengthNorms};
use crate::ranking::top_k::TopK;

/// The shortest word, in characters, that may be two, and the shortest part of one.
const MIN_LENGTH_APART: usize = 6;
const MIN_LENGTH_PART: usize = 3;

/// Another way in which some of the words may have been meant.
pub(super) struct Respelling<'a> {
    /// The index of the first of the words, and how many they are.
    pub(super) first: usize,
    pub(super) count: usize,
    /// What stands in their place.
    pub(super) clause: Clause<'a>,
}

impl<'a> Search<'a> {
    /// Ranks what contains all words but the last, and a completion of the last; then what contains the words joined or apart.
    pub(super) fn prefix_tier(
        &self,
        completed: &[Clause<'_>],
        (length_norms, weights): (&LengthNorms, &Bm25Weights),
        (full, beginnings): (&FullMatches, &Beginnings<'_>),
        apart: u64,
        top_k: &mut TopK,
    ) -> tantivy::Result<()> {
        let joined = self.joined_words();
        let respellings = self.respellings(&joined, weights, apart);
        let words = &self.query.words[..];
        let mut seen = (!respellings.is_empty()).then(|| Seen::new(self));
        let scope = (self.scope, length_norms);
        if !completed.is_empty() {
            let is_single = self.query.words.len() < 2;
            let collector =
                CompletedCollector { top_k, search: self, full, beginnings, is_single, seen: seen.as_mut() };
            let mut collector = collector;
            match_all(self.snapshot, completed, (words, self.query.strict_phrases()), scope, &mut collector)?;
        }
        for respelling in respellings {
            let Some(clauses) = self.respelled(respelling, weights) else { continue };
            let mut collector = CompletedCollector {
                top_k,
                search: self,
                full,
                beginnings,
                is_single: true,
                seen: seen.as_mut(),
            };
            match_all(self.snapshot, &clauses, (words, self.query.strict_phrases()), scope, &mut collector)?;
        }
        Ok(())
    }

    /// Returns a clause for each finished word in any form, and one of the completions of the last: none if one of them does not occur.
    /// A single letter at the end is one of its completions, no better than the others.
    pub(super) fn prefix_clauses(
        &self,
        weights: &Bm25Weights,
        completions_idf: Option<f32>,
    ) -> Vec<Clause<'a>> {
        let (query, lexicon) = (self.query, &self.snapshot.lexicon);
        let Some(last) = query.words.len().checked_sub(1) else { return Vec::new() };
        let mut clauses = Vec::with_capacity(query.words.len());
        for word in query.required_words().filter(|word| *word != last) {
            let Some(clause) = self.word_clause(word, weights) else { return Vec::new() };
            clauses.push(clause);
        }
        let (prefix, includes_prefix) = (query.words[last].as_str(), query.ends_with_letter);
        let mut frequency = 0_u32;
        lexicon.for_each_with_prefix(prefix, |word, document_frequency| {
            if includes_prefix || word.len() > prefix.len() {
                frequency = frequency.saturating_add(document_frequency);
            }
        });
        if frequency == 0 {
            return Vec::new();
        }
        let weight = if includes_prefix { CompletionWeight::Fixed(1.0) } else { CompletionWeight::ByLength };
        let mut clause = Clause::new(last, completions_idf.unwrap_or_else(|| self.snapshot.idf(frequency)));
        clause.completion = Some(Completion { prefix, includes_prefix, except: Vec::new(), weight });
        clauses.push(clause);
        clauses
    }

    /// Returns a clause of a word in any form; `None` if it does not occur.
    fn word_clause(&self, word: usize, weights: &Bm25Weights) -> Option<Clause<'a>> {
        let occurs = |word: &str| self.snapshot.lexicon.document_frequency(word) > 0;
        let mut clause = Clause::new(word, *weights.idfs().get(word)?);
        let typed = self.query.words[word].as_str();
        clause.variants.extend(occurs(typed).then_some(Variant { word: typed, weight: 1.0 }));
        let forms = self.query.forms[word].iter().filter(|form| occurs(form));
        clause.variants.extend(forms.map(|form| Variant { word: form, weight: FORM_WEIGHT }));
        (!clause.variants.is_empty()).then_some(clause)
    }

    /// Returns each pair of neighbouring words joined, and its forms, with the index of the first.
    pub(super) fn joined_words(&self) -> Vec<(usize, Vec<&'a str>)> {
        let query = self.query;
        if query.ends_with_letter {
            return Vec::new();
        }
        let mut joined = Vec::new();
        for first in 1..query.words.len() {
            let first = first - 1;
            if query.may_respell(first) && query.may_respell(first + 1) {
                let word = format!("{}{}", query.words[first], query.words[first + 1]);
                let mut forms = text::forms(&word);
                forms.insert(0, word);
                let stored = forms.iter().filter_map(|form| self.snapshot.lexicon.stored(form));
                joined.push((first, stored.collect::<Vec<&str>>()));
            }
        }
        joined.retain(|(_, forms)| !forms.is_empty());
        joined
    }

    /// Returns the words that no project has in any form, a bit each: these may be two.
    pub(super) fn unknown_words(&self) -> u64 {
        (0..self.query.words.len())
            .filter(|word| self.frequency(*word) == 0)
            .fold(0, |bits, word| bits | 1 << word)
    }

    /// Returns the neighbouring words joined, then each of the words `apart` (a bit each) as two, where that occurs.
    pub(super) fn respellings(
        &self,
        joined: &[(usize, Vec<&'a str>)],
        weights: &Bm25Weights,
        apart: u64,
    ) -> Vec<Respelling<'a>> {
        let (query, idfs) = (self.query, weights.idfs());
        let mut respellings = Vec::new();
        for (first, forms) in joined {
            let (first, idf) = (*first, idfs[*first].max(idfs[*first + 1]));
            let variants = forms.iter().map(|word| Variant { word, weight: 1.0 }).collect();
            let clause = Clause { variants, ..Clause::new(first, idf) };
            respellings.push(Respelling { first, count: 2, clause });
        }
        for (first, idf) in idfs.iter().enumerate().take(query.words.len()) {
            if apart >> first & 1 == 1 && query.may_respell(first) && !query.ends_with_letter {
                let phrases: Vec<PhraseVariant<'a>> = self.apart(&query.words[first]).collect();
                if !phrases.is_empty() {
                    let clause = Clause { phrases, ..Clause::new(first, *idf) };
                    respellings.push(Respelling { first, count: 1, clause });
                }
            }
        }
        respellings
    }

    /// Returns the ways in which a word is two that occur.
    fn apart(&self, word: &'a str) -> impl Iterator<Item = PhraseVariant<'a>> {
        let length = word.chars().count();
        let last = if length < MIN_LENGTH_APART { 0 } else { length - MIN_LENGTH_PART };
        let occurs = |part: &str| !is_stop_word(part) && self.snapshot.lexicon.document_frequency(part) > 0;
        (MIN_LENGTH_PART..=last).filter_map(move |at| {
            let (at, _) = word.char_indices().nth(at)?;
            let (start, end) = word.split_at(at);
            let words = vec![(start, 0), (end, 1)];
            (occurs(start) && occurs(end)).then_some(PhraseVariant { words, weight: 1.0 })
        })
    }

    /// Returns the clauses of the query with another spelling; `None` if one of the other words does not occur. The last word may go on.
    fn respelled(&self, respelling: Respelling<'a>, weights: &Bm25Weights) -> Option<Vec<Clause<'a>>> {
        let query = self.query;
        let Respelling { first, count, clause } = respelling;
        let mut changed = Some(clause);
        let mut clauses = Vec::with_capacity(query.words.len());
        for word in query.required_words() {
            if word == first {
                clauses.extend(changed.take());
            }
            if (first..first + count).contains(&word) {
                continue;
            }
            let mut clause = self.word_clause(word, weights);
            if word + 1 == query.words.len() && query.last_is_prefix {
                let prefix = query.words[word].as_str();
                let weight = CompletionWeight::ByLength;
                let completion = Completion { prefix, includes_prefix: false, except: Vec::new(), weight };
                let clause = clause.get_or_insert(Clause::new(word, weights.idfs()[word]));
                clause.completion = Some(completion);
            }
            clauses.push(clause?);
        }
        Some(clauses)
    }
}

/// The documents that the tier has collected.
struct Seen {
    /// For each segment a bit for each document.
    segments: Vec<Vec<u64>>,
}

impl Seen {
    fn new(search: &Search<'_>) -> Seen {
        let blocks = |documents: DocId| vec![0; documents.div_ceil(64) as usize];
        Seen { segments: search.snapshot.segments.iter().map(|segment| blocks(segment.max_doc())).collect() }
    }

    /// Adds a document; returns whether it is new.
    fn insert(&mut self, segment: u32, document: DocId) -> bool {
        let block = &mut self.segments[segment as usize][document as usize / 64];
        let bit = 1 << (document % 64);
        let is_new = *block & bit == 0;
        *block |= bit;
        is_new
    }
}

/// Ranks what contains a completion of the last word: names with all words next to each other before full matches, others after them.
struct CompletedCollector<'t, 'e> {
    top_k: &'t mut TopK,
    search: &'e Search<'e>,
    /// Full matches, which are ranked already.
    full: &'e FullMatches,
    /// Names that are ranked already.
    beginnings: &'e Beginnings<'e>,
    /// Whether the words are not compared with names: a single word has no better score.
    is_single: bool,
    /// What is collected so far, if it may come again.
    seen: Option<&'e mut Seen>,
}

impl Collector for CompletedCollector<'_, '_> {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        let MatchBatch { segment, segment_index: index, documents, .. } = batch;
        let has_begun = !self.beginnings.has_none_of(index, segment, documents);
        let listed = &self.full.listed;
        let is_full = |document: DocId| listed.binary_search(&(index, document)).is_ok();
        let has_full = match (documents.first(), documents.last()) {
            (Some(first), Some(last)) => {
                let next = listed.partition_point(|full| *full < (index, *first));
                listed.get(next).is_some_and(|full| *full <= (index, *last))
            }
            _ => false,
        };
        if self.is_single && !has_begun && !has_full && self.seen.is_none() {
            batch.scores.iter_mut().for_each(|score| *score = approximate_score(*score));
            return self.top_k.collect(batch);
        }
        let mut others = MatchBuffer::new(segment, index as usize, self.top_k);
        for (&document, &score) in documents.iter().zip(batch.scores.iter()) {
            if has_full && is_full(document)
                || has_begun && self.beginnings.contains(index, segment, document)
                || self.seen.as_mut().is_some_and(|seen| !seen.insert(index, document))
            {
                continue;
            }
            // No band of this tier is above that.
            let matters = !self.is_single && others.threshold() <= MatchBand::InName.score(score);
            let names = segment.rows.names();
            let band = matters.then(|| band_in_name(self.search.query, names.of(document))).flatten();
            others.push(document, band.map_or_else(|| approximate_score(score), |band| band.score(score)));
        }
        others.flush();
    }

    fn only_counts(&self) -> bool {
        self.is_single && self.seen.is_none() && self.top_k.is_first_page() && self.top_k.threshold() > 0.5
    }

    fn count(&mut self, mut documents: DocumentSet<'_>) {
        let (index, segment) = (documents.segment_index, documents.segment);
        let full = self.full.listed.iter().filter(|(segment, _)| *segment == index);
        full.for_each(|(_, document)| documents.remove(*document));
        self.beginnings.for_each(index, segment, |document| documents.remove(document));
        self.top_k.count(documents);
    }
}

/// Returns the score of a completed match that has its words anywhere: at most a half, since names that begin with what was typed have
/// more.
fn approximate_score(relevance: f32) -> f32 {
    0.5 * MatchBand::Approximate.score(relevance)
}
