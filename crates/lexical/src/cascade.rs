//! The stages of a search, from the exact to the approximate. A later one is entered only where the earlier ones leave too little.

use std::borrow::Cow;
use std::hash::Hasher;

use tantivy::DocId;

use super::cursor::Mark;
use super::fnv::Fnv;
use super::forgiving;
use super::matching::{Clause, Collect, Found, Outlet, Standing, Variant};
use super::matching::{match_all, match_exactly, match_most};
use super::query::{MatchTier, Query};
use super::ranking::{BestOf, Place, Rank, Start};
use super::snapshot::{Damping, Snapshot, damping};
use super::weights::Weights;

/// With so many exact matches nobody needs to guess what else may be meant.
const ENOUGH: u64 = 10;
/// At most so many longer words stand for a beginning.
const MOST_COMPLETIONS: usize = 64;

/// What a search found.
pub(super) struct Outcome {
    pub(super) places: Vec<Place>,
    pub(super) total: u64,
    /// How many of them match exactly.
    pub(super) exact: u64,
    /// Whether more places follow.
    pub(super) more: bool,
    /// What a further page needs.
    pub(super) mark: Mark,
}

/// One search in one snapshot.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) query: &'a Query,
    pub(super) category: Option<&'a str>,
}

impl Search<'_> {
    /// The first page: goes as far as it must.
    pub(super) fn first(&self, limit: usize) -> tantivy::Result<Outcome> {
        let mut best = BestOf::new(limit, Start::First);
        let (damping, mut weights) = (&*self.snapshot.damping, Weights::new(self.snapshot.mean_length));
        let mut is_known = !self.query.words.is_empty();
        for word in &self.query.words {
            let count = self.snapshot.lexicon.count(word);
            is_known &= count > 0;
            weights.push(self.snapshot.rarity(count));
        }
        let mut mark = Mark { tier: MatchTier::Exact, weights, variants: 0 };
        let matched = match is_known {
            true => self.exact((damping, &mark.weights), &mut best, ENOUGH as usize)?,
            false => Vec::new(),
        };
        let exact = best.total;
        if best.total < ENOUGH && self.query.unfinished {
            let (clauses, variants) = self.beginning_clauses(&mark.weights, None);
            if let Some(completed) = clauses.last() {
                mark.weights.push(completed.rarity);
            }
            (mark.tier, mark.variants) = (MatchTier::Prefix, variants);
            self.beginning(&clauses, &matched, damping, &mut best)?;
        }
        if best.total == 0 {
            mark = self.forgiving(weights, damping, &mut best)?;
        }
        Ok(outcome(best, exact, mark))
    }

    /// Every word or one near to it, else most of them.
    fn forgiving(&self, weights: Weights, damping: &Damping, best: &mut BestOf) -> tantivy::Result<Mark> {
        let mut clauses = forgiving::clauses(self.snapshot, self.query, true, None);
        let mut tier = MatchTier::Fuzzy;
        self.near(&clauses, damping, best)?;
        if best.total == 0 {
            (tier, clauses) = (MatchTier::Any, forgiving::clauses(self.snapshot, self.query, false, None));
            self.most(&clauses, damping, best)?;
        }
        let mut weights = Weights::new(weights.mean_length);
        clauses.iter().for_each(|clause| weights.push(clause.rarity));
        Ok(Mark { tier, weights, variants: fingerprint(&clauses) })
    }

    /// A further page of a search, behind the match of rank `last`; none where other words would stand in for those that were
    /// asked for than on the page before, which makes the two incomparable.
    pub(super) fn next(&self, limit: usize, mark: &Mark, last: Rank) -> tantivy::Result<Option<Outcome>> {
        let mut best = BestOf::new(limit, Start::After(last));
        let weights = &mark.weights;
        let damping = match weights.mean_length == self.snapshot.mean_length {
            true => Cow::Borrowed(&*self.snapshot.damping),
            false => Cow::Owned(*damping(weights.mean_length)),
        };
        let mut exact = 0;
        match mark.tier {
            MatchTier::Exact | MatchTier::Prefix => {
                let listed = if mark.tier == MatchTier::Exact { 0 } else { usize::MAX };
                let matched = self.exact((&damping, weights), &mut best, listed)?;
                exact = best.total;
                if mark.tier == MatchTier::Prefix {
                    let (clauses, variants) =
                        self.beginning_clauses(weights, weights.rarities().last().copied());
                    if variants != mark.variants {
                        return Ok(None);
                    }
                    self.beginning(&clauses, &matched, &damping, &mut best)?;
                }
            }
            MatchTier::Fuzzy | MatchTier::Any => {
                let needs_all = mark.tier == MatchTier::Fuzzy;
                let clauses = forgiving::clauses(self.snapshot, self.query, needs_all, Some(weights));
                if fingerprint(&clauses) != mark.variants {
                    return Ok(None);
                }
                match mark.tier {
                    MatchTier::Fuzzy => self.near(&clauses, &damping, &mut best)?,
                    _ => self.most(&clauses, &damping, &mut best)?,
                }
            }
        }
        Ok(Some(outcome(best, exact, *mark)))
    }

    /// Offers all exact matches and lists at most `listed` of them: what the stage after this one leaves out.
    fn exact(
        &self,
        (damping, weights): (&Damping, &Weights),
        best: &mut BestOf,
        listed: usize,
    ) -> tantivy::Result<Vec<(u32, DocId)>> {
        let mut collector = Exact { best, listed, matched: Vec::new() };
        let measures = (damping, weights.rarities());
        match_exactly(self.snapshot, self.query, self.category, measures, &mut collector)?;
        Ok(collector.matched)
    }

    /// Offers what holds all words but the last, and a word that begins with the last.
    fn beginning(
        &self,
        clauses: &[Clause<'_>],
        exact: &[(u32, DocId)],
        damping: &Damping,
        best: &mut BestOf,
    ) -> tantivy::Result<()> {
        if clauses.len() < self.query.words.len() {
            return Ok(());
        }
        let phrases = (&self.query.words[..], &self.query.phrases[..]);
        let mut collector = Approximate { best, except: exact };
        match_all(self.snapshot, clauses, phrases, (self.category, damping), &mut collector)
    }

    /// The words as they are but for the last, and the longer words that begin with it: fewer than the words where one of them
    /// is unknown. Beside them what stands for the choice of longer words, where there are more than are taken.
    pub(super) fn beginning_clauses(&self, weights: &Weights, rarity: Option<f32>) -> (Vec<Clause<'_>>, u64) {
        let Some((last, finished)) = self.query.words.split_last() else { return (Vec::new(), 0) };
        let lexicon = &self.snapshot.lexicon;
        let standing = Standing { counts: true, is_required: false };
        let mut clauses = Vec::with_capacity(self.query.words.len());
        for (word, &rarity) in finished.iter().zip(weights.rarities()) {
            if lexicon.count(word) > 0 {
                clauses.push(Clause { variants: vec![Variant { word, weight: 1.0 }], rarity, standing });
            }
        }
        let completions = lexicon.completions(last, MOST_COMPLETIONS);
        if completions.is_empty() {
            return (clauses, 0);
        }
        let count = completions.iter().map(|found| found.count).fold(0, u32::saturating_add);
        let rarity = rarity.unwrap_or_else(|| self.snapshot.rarity(count));
        // Those that are little longer count more.
        let weight = |longer: &str| 0.5 + 0.5 * last.len() as f32 / longer.len() as f32;
        let variants: Vec<Variant<'_>> = completions
            .iter()
            .map(|found| Variant { word: found.word, weight: weight(found.word) })
            .collect();
        let is_cut = variants.len() == MOST_COMPLETIONS;
        let completed = Clause { variants, rarity, standing };
        let choice = if is_cut { fingerprint(std::slice::from_ref(&completed)) } else { 0 };
        clauses.push(completed);
        (clauses, choice)
    }

    /// Offers what holds every word or one near to it.
    fn near(&self, clauses: &[Clause<'_>], damping: &Damping, best: &mut BestOf) -> tantivy::Result<()> {
        if !clauses.iter().any(|clause| clause.standing.counts) {
            return Ok(());
        }
        let runs = self.query.runs();
        let (phrases, scope) = ((&self.query.words[..], &runs[..]), (self.category, damping));
        match_all(self.snapshot, clauses, phrases, scope, &mut Approximate { best, except: &[] })
    }

    /// Offers what holds most of the words that count.
    fn most(&self, clauses: &[Clause<'_>], damping: &Damping, best: &mut BestOf) -> tantivy::Result<()> {
        let runs = self.query.runs();
        let (phrases, scope) = ((&self.query.words[..], &runs[..]), (self.category, damping));
        match_most(self.snapshot, clauses, phrases, scope, &mut Approximate { best, except: &[] })
    }

    /// How many projects hold all of the words.
    pub(super) fn count(&self) -> tantivy::Result<u64> {
        let (mut best, mut weights) = (BestOf::new(0, Start::First), Weights::new(1.0));
        self.query.words.iter().for_each(|_| weights.push(1.0));
        self.exact((&self.snapshot.damping, &weights), &mut best, 0)?;
        Ok(best.total)
    }
}

/// Stands for the words that stand in for others, and for what they mean.
fn fingerprint(clauses: &[Clause<'_>]) -> u64 {
    let mut hash = Fnv::default();
    for clause in clauses {
        for variant in &clause.variants {
            hash.write(variant.word.as_bytes());
            hash.write(&[0]);
            hash.write(&variant.weight.to_bits().to_be_bytes());
        }
        let Standing { counts, is_required } = clause.standing;
        hash.write(&[u8::from(counts), u8::from(is_required)]);
    }
    hash.finish()
}

/// Ranks exact matches and lists some of them.
struct Exact<'b> {
    best: &'b mut BestOf,
    listed: usize,
    matched: Vec<(u32, DocId)>,
}

impl Collect for Exact<'_> {
    fn collect(&mut self, found: Found<'_>) {
        let room = self.listed.saturating_sub(self.matched.len());
        self.matched.extend(found.documents.iter().take(room).map(|&document| (found.ordinal, document)));
        found.scores.iter_mut().for_each(|score| *score += 1.0);
        self.best.collect(found);
    }
}

/// Ranks approximate matches behind all exact ones, except those that are.
struct Approximate<'b, 'e> {
    best: &'b mut BestOf,
    except: &'e [(u32, DocId)],
}

impl Collect for Approximate<'_, '_> {
    fn collect(&mut self, found: Found<'_>) {
        found.scores.iter_mut().for_each(|score| *score = (*score / (1.0 + *score)).max(f32::MIN_POSITIVE));
        if self.except.is_empty() {
            return self.best.collect(found);
        }
        let mut others = Outlet::new(found.segment, found.ordinal as usize, self.best);
        for (&document, &score) in found.documents.iter().zip(found.scores.iter()) {
            // They are listed in the order in which they were found, segment by segment.
            if self.except.binary_search(&(found.ordinal, document)).is_err() {
                others.push(document, score);
            }
        }
        others.flush();
    }
}

impl Collect for BestOf {
    fn collect(&mut self, found: Found<'_>) {
        self.offer(found.ordinal, found.documents, found.scores, |document| found.segment.rows.tie(document));
    }
}

fn outcome(best: BestOf, exact: u64, mark: Mark) -> Outcome {
    let total = best.total;
    let (places, more) = best.finish();
    Outcome { places, total, exact, more, mark }
}
