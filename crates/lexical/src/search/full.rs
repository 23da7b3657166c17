//! The first two tiers: what was typed, exactly or in other forms. All of these are full matches.

use tantivy::DocId;

use super::{FORM_WEIGHT, Search};
use crate::MAX_PAGE_SIZE;
use crate::matching::order_in_name;
use crate::matching::{BeginningCounts, Beginnings, Clause, Collector, DocumentSet, MatchBatch, MatchBuffer};
use crate::matching::{PhraseVariant, Variant, count_full, match_beginnings, match_exact, match_forms};
use crate::query::Term;
use crate::ranking::band::MatchBand;
use crate::ranking::bm25::{Bm25Weights, LengthNorms};
use crate::ranking::top_k::TopK;

/// The greatest score of the band of other forms: below that of exact matches.
const MAX_FORMS_SCORE: f32 = 2.0 - f32::EPSILON;

/// The full matches of a search.
#[derive(Default)]
pub(super) struct FullMatches {
    /// Segment index and document, ascending; not more than were asked for of each tier.
    pub(super) listed: Vec<(u32, DocId)>,
    /// The number of all of them; 0 if the last word is a single letter.
    pub(super) count: u64,
}

impl<'a> Search<'a> {
    /// Ranks names that begin with what was typed, then all full matches. Lists at most `max_listed` of each tier, which the next tier
    /// leaves out.
    pub(super) fn full_tiers(
        &self,
        (length_norms, weights): (&LengthNorms, &Bm25Weights),
        beginnings: &Beginnings<'_>,
        max_listed: usize,
        top_k: &mut TopK,
    ) -> tantivy::Result<FullMatches> {
        let before = top_k.total;
        let begun = self.rank_beginnings(beginnings, top_k);
        if self.query.ends_with_letter && !self.is_strict {
            return Ok(FullMatches::default());
        }
        // On a first page [`TopK`] drops names that are ranked already by itself.
        let excludes = !top_k.is_first_page();
        let excluded = Some(beginnings).filter(|beginnings| excludes && !beginnings.is_empty());
        let with_names = top_k.total;
        let mut exact = ExactCollector { top_k, excluded, max_listed, listed: Vec::new() };
        let idfs = (length_norms, weights.idfs());
        match_exact(self.snapshot, self.query, (self.scope, Some(beginnings)), idfs, &mut exact)?;
        let mut listed = exact.listed;
        if !excludes {
            // Those with names that are ranked already were counted twice.
            top_k.total -= begun.exact;
        }
        // Without those that have such a name.
        let exact_count = top_k.total - with_names;
        if let Some(clauses) = self.forms_clauses(weights) {
            let only_counts = exact_count + begun.exact >= super::ENOUGH_MATCHES
                && top_k.is_first_page()
                && top_k.threshold() >= f32::from(MatchBand::Words as u8);
            let mut forms = FormsCollector {
                top_k,
                clauses: &clauses,
                beginnings,
                max_listed,
                listed: &mut listed,
                only_counts,
                counted: 0,
            };
            let scope = (self.scope, length_norms);
            match_forms(self.snapshot, self.query, &clauses, scope, &mut forms)?;
            let counted = forms.counted;
            if only_counts && counted > 0 {
                top_k.total += counted - exact_count;
            }
            listed.sort_unstable();
        }
        Ok(FullMatches { listed, count: top_k.total - before - begun.all + begun.full })
    }

    /// Ranks the names that begin with what was typed and go on with the last word, and counts them.
    fn rank_beginnings(&self, beginnings: &Beginnings<'_>, top_k: &mut TopK) -> BeginningCounts {
        if beginnings.is_empty() {
            return BeginningCounts::default();
        }
        match_beginnings(self.snapshot, self.query, self.scope, beginnings, top_k)
    }

    /// Returns the number of full matches.
    pub(crate) fn count_full(&self) -> tantivy::Result<u64> {
        let Some(clauses) = self.full_clauses(&self.weights()) else { return Ok(0) };
        count_full(self.snapshot, self.query, &clauses, self.scope)
    }

    /// Returns a clause for each term of the query; `None` if nothing matches other than what is exact.
    fn forms_clauses(&self, weights: &Bm25Weights) -> Option<Vec<Clause<'a>>> {
        let clauses = self.full_clauses(weights)?;
        let is_exact = |clause: &Clause<'_>| clause.variants.len() + clause.phrases.len() == 1;
        let all_are_exact =
            clauses.iter().zip(&self.query.terms).all(|(clause, term)| match term.only_word() {
                Some(word) => is_exact(clause) && clause.variants[0].word == self.query.words[word],
                None => is_exact(clause) && !clause.phrases.is_empty(),
            });
        let has_optional = (0..self.query.words.len()).any(|word| !self.query.is_required(word));
        (has_optional || !all_are_exact).then_some(clauses)
    }

    /// Returns a clause for each term of the query, with the forms that occur; `None` if one of them has none, or there are no terms.
    fn full_clauses(&self, weights: &Bm25Weights) -> Option<Vec<Clause<'a>>> {
        let clauses: Option<Vec<Clause<'a>>> =
            self.query.terms.iter().map(|term| self.term_clause(term, weights.idfs())).collect();
        clauses.filter(|clauses| !clauses.is_empty())
    }

    fn term_clause(&self, term: &'a Term, idfs: &[f32]) -> Option<Clause<'a>> {
        let query = self.query;
        let lexicon = &self.snapshot.lexicon;
        let occurs = |word: &str| lexicon.document_frequency(word) > 0;
        let (first, _) = *term.words.first()?;
        let idf = term.words.iter().filter_map(|(word, _)| idfs.get(*word)).sum();
        let mut clause = Clause::new(first, idf);
        let others = match term.only_word() {
            Some(word) => {
                let word = query.words[word].as_str();
                clause.variants.extend(occurs(word).then_some(Variant { word, weight: 1.0 }));
                &query.forms[first]
            }
            None => {
                let words = term.words.iter().map(|&(word, offset)| (query.words[word].as_str(), offset));
                let words: Vec<(&str, u32)> = words.collect();
                if words.iter().all(|(word, _)| occurs(word)) {
                    clause.phrases.push(PhraseVariant { words, weight: 1.0 });
                }
                &term.joined
            }
        };
        let others = others.iter().filter(|form| occurs(form));
        clause.variants.extend(others.map(|form| Variant { word: form, weight: FORM_WEIGHT }));
        (!clause.variants.is_empty() || !clause.phrases.is_empty()).then_some(clause)
    }
}

/// Ranks exact matches, and lists some of them.
struct ExactCollector<'t, 'e> {
    top_k: &'t mut TopK,
    /// Names that are ranked already. On a first page [`TopK`] drops them by itself.
    excluded: Option<&'e Beginnings<'e>>,
    max_listed: usize,
    /// Segment index and document, ascending.
    listed: Vec<(u32, DocId)>,
}

impl Collector for ExactCollector<'_, '_> {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        let room = self.max_listed.saturating_sub(self.listed.len());
        self.listed
            .extend(batch.documents.iter().take(room).map(|&document| (batch.segment_index, document)));
        let MatchBatch { segment, segment_index, documents, .. } = batch;
        let excluded =
            self.excluded.filter(|excluded| !excluded.has_none_of(segment_index, segment, documents));
        let Some(excluded) = excluded else { return self.top_k.collect(batch) };
        let mut others = MatchBuffer::new(batch.segment, batch.segment_index as usize, self.top_k);
        for (&document, &score) in batch.documents.iter().zip(batch.scores.iter()) {
            if !excluded.contains(batch.segment_index, batch.segment, document) {
                others.push(document, score);
            }
        }
        others.flush();
    }

    fn threshold(&self) -> f32 {
        self.top_k.threshold()
    }

    fn counts_a_full_page(&self) -> bool {
        self.excluded.is_none() && self.max_listed <= MAX_PAGE_SIZE && self.top_k.is_first_page()
    }

    fn count(&mut self, documents: DocumentSet<'_>) {
        self.top_k.count(documents);
    }
}

/// Ranks matches in other forms, after exact ones: half of the score is their relevance, half the order of the words in the name.
struct FormsCollector<'t, 'c> {
    top_k: &'t mut TopK,
    clauses: &'c [Clause<'c>],
    /// Names that are ranked already.
    beginnings: &'c Beginnings<'c>,
    max_listed: usize,
    /// The full matches so far, and these.
    listed: &'c mut Vec<(u32, DocId)>,
    only_counts: bool,
    /// The number of all that match in some form but for those names, if it only counts.
    counted: u64,
}

impl Collector for FormsCollector<'_, '_> {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        let MatchBatch { segment, segment_index, documents, scores } = batch;
        let has_begun = !self.beginnings.has_none_of(segment_index, segment, documents);
        let mut matches = MatchBuffer::new(segment, segment_index as usize, self.top_k);
        for (&document, &relevance) in documents.iter().zip(scores.iter()) {
            if has_begun && self.beginnings.contains(segment_index, segment, document) {
                continue;
            }
            if self.max_listed > 0 {
                self.max_listed -= 1;
                self.listed.push((segment_index, document));
            }
            let mut score = f32::from(MatchBand::Forms as u8) + 0.5 * MatchBand::Approximate.score(relevance);
            if score + 0.5 >= matches.threshold() {
                score += 0.5 * order_in_name(self.clauses, segment.rows.names().of(document));
            }
            matches.push(document, score.min(MAX_FORMS_SCORE));
        }
        matches.flush();
    }

    fn only_counts(&self) -> bool {
        self.only_counts
    }

    fn count(&mut self, mut documents: DocumentSet<'_>) {
        let (index, segment) = (documents.segment_index, documents.segment);
        self.beginnings.for_each(index, segment, |document| documents.remove(document));
        self.counted += documents.count();
        self.top_k.add_ordinals(&documents);
    }
}
