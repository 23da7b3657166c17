//! The stages of a search, from the exact to the approximate. A later one is entered only where the earlier ones leave too little.

use tantivy::DocId;

use super::lexicon::Lexicon;
use super::matching::{Clause, Collect, Found, Outlet, Variant, match_all, match_any, match_exactly};
use super::query::Query;
use super::ranking::{BestOf, Place, Rank, Start};
use super::snapshot::Snapshot;

/// With so many exact matches nobody needs to guess what else may be meant.
const ENOUGH: u64 = 10;
/// At most so many longer words stand for a beginning, and so many near words for a misspelt one or for one that is spelt right.
const MOST_COMPLETIONS: usize = 64;
const MOST_NEAR: usize = 16;
const MOST_NEAR_OF_KNOWN: usize = 8;
/// From this length on a word may hold one typo, and two.
const ONE_TYPO: usize = 4;
const TWO_TYPOS: usize = 8;
/// What a word with one typo or two counts beside an exact one.
const TYPO_WEIGHTS: [f32; 3] = [1.0, 0.7, 0.4];
/// What the completion of a misspelt query's last word counts.
const COMPLETION_WEIGHT: f32 = 0.6;

/// How far a search went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All words and phrases exactly.
    Exact = 0,
    /// Exact matches, then those in which the last word is the beginning of a longer one.
    Beginning = 1,
    /// Every word or one near to it.
    Near = 2,
    /// Half of the words, or a single one.
    Any = 3,
}

impl Reach {
    pub(super) fn from_code(code: u8) -> Option<Reach> {
        [Reach::Exact, Reach::Beginning, Reach::Near, Reach::Any]
            .into_iter()
            .find(|reach| *reach as u8 == code)
    }
}

/// What a search found.
pub(super) struct Outcome {
    pub(super) places: Vec<Place>,
    pub(super) total: u64,
    /// Whether more places follow.
    pub(super) more: bool,
    pub(super) reach: Reach,
}

/// One search in one snapshot.
pub(super) struct Search<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) query: &'a Query,
    pub(super) category: Option<&'a str>,
}

impl Search<'_> {
    /// The first page: goes as far as it must.
    pub(super) fn first(&self, limit: usize) -> tantivy::Result<Outcome> {
        let mut best = BestOf::new(limit, Start::First);
        if self.query.words.is_empty() {
            return Ok(outcome(best, Reach::Exact));
        }
        let exact = self.exact(&mut best, ENOUGH as usize)?;
        let mut reach = Reach::Exact;
        if best.total < ENOUGH && self.query.unfinished {
            reach = Reach::Beginning;
            self.beginning(&exact, &mut best)?;
        }
        if best.total == 0 {
            let clauses = self.near_clauses();
            reach = Reach::Near;
            self.near(&clauses, &mut best)?;
            if best.total == 0 {
                reach = Reach::Any;
                self.any(&clauses, &mut best)?;
            }
        }
        Ok(outcome(best, reach))
    }

    /// A further page of a search that went as far as `reach`, behind the match of rank `last`.
    pub(super) fn next(&self, limit: usize, reach: Reach, last: Rank) -> tantivy::Result<Outcome> {
        let mut best = BestOf::new(limit, Start::After(last));
        self.run(reach, &mut best)?;
        Ok(outcome(best, reach))
    }

    /// The rank that the match of rank `last` in another snapshot has in this one; `last` itself if it does not match here.
    pub(super) fn relocate(&self, reach: Reach, last: Rank) -> tantivy::Result<Rank> {
        let mut best = BestOf::new(0, Start::Seek(last.tie));
        self.run(reach, &mut best)?;
        Ok(best.sought.unwrap_or(last))
    }

    fn run(&self, reach: Reach, best: &mut BestOf) -> tantivy::Result<()> {
        match reach {
            Reach::Exact => self.exact(best, 0).map(drop),
            Reach::Beginning => {
                let exact = self.exact(best, usize::MAX)?;
                self.beginning(&exact, best)
            }
            Reach::Near => self.near(&self.near_clauses(), best),
            Reach::Any => self.any(&self.near_clauses(), best),
        }
    }

    /// Offers all exact matches and lists at most `listed` of them: what the stage after this one leaves out.
    fn exact(&self, best: &mut BestOf, listed: usize) -> tantivy::Result<Vec<(u32, DocId)>> {
        let mut collector = Exact { best, listed, matched: Vec::new() };
        match_exactly(self.snapshot, self.query, self.category, &mut collector)?;
        Ok(collector.matched)
    }

    /// Offers what holds all words but the last, and a word that begins with the last.
    fn beginning(&self, exact: &[(u32, DocId)], best: &mut BestOf) -> tantivy::Result<()> {
        let Some((last, finished)) = self.query.words.split_last() else { return Ok(()) };
        let lexicon = &self.snapshot.lexicon;
        let mut clauses = Vec::with_capacity(self.query.words.len());
        for word in finished {
            match lexicon.count(word) {
                0 => return Ok(()),
                count => clauses.push(self.clause(vec![Variant { word, weight: 1.0 }], count)),
            }
        }
        let Some(completed) = self.completed(last, lexicon) else { return Ok(()) };
        clauses.push(completed);
        let phrases = (&self.query.words[..], &self.query.phrases[..]);
        match_all(self.snapshot, &clauses, phrases, self.category, &mut Approximate { best, except: exact })
    }

    /// The longer words that begin with `word`; those that are little longer count more.
    fn completed<'l>(&self, word: &str, lexicon: &'l Lexicon) -> Option<Clause<'l>> {
        let completions = lexicon.completions(word, MOST_COMPLETIONS);
        let count = completions.iter().map(|found| found.count).fold(0, u32::saturating_add);
        let weight = |longer: &str| 0.5 + 0.5 * word.len() as f32 / longer.len() as f32;
        let variants = completions
            .iter()
            .map(|found| Variant { word: found.word, weight: weight(found.word) })
            .collect();
        (!completions.is_empty()).then(|| self.clause(variants, count))
    }

    fn near(&self, clauses: &[Clause<'_>], best: &mut BestOf) -> tantivy::Result<()> {
        match_all(self.snapshot, clauses, (&[], &[]), self.category, &mut Approximate { best, except: &[] })
    }

    /// Offers what holds half of the words that anything holds; if nothing does, what holds one.
    fn any(&self, clauses: &[Clause<'_>], best: &mut BestOf) -> tantivy::Result<()> {
        let known = clauses.iter().filter(|clause| !clause.variants.is_empty()).count();
        for least in if known > 2 { vec![known.div_ceil(2), 1] } else { vec![1] } {
            let mut collector = Approximate { best, except: &[] };
            match_any(self.snapshot, clauses, least, self.category, &mut collector);
            if best.total > 0 {
                break;
            }
        }
        Ok(())
    }

    /// For every word the words that may be meant by it; there may be none.
    fn near_clauses(&self) -> Vec<Clause<'_>> {
        let words = self.query.words.iter();
        words
            .enumerate()
            .map(|(place, word)| self.near_clause(word, place + 1 == self.query.words.len()))
            .collect()
    }

    fn near_clause<'q>(&'q self, word: &'q str, is_last: bool) -> Clause<'q> {
        let lexicon = &self.snapshot.lexicon;
        let mut count = lexicon.count(word);
        let mut variants = Vec::new();
        let known = count > 0;
        if known {
            variants.push(Variant { word, weight: 1.0 });
        }
        let edits = match word.chars().count() {
            _ if word.contains(|letter: char| letter.is_numeric()) => 0,
            length if length >= TWO_TYPOS && !known => 2,
            length if length >= ONE_TYPO => 1,
            _ => 0,
        };
        if edits > 0 {
            let near = lexicon.near(word, edits, if known { MOST_NEAR_OF_KNOWN } else { MOST_NEAR });
            for found in near {
                count = count.saturating_add(found.count);
                variants.push(Variant { word: found.word, weight: TYPO_WEIGHTS[found.distance as usize] });
            }
        }
        if is_last && self.query.unfinished {
            for found in lexicon.completions(word, MOST_NEAR) {
                count = count.saturating_add(found.count);
                variants.push(Variant { word: found.word, weight: COMPLETION_WEIGHT });
            }
        }
        self.clause(variants, count)
    }

    fn clause<'c>(&self, variants: Vec<Variant<'c>>, count: u32) -> Clause<'c> {
        Clause { variants, rarity: self.snapshot.rarity(count) }
    }
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

fn outcome(best: BestOf, reach: Reach) -> Outcome {
    let total = best.total;
    let (places, more) = best.finish();
    Outcome { places, total, more, reach }
}
