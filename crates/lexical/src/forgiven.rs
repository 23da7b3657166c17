//! What was forgiven in a query, so that an answer can say it.

use super::cascade::{Outcome, Search};
use super::forgiving;
use super::matching::Clause;
use super::query::MatchTier;
use super::ranking::Place;
use super::rephrasing::{Suggestion, Typed, did_you_mean};
use super::snapshot::Snapshot;

/// At most so many words that stand in for others are named.
const MOST_NAMED: usize = 10;

/// What an answer says of a query that does not match as it stands, or not all of whose results do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgiven {
    /// How results were found that do not hold every word as it was typed.
    pub how: Approximation,
    /// How many results hold every word as it was typed; they come first.
    pub exact: u64,
    /// The words that no project has, as they were typed.
    pub missing: Vec<String>,
    /// The words that results of this page hold instead of typed ones, at most ten.
    pub replaced: Vec<Replaced>,
    /// Words that each result of this page holds, as they were typed.
    pub held: Vec<String>,
    /// Words that no result of this page holds, as they were typed.
    pub left_out: Vec<String>,
    /// A query that finds more exactly.
    pub did_you_mean: Option<Suggestion>,
}

/// How results were found that do not hold every word as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// The last word is the beginning of a longer one.
    Completed,
    /// Words near to those that were typed stand in their place, or the words of a phrase stand apart.
    Mended,
    /// They hold most of the words, or words near to them.
    Most,
    /// There are none.
    Nothing,
    /// There are none, since the text has no word.
    NoWords,
}

/// A word that stands in for a typed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The word as it was typed.
    pub from: String,
    /// The word of the catalog, in lower case and without accents.
    pub to: String,
}

/// What is to be said of an outcome; nothing where every result holds every word as it was typed.
pub(super) fn of(search: &Search<'_>, text: &str, outcome: &Outcome) -> tantivy::Result<Option<Forgiven>> {
    let Outcome { places, total, exact, mark, .. } = outcome;
    if *total > 0 && total == exact {
        return Ok(None);
    }
    let how = match mark.tier {
        _ if search.query.words.is_empty() => Approximation::NoWords,
        _ if *total == 0 => Approximation::Nothing,
        // A search that reaches no further has exact results alone.
        MatchTier::Exact | MatchTier::Prefix => Approximation::Completed,
        MatchTier::Fuzzy => Approximation::Mended,
        MatchTier::Any => Approximation::Most,
    };
    let typed = Typed::new(text);
    let words = &search.query.words;
    let is_missing = |word: &&String| search.snapshot.lexicon.count(word) == 0;
    let mut forgiven = Forgiven {
        how,
        exact: *exact,
        missing: distinct(words.iter().filter(is_missing).map(|word| typed.show(word))),
        replaced: Vec::new(),
        held: Vec::new(),
        left_out: Vec::new(),
        did_you_mean: None,
    };
    match how {
        Approximation::Nothing | Approximation::NoWords => {}
        Approximation::Completed => {
            let (clauses, _) = search.beginning_clauses(&mark.weights, None);
            forgiven.look_at(search, &typed, &clauses, places);
        }
        Approximation::Mended | Approximation::Most => {
            let clauses =
                forgiving::clauses(search.snapshot, search.query, mark.tier == MatchTier::Fuzzy, None);
            forgiven.look_at(search, &typed, &clauses, places);
        }
    }
    if how != Approximation::Completed {
        forgiven.did_you_mean = did_you_mean(search, &typed)?;
    }
    Ok(Some(forgiven))
}

impl Forgiven {
    /// Whether results are there that do not hold every word as it was typed.
    pub fn is_approximate(&self) -> bool {
        !matches!(self.how, Approximation::Nothing | Approximation::NoWords)
    }

    /// Compares what was asked for with what the results of a page hold.
    fn look_at(&mut self, search: &Search<'_>, typed: &Typed<'_>, clauses: &[Clause<'_>], places: &[Place]) {
        let (mut held, mut left_out) = (Vec::new(), Vec::new());
        for (word, clause) in search.query.words.iter().zip(clauses) {
            let mut holders = 0;
            for place in places {
                if holds(search.snapshot, *place, word) {
                    holders += 1;
                    continue;
                }
                let instead =
                    clause.variants.iter().find(|variant| holds(search.snapshot, *place, variant.word));
                let Some(instead) = instead else { continue };
                holders += 1;
                let replaced = Replaced { from: typed.show(word).to_owned(), to: instead.word.to_owned() };
                if self.replaced.len() < MOST_NAMED && !self.replaced.contains(&replaced) {
                    self.replaced.push(replaced);
                }
            }
            if holders == places.len() {
                held.push(typed.show(word));
            } else if holders == 0 {
                left_out.push(typed.show(word));
            }
        }
        self.held = distinct(held.into_iter());
        self.left_out = distinct(left_out.into_iter());
    }
}

fn holds(snapshot: &Snapshot, place: Place, word: &str) -> bool {
    let segment = &snapshot.segments[place.segment as usize];
    segment.find(word).is_some_and(|holders| holders.documents.binary_search(&place.document).is_ok())
}

fn distinct<'w>(words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for word in words {
        if !distinct.iter().any(|known| known == word) {
            distinct.push(word.to_owned());
        }
    }
    distinct
}
