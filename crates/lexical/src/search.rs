//! One search: match tiers, from the exact to the approximate, tried in this order until there are enough results.
//!
//! 1. Exact: all words and phrases as they were typed, and every name that begins with what was typed, even within a word. A single
//!    word that ten projects contain is taken as a whole one.
//! 2. Forms: every word in some form, optional words or not. Like the first, these are full matches, and part of every search.
//! 3. Prefix: also words that begin with the last one, words joined and apart, if there are fewer than ten full matches or the last
//!    word is a single letter.
//! 4. Corrected: in place of each word that no project has the one that was most likely meant, if nothing matched so far, and in a
//!    restricted search nothing outside it does.
//! 5. Fuzzy: every word or one that is spelled almost like it, if nothing matched so far.
//! 6. Any: most of the words, of two the rarer, if nothing matched so far.
//!
//! Within the tiers documents are ordered by [bands](crate::ranking::band): names that begin with what was typed, names with all words
//! next to each other, others. From tier 4 on, and in the second, the order of the words in the name counts as much as the words.
//!
//! [`full`] has the first two tiers, [`prefix`] the third. [`expansion`] chooses the variants of words for tiers 4 to 6, [`cursor`]
//! continues a search on the next page, [`relaxation`] tells how results differ from the query, [`suggestion`] finds a query with full
//! matches, [`slugs`] suggests slugs, and [`beginning`] names.

mod beginning;
mod collectors;
mod correction;
pub(crate) mod cursor;
mod expansion;
mod full;
mod prefix;
pub(crate) mod relaxation;
pub(crate) mod slugs;
pub(crate) mod suggestion;

pub(crate) use beginning::summaries_by_beginning;

use std::borrow::Cow;
use std::hash::Hasher;

use crate::Collects;
use crate::fnv::Fnv;
use crate::index::snapshot::Snapshot;
use crate::matching::{Beginnings, Clause, ClauseRole, Scope, match_all, match_majority};
use crate::query::Query;
use crate::ranking::Rank;
use crate::ranking::bm25::{self, Bm25Weights, LengthNorms};
use crate::ranking::top_k::{Collected, PageStart, RankedDocument, TopK};
use collectors::ApproximateCollector;
use cursor::CursorState;
use full::FullMatches;

/// With this many full matches no other tier is tried.
const ENOUGH_MATCHES: u64 = 10;

/// The weight of a word's forms beside the word as it was typed.
const FORM_WEIGHT: f32 = 0.9;

/// A stage of a search; each finds more than the one before, and less exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchTier {
    /// All words in some form, and names that begin with what was typed.
    Full = 0,
    /// The same, and a longer word in place of the last one.
    Prefix = 1,
    /// Every word, or the one that was most likely meant.
    Corrected = 2,
    /// Every word, or one that is spelled almost like it.
    Fuzzy = 3,
    /// Most of the words, or ones that are spelled almost like them.
    Any = 4,
}

impl MatchTier {
    fn from_code(code: u8) -> Option<MatchTier> {
        [MatchTier::Full, MatchTier::Prefix, MatchTier::Corrected, MatchTier::Fuzzy, MatchTier::Any]
            .into_iter()
            .find(|tier| *tier as u8 == code)
    }
}

/// One page of results.
pub(crate) struct ResultPage {
    pub(crate) documents: Vec<RankedDocument>,
    /// The number of results on all pages.
    pub(crate) total: u64,
    /// The number of full matches on all pages; 0 if the last word is a single letter.
    pub(crate) full: u64,
    /// Whether more results follow the page.
    pub(crate) has_more: bool,
    /// What the search collects of the results of all pages.
    pub(crate) collected: Collected,
    /// What the next page needs.
    pub(crate) state: CursorState,
}

/// One query to one snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) query: &'a Query,
    pub(crate) scope: Scope<'a>,
    /// What a page has of the results of all pages.
    pub(crate) collects: Collects,
    /// Whether only what has every word in some form is a result: no name that goes on with the last word, and nothing relaxed.
    pub(crate) is_strict: bool,
}

impl<'a> Search<'a> {
    /// Returns the first page of at most `limit` results, of as many tiers as it takes.
    pub(crate) fn first_page(&self, limit: usize) -> tantivy::Result<ResultPage> {
        let mut top_k = TopK::new(limit, PageStart::First).collecting(self.collects);
        let length_norms = &*self.snapshot.length_norms;
        let mut state = CursorState { tier: MatchTier::Full, weights: self.weights(), variants: 0 };
        let mut beginnings = Beginnings::open(self.snapshot, self.query)?;
        if self.is_strict || !beginnings.is_empty() && self.is_enough_as_it_stands()? {
            beginnings.keep_whole_words();
        }
        let scope = (length_norms, &state.weights);
        let full = self.full_tiers(scope, &beginnings, ENOUGH_MATCHES as usize, &mut top_k)?;
        if !self.is_strict && full.count < ENOUGH_MATCHES && self.query.last_is_prefix {
            let clauses = self.prefix_clauses(&state.weights, None);
            if let Some(completed) = clauses.last() {
                state.weights.push(completed.idf);
            }
            state.tier = MatchTier::Prefix;
            state.variants = self.unknown_words();
            let scope = (length_norms, &state.weights);
            self.prefix_tier(&clauses, scope, (&full, &beginnings), state.variants, &mut top_k)?;
        }
        if !self.is_strict && top_k.total == 0 && self.count_outside()? == 0 {
            state = self.approximate_tiers(length_norms, &mut top_k)?;
        }
        Ok(result_page(top_k, full.count, state))
    }

    /// Returns the page after the result of rank `last`. `None` if other variants would be searched for than on the page before: the
    /// two lists cannot be joined.
    pub(crate) fn next_page(
        &self,
        limit: usize,
        state: &CursorState,
        last: Rank,
    ) -> tantivy::Result<Option<ResultPage>> {
        let mut top_k = TopK::new(limit, PageStart::After(last)).collecting(self.collects);
        let weights = &state.weights;
        let length_norms = match weights.mean_length == self.snapshot.mean_length {
            true => Cow::Borrowed(&*self.snapshot.length_norms),
            false => Cow::Owned(*bm25::length_norms(weights.mean_length)),
        };
        let scope = (&*length_norms, weights);
        let mut full = FullMatches::default();
        match state.tier {
            MatchTier::Full | MatchTier::Prefix => {
                let mut beginnings = Beginnings::open(self.snapshot, self.query)?;
                if self.is_strict || state.tier == MatchTier::Full && self.query.is_one_whole_word() {
                    beginnings.keep_whole_words();
                }
                let max_listed = if state.tier == MatchTier::Full { 0 } else { usize::MAX };
                full = self.full_tiers(scope, &beginnings, max_listed, &mut top_k)?;
                if state.tier == MatchTier::Prefix {
                    let clauses = self.prefix_clauses(weights, weights.idfs().last().copied());
                    self.prefix_tier(&clauses, scope, (&full, &beginnings), state.variants, &mut top_k)?;
                }
            }
            MatchTier::Corrected | MatchTier::Fuzzy | MatchTier::Any => {
                let clauses = self.approximate_clauses(state.tier, Some(weights))?;
                if fingerprint(&clauses) != state.variants {
                    return Ok(None);
                }
                self.approximate_tier(state.tier, &clauses, &length_norms, &mut top_k)?;
            }
        }
        Ok(Some(result_page(top_k, full.count, *state)))
    }

    /// Returns the idf of each word: that of all its forms together.
    fn weights(&self) -> Bm25Weights {
        let mut weights = Bm25Weights::new(self.snapshot.mean_length);
        for word in 0..self.query.words.len() {
            weights.push(self.snapshot.idf(self.frequency(word)));
        }
        weights
    }

    /// Returns the sum of the document frequencies of a word of the query and its forms.
    fn frequency(&self, word: usize) -> u32 {
        let lexicon = &self.snapshot.lexicon;
        let forms = self.query.forms[word].iter().map(|form| lexicon.document_frequency(form));
        forms.fold(lexicon.document_frequency(&self.query.words[word]), u32::saturating_add)
    }

    /// Returns whether the query is a single word with enough full matches: it is most likely a whole one. (Of several words the last
    /// may well be unfinished even so, since short ones are often words themselves.)
    fn is_enough_as_it_stands(&self) -> tantivy::Result<bool> {
        if !self.query.is_one_whole_word() || u64::from(self.frequency(0)) < ENOUGH_MATCHES {
            return Ok(false);
        }
        let is_restricted = self.scope.category.is_some() || self.scope.allowed.is_some();
        let own_frequency = self.snapshot.lexicon.document_frequency(&self.query.words[0]);
        Ok(!is_restricted && u64::from(own_frequency) >= ENOUGH_MATCHES
            || self.count_full()? >= ENOUGH_MATCHES)
    }

    /// Returns how many projects outside the scope match in full, if none in it does: then the words are known, and none is corrected.
    fn count_outside(&self) -> tantivy::Result<u64> {
        let is_restricted = self.scope.category.is_some() || self.scope.allowed.is_some();
        if is_restricted { Search { scope: Scope::default(), ..*self }.count_full() } else { Ok(0) }
    }

    /// Tries the tiers that correct words, one after the other. Returns what the next page needs.
    fn approximate_tiers(
        &self,
        length_norms: &LengthNorms,
        top_k: &mut TopK,
    ) -> tantivy::Result<CursorState> {
        let (mut tier, mut clauses) = (MatchTier::Corrected, Vec::new());
        for next in [MatchTier::Corrected, MatchTier::Fuzzy, MatchTier::Any] {
            (tier, clauses) = (next, self.approximate_clauses(next, None)?);
            self.approximate_tier(tier, &clauses, length_norms, top_k)?;
            if top_k.total > 0 {
                break;
            }
        }
        let mut weights = Bm25Weights::new(self.snapshot.mean_length);
        let mut clauses_left = clauses.iter().peekable();
        for word in 0..self.query.words.len() {
            // A word without a clause has no weight, but its place.
            let clause = clauses_left.next_if(|clause| clause.word == word);
            weights.push(clause.map_or_else(|| self.snapshot.idf(self.frequency(word)), |clause| clause.idf));
        }
        Ok(CursorState { tier, weights, variants: fingerprint(&clauses) })
    }

    /// Returns the clauses of one of the tiers that correct words; none if it does not apply. `weights` are those of the page before.
    fn approximate_clauses(
        &self,
        tier: MatchTier,
        weights: Option<&Bm25Weights>,
    ) -> tantivy::Result<Vec<Clause<'a>>> {
        match tier {
            MatchTier::Corrected => correction::clauses(self, weights),
            _ => Ok(expansion::clauses(self.snapshot, self.query, tier, weights)),
        }
    }

    /// Ranks what contains a variant of every clause, or in the last tier of most of the significant ones.
    fn approximate_tier(
        &self,
        tier: MatchTier,
        clauses: &[Clause<'_>],
        length_norms: &LengthNorms,
        top_k: &mut TopK,
    ) -> tantivy::Result<()> {
        if !clauses.iter().any(|clause| clause.role.is_significant) {
            return Ok(());
        }
        let runs = self.query.character_runs();
        let (phrases, scope) = ((&self.query.words[..], &runs[..]), (self.scope, length_norms));
        let mut collector = ApproximateCollector { top_k, clauses };
        match tier {
            MatchTier::Any => match_majority(self.snapshot, clauses, phrases, scope, &mut collector),
            _ => match_all(self.snapshot, clauses, phrases, scope, &mut collector),
        }
    }
}

/// Returns a hash of the variants (of completions, what they are chosen by), their weights and the roles of the clauses.
fn fingerprint(clauses: &[Clause<'_>]) -> u64 {
    let mut hash = Fnv::default();
    for clause in clauses {
        hash.write_u64(clause.word as u64);
        for variant in &clause.variants {
            hash.write(variant.word.as_bytes());
            hash.write(&[0]);
            hash.write(&variant.weight.to_bits().to_be_bytes());
        }
        if let Some(completion) = &clause.completion {
            for word in std::iter::once(&completion.prefix).chain(&completion.except) {
                hash.write(word.as_bytes());
                hash.write(&[1]);
            }
        }
        let ClauseRole { is_significant, is_required } = clause.role;
        hash.write(&[u8::from(is_significant), u8::from(is_required)]);
    }
    hash.finish()
}

fn result_page(mut top_k: TopK, full: u64, state: CursorState) -> ResultPage {
    let (total, collected) = (top_k.total, std::mem::replace(&mut top_k.collected, Collected::Nothing));
    let (documents, has_more) = top_k.finish();
    ResultPage { documents, total, full, has_more, collected, state }
}
