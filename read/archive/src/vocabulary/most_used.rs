//! The most used words of each dimension.

use std::cmp::Reverse;

use schemas::record::Category;
use schemas::taste::Dimension;

use super::Vocabulary;
use super::counts::TermUse;
use crate::dictionary::Dictionary;

/// The most used words of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionTerms {
    /// The dimension.
    pub dimension: Dimension,
    /// The most used first, equally used ones in alphabetical order.
    pub terms: Vec<Term>,
    /// The number of different words in the dimension.
    pub distinct: u64,
}

/// A used word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The most frequent form of its stem, in lower case; it represents all forms of the stem.
    pub term: String,
    /// The number of projects that a query for this word alone finds in the dimension.
    pub projects: u64,
}

/// Returns the most used words of one dimension, or of each.
pub(crate) fn most_used_terms(
    vocabulary: &Vocabulary,
    dimension: Option<Dimension>,
    category: Option<Category>,
    limit: usize,
) -> Vec<DimensionTerms> {
    let counts = vocabulary.counts(category);
    let requested = Dimension::ALL.into_iter().filter(|one| dimension.is_none_or(|only| only == *one));
    let of_dimension = |dimension: Dimension| {
        let uses = counts.of_dimension(dimension);
        let terms = most_used(uses, vocabulary.dictionary(), limit);
        DimensionTerms { dimension, terms, distinct: uses.len() as u64 }
    };
    requested.map(of_dimension).collect()
}

fn most_used(uses: &[TermUse], dictionary: &Dictionary, limit: usize) -> Vec<Term> {
    let mut uses = uses.to_vec();
    let order = |a: &TermUse, b: &TermUse| {
        let by_use = Reverse(a.projects).cmp(&Reverse(b.projects));
        by_use.then_with(|| dictionary.form(a.form).cmp(dictionary.form(b.form)))
    };
    if uses.len() > limit {
        uses.select_nth_unstable_by(limit, order);
        uses.truncate(limit);
    }
    uses.sort_unstable_by(order);
    uses.iter().map(|one| one.term(dictionary)).collect()
}

impl TermUse {
    pub(super) fn term(self, dictionary: &Dictionary) -> Term {
        Term { term: dictionary.form(self.form).to_owned(), projects: u64::from(self.projects) }
    }
}
