//! One search: match tiers, from the exact to the approximate, tried in this order until there are enough results.
//!
//! 1. Exact: all words and phrases as they were typed, and every name that begins with what was typed, even within a word. A single
//!    word that ten projects contain is taken as a whole one.
//! 2. Prefix: also words that begin with the last one, if there are fewer than ten exact matches or the last word is a single letter.
//! 3. Fuzzy: every word or one that is spelled almost like it, if nothing matched so far.
//! 4. Any: most of the words, if nothing matched so far.
//!
//! Within the tiers documents are ordered by [bands](crate::ranking::band): names that begin with what was typed, names with all words
//! next to each other, others. In tiers 3 and 4 the order of the words in the name counts as much as the words themselves.
//!
//! [`expansion`] chooses the variants of words for tiers 3 and 4, [`cursor`] continues a search on the next page, [`relaxation`] tells
//! how results differ from the query, [`suggestion`] finds a query with exact matches, [`slugs`] suggests slugs, and [`beginning`] names.

mod beginning;
pub(crate) mod cursor;
mod expansion;
pub(crate) mod relaxation;
pub(crate) mod slugs;
pub(crate) mod suggestion;

pub(crate) use beginning::summaries_by_beginning;

use std::borrow::Cow;
use std::hash::Hasher;

use tantivy::DocId;

use crate::MAX_PAGE_SIZE;
use crate::fnv::Fnv;
use crate::index::snapshot::Snapshot;
use crate::matching::{BeginningCounts, Beginnings, band_in_name, match_beginnings, order_in_name};
use crate::matching::{Clause, ClauseRole, Collector, Completion, CompletionWeight, DocumentSet};
use crate::matching::{MatchBatch, MatchBuffer};
use crate::matching::{Scope, Variant, match_all, match_exact, match_majority};
use crate::query::Query;
use crate::ranking::Rank;
use crate::ranking::band::MatchBand;
use crate::ranking::bm25::{self, Bm25Weights, LengthNorms};
use crate::ranking::top_k::{PageStart, RankedDocument, TopK};
use cursor::CursorState;

/// With this many exact matches no other tier is tried.
const ENOUGH_MATCHES: u64 = 10;

/// A stage of a search; each finds more than the one before, and less exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchTier {
    /// All words and phrases as they were typed, and names that begin with what was typed.
    Exact = 0,
    /// The same, and a longer word in place of the last one.
    Prefix = 1,
    /// Every word, or one that is spelled almost like it.
    Fuzzy = 2,
    /// Most of the words, or ones that are spelled almost like them.
    Any = 3,
}

impl MatchTier {
    fn from_code(code: u8) -> Option<MatchTier> {
        [MatchTier::Exact, MatchTier::Prefix, MatchTier::Fuzzy, MatchTier::Any]
            .into_iter()
            .find(|tier| *tier as u8 == code)
    }
}

/// One page of results.
pub(crate) struct ResultPage {
    pub(crate) documents: Vec<RankedDocument>,
    /// The number of results on all pages.
    pub(crate) total: u64,
    /// The number of exact results on all pages; 0 if the last word is a single letter.
    pub(crate) exact: u64,
    /// Whether more results follow the page.
    pub(crate) has_more: bool,
    /// The ordinal and the score of the results of all pages, if the search collects them.
    pub(crate) matches: Vec<(u64, f32)>,
    /// What the next page needs.
    pub(crate) state: CursorState,
}

/// One query to one snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) query: &'a Query,
    pub(crate) scope: Scope<'a>,
    /// Whether a page lists the results of all pages.
    pub(crate) collects_matches: bool,
}

impl<'a> Search<'a> {
    /// Returns the first page of at most `limit` results, of as many tiers as it takes.
    pub(crate) fn first_page(&self, limit: usize) -> tantivy::Result<ResultPage> {
        let mut top_k = TopK::new(limit, PageStart::First).collecting(self.collects_matches);
        let (length_norms, mut weights) =
            (&*self.snapshot.length_norms, Bm25Weights::new(self.snapshot.mean_length));
        let mut all_words_occur = !self.query.words.is_empty();
        for word in &self.query.words {
            let document_frequency = self.snapshot.lexicon.document_frequency(word);
            all_words_occur &= document_frequency > 0;
            weights.push(self.snapshot.idf(document_frequency));
        }
        let mut state = CursorState { tier: MatchTier::Exact, weights, variants: 0 };
        let mut beginnings = Beginnings::new(self.snapshot, self.query);
        if !beginnings.is_empty() && self.is_enough_as_it_stands()? {
            beginnings.keep_whole_words();
        }
        let begun = self.rank_beginnings(&beginnings, &mut top_k);
        let (mut exact, mut exact_matches) = (0, Vec::new());
        if all_words_occur && !self.query.ends_with_letter {
            let scope = (length_norms, &state.weights);
            let beginnings = (Some(&beginnings), self.collects_matches);
            exact_matches = self.exact_tier(scope, &mut top_k, beginnings, ENOUGH_MATCHES as usize)?;
            if !self.collects_matches {
                // Those with names that are ranked already were counted twice.
                top_k.total -= begun.exact;
            }
            exact = top_k.total - begun.all + begun.exact;
        }
        if exact < ENOUGH_MATCHES && self.query.last_is_prefix {
            let clauses = self.prefix_clauses(&state.weights, None);
            if let Some(completed) = clauses.last() {
                state.weights.push(completed.idf);
            }
            state.tier = MatchTier::Prefix;
            self.prefix_tier(&clauses, &exact_matches, &beginnings, length_norms, &mut top_k)?;
        }
        if top_k.total == 0 {
            state = self.fuzzy_or_any_tier(weights, length_norms, &mut top_k)?;
        }
        Ok(result_page(top_k, exact, state))
    }

    /// Returns the page after the result of rank `last`. `None` if other variants would be searched for than on the page before: the
    /// two lists cannot be joined.
    pub(crate) fn next_page(
        &self,
        limit: usize,
        state: &CursorState,
        last: Rank,
    ) -> tantivy::Result<Option<ResultPage>> {
        let mut top_k = TopK::new(limit, PageStart::After(last)).collecting(self.collects_matches);
        let weights = &state.weights;
        let length_norms = match weights.mean_length == self.snapshot.mean_length {
            true => Cow::Borrowed(&*self.snapshot.length_norms),
            false => Cow::Owned(*bm25::length_norms(weights.mean_length)),
        };
        let mut exact = 0;
        match state.tier {
            MatchTier::Exact | MatchTier::Prefix => {
                let mut beginnings = Beginnings::new(self.snapshot, self.query);
                if state.tier == MatchTier::Exact && self.query.is_one_whole_word() {
                    beginnings.keep_whole_words();
                }
                let begun = self.rank_beginnings(&beginnings, &mut top_k);
                let mut exact_matches = Vec::new();
                if !self.query.ends_with_letter {
                    let max_listed = if state.tier == MatchTier::Exact { 0 } else { usize::MAX };
                    let scope = (&*length_norms, weights);
                    exact_matches =
                        self.exact_tier(scope, &mut top_k, (Some(&beginnings), true), max_listed)?;
                    exact = top_k.total - begun.all + begun.exact;
                }
                if state.tier == MatchTier::Prefix {
                    let clauses = self.prefix_clauses(weights, weights.idfs().last().copied());
                    self.prefix_tier(&clauses, &exact_matches, &beginnings, &length_norms, &mut top_k)?;
                }
            }
            MatchTier::Fuzzy | MatchTier::Any => {
                let clauses = expansion::clauses(self.snapshot, self.query, state.tier, Some(weights));
                if fingerprint(&clauses) != state.variants {
                    return Ok(None);
                }
                match state.tier {
                    MatchTier::Fuzzy => self.fuzzy_tier(&clauses, &length_norms, &mut top_k)?,
                    _ => self.any_tier(&clauses, &length_norms, &mut top_k)?,
                }
            }
        }
        Ok(Some(result_page(top_k, exact, *state)))
    }

    /// Returns whether the query is a single word with enough exact matches: it is most likely a whole one. (Of several words the last
    /// may well be unfinished even so, since short ones are often words themselves.)
    fn is_enough_as_it_stands(&self) -> tantivy::Result<bool> {
        let Some(word) = self.query.words.first().filter(|_| self.query.is_one_whole_word()) else {
            return Ok(false);
        };
        if u64::from(self.snapshot.lexicon.document_frequency(word)) < ENOUGH_MATCHES {
            return Ok(false);
        }
        let is_restricted = self.scope.category.is_some() || self.scope.allowed.is_some();
        Ok(!is_restricted || self.count_exact()? >= ENOUGH_MATCHES)
    }

    /// Returns the number of documents that match exactly.
    pub(crate) fn count_exact(&self) -> tantivy::Result<u64> {
        let (mut top_k, mut weights) = (TopK::new(0, PageStart::First), Bm25Weights::new(1.0));
        self.query.words.iter().for_each(|_| weights.push(1.0));
        self.exact_tier((&self.snapshot.length_norms, &weights), &mut top_k, (None, false), 0)?;
        Ok(top_k.total)
    }

    /// Ranks the names that begin with what was typed and go on with the last word, and counts them.
    fn rank_beginnings(&self, beginnings: &Beginnings, top_k: &mut TopK) -> BeginningCounts {
        if beginnings.is_empty() {
            return BeginningCounts::default();
        }
        match_beginnings(self.snapshot, self.query, self.scope, beginnings, top_k)
    }

    /// Ranks all exact matches, but for names that are ranked already if `excludes`. Returns at most `max_listed` of them, which the next
    /// tier leaves out.
    fn exact_tier(
        &self,
        (length_norms, weights): (&LengthNorms, &Bm25Weights),
        top_k: &mut TopK,
        (beginnings, excludes): (Option<&Beginnings>, bool),
        max_listed: usize,
    ) -> tantivy::Result<Vec<(u32, DocId)>> {
        let excluded = beginnings.filter(|beginnings| excludes && !beginnings.is_empty());
        let mut collector = ExactCollector { top_k, excluded, max_listed, listed: Vec::new() };
        let weights = (length_norms, weights.idfs());
        match_exact(self.snapshot, self.query, (self.scope, beginnings), weights, &mut collector)?;
        Ok(collector.listed)
    }

    /// Ranks what contains all words but the last, and a completion of the last.
    fn prefix_tier(
        &self,
        clauses: &[Clause<'_>],
        exact_matches: &[(u32, DocId)],
        beginnings: &Beginnings,
        length_norms: &LengthNorms,
        top_k: &mut TopK,
    ) -> tantivy::Result<()> {
        if clauses.len() < self.query.words.len() {
            return Ok(());
        }
        let phrases = (&self.query.words[..], &self.query.phrases[..]);
        let mut collector = CompletedCollector { top_k, query: self.query, exact_matches, beginnings };
        match_all(self.snapshot, clauses, phrases, (self.scope, length_norms), &mut collector)
    }

    /// Returns a clause for each word but the last as it was typed, and one of the completions of the last: fewer than words if one
    /// of them does not occur. A single letter at the end is one of its completions, no better than the others.
    fn prefix_clauses(&self, weights: &Bm25Weights, completions_idf: Option<f32>) -> Vec<Clause<'a>> {
        let Some((last, finished)) = self.query.words.split_last() else { return Vec::new() };
        let lexicon = &self.snapshot.lexicon;
        let role = ClauseRole { is_significant: true, is_required: false };
        let mut clauses = Vec::with_capacity(self.query.words.len());
        for (word, &idf) in finished.iter().zip(weights.idfs()) {
            if lexicon.document_frequency(word) > 0 {
                let variants = vec![Variant { word, weight: 1.0 }];
                clauses.push(Clause { variants, completion: None, idf, role });
            }
        }
        let includes_prefix = self.query.ends_with_letter;
        let mut frequency = 0_u32;
        lexicon.for_each_with_prefix(last, |word, document_frequency| {
            if includes_prefix || word.len() > last.len() {
                frequency = frequency.saturating_add(document_frequency);
            }
        });
        if frequency > 0 {
            let weight =
                if includes_prefix { CompletionWeight::Fixed(1.0) } else { CompletionWeight::ByLength };
            let completion = Some(Completion { prefix: last, includes_prefix, except: Vec::new(), weight });
            let idf = completions_idf.unwrap_or_else(|| self.snapshot.idf(frequency));
            clauses.push(Clause { variants: Vec::new(), completion, idf, role });
        }
        clauses
    }

    /// Tries the fuzzy tier, then the any tier. Returns what the next page needs.
    fn fuzzy_or_any_tier(
        &self,
        weights: Bm25Weights,
        length_norms: &LengthNorms,
        top_k: &mut TopK,
    ) -> tantivy::Result<CursorState> {
        let mut tier = MatchTier::Fuzzy;
        let mut clauses = expansion::clauses(self.snapshot, self.query, tier, None);
        self.fuzzy_tier(&clauses, length_norms, top_k)?;
        if top_k.total == 0 {
            tier = MatchTier::Any;
            clauses = expansion::clauses(self.snapshot, self.query, tier, None);
            self.any_tier(&clauses, length_norms, top_k)?;
        }
        let mut weights = Bm25Weights::new(weights.mean_length);
        clauses.iter().for_each(|clause| weights.push(clause.idf));
        Ok(CursorState { tier, weights, variants: fingerprint(&clauses) })
    }

    /// Ranks what contains a variant of every word.
    fn fuzzy_tier(
        &self,
        clauses: &[Clause<'_>],
        length_norms: &LengthNorms,
        top_k: &mut TopK,
    ) -> tantivy::Result<()> {
        if !clauses.iter().any(|clause| clause.role.is_significant) {
            return Ok(());
        }
        let runs = self.query.character_runs();
        let (phrases, scope) = ((&self.query.words[..], &runs[..]), (self.scope, length_norms));
        match_all(self.snapshot, clauses, phrases, scope, &mut ApproximateCollector { top_k, clauses })
    }

    /// Ranks what contains a variant of most of the significant words.
    fn any_tier(
        &self,
        clauses: &[Clause<'_>],
        length_norms: &LengthNorms,
        top_k: &mut TopK,
    ) -> tantivy::Result<()> {
        let runs = self.query.character_runs();
        let (phrases, scope) = ((&self.query.words[..], &runs[..]), (self.scope, length_norms));
        match_majority(self.snapshot, clauses, phrases, scope, &mut ApproximateCollector { top_k, clauses })
    }
}

/// Returns a hash of the variants (of completions, what they are chosen by), their weights and the roles of the clauses.
fn fingerprint(clauses: &[Clause<'_>]) -> u64 {
    let mut hash = Fnv::default();
    for clause in clauses {
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

/// Ranks exact matches, and lists some of them.
struct ExactCollector<'t, 'e> {
    top_k: &'t mut TopK,
    /// Names that are ranked already. On a first page [`TopK`] drops them by itself.
    excluded: Option<&'e Beginnings>,
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

/// Ranks what contains a completion of the last word: names with all words next to each other before exact matches, others after them.
struct CompletedCollector<'t, 'e> {
    top_k: &'t mut TopK,
    query: &'e Query,
    /// Exact matches, which are ranked already: segment index and document, ascending.
    exact_matches: &'e [(u32, DocId)],
    /// Names that are ranked already.
    beginnings: &'e Beginnings,
}

impl Collector for CompletedCollector<'_, '_> {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        let MatchBatch { segment, segment_index: index, documents, .. } = batch;
        let has_begun = !self.beginnings.has_none_of(index, segment, documents);
        let is_exact = |document: DocId| self.exact_matches.binary_search(&(index, document)).is_ok();
        let has_exact = match (documents.first(), documents.last()) {
            (Some(first), Some(last)) => {
                let next = self.exact_matches.partition_point(|exact| *exact < (index, *first));
                self.exact_matches.get(next).is_some_and(|exact| *exact <= (index, *last))
            }
            _ => false,
        };
        let is_single = self.query.words.len() < 2;
        if is_single && !has_begun && !has_exact {
            batch.scores.iter_mut().for_each(|score| *score = approximate_score(*score));
            return self.top_k.collect(batch);
        }
        let mut others = MatchBuffer::new(segment, index as usize, self.top_k);
        for (&document, &score) in documents.iter().zip(batch.scores.iter()) {
            if has_exact && is_exact(document)
                || has_begun && self.beginnings.contains(index, segment, document)
            {
                continue;
            }
            // No band of this tier is above that.
            let matters = !is_single && others.threshold() <= MatchBand::InName.score(score);
            let names = segment.rows.names();
            let band = matters.then(|| band_in_name(self.query, names.of(document))).flatten();
            others.push(document, band.map_or_else(|| approximate_score(score), |band| band.score(score)));
        }
        others.flush();
    }

    fn only_counts(&self) -> bool {
        // A single word has no better score.
        self.query.words.len() < 2 && self.top_k.is_first_page() && self.top_k.threshold() > 0.5
    }

    fn count(&mut self, mut documents: DocumentSet<'_>) {
        let (index, segment) = (documents.segment_index, documents.segment);
        let exact = self.exact_matches.iter().filter(|(segment, _)| *segment == index);
        exact.for_each(|(_, document)| documents.remove(*document));
        self.beginnings.for_each(index, segment, |document| documents.remove(document));
        self.top_k.count(documents);
    }
}

/// Returns the score of a completed match that has its words anywhere: at most a half, since names that begin with what was typed have
/// more.
fn approximate_score(relevance: f32) -> f32 {
    0.5 * MatchBand::Approximate.score(relevance)
}

/// Ranks approximate matches: half of the score is their relevance, half the order of the words in the name.
struct ApproximateCollector<'t, 'c> {
    top_k: &'t mut TopK,
    clauses: &'c [Clause<'c>],
}

impl Collector for ApproximateCollector<'_, '_> {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        // The order of a single word says nothing.
        let threshold = if self.clauses.len() < 2 { f32::MAX } else { self.top_k.threshold() };
        for (&document, score) in batch.documents.iter().zip(batch.scores.iter_mut()) {
            let half = 0.5 * MatchBand::Approximate.score(*score);
            *score = half;
            if half + 0.5 >= threshold {
                *score += 0.5 * order_in_name(self.clauses, batch.segment.rows.names().of(document));
            }
        }
        self.top_k.collect(batch);
    }

    fn count(&mut self, documents: DocumentSet<'_>) {
        self.top_k.count(documents);
    }
}

impl Collector for TopK {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        if let Some(matches) = &mut self.matches {
            let ordinals = batch.documents.iter().map(|document| batch.segment.ordinal(*document));
            matches.extend(ordinals.zip(batch.scores.iter().copied()));
        }
        self.offer(batch.segment_index, batch.documents, batch.scores, |document| {
            batch.segment.rows.tie_breaker(document)
        });
    }

    fn threshold(&self) -> f32 {
        TopK::threshold(self)
    }

    fn count(&mut self, documents: DocumentSet<'_>) {
        self.total += documents.count();
    }
}

fn result_page(mut top_k: TopK, exact: u64, state: CursorState) -> ResultPage {
    let (total, matches) = (top_k.total, top_k.matches.take().unwrap_or_default());
    let (documents, has_more) = top_k.finish();
    ResultPage { documents, total, exact, has_more, matches, state }
}
