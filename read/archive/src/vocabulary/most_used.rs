//! The most used words of each dimension, page by page.

use std::cmp::Reverse;
use std::hash::Hasher;

use schemas::record::Category;
use schemas::taste::Dimension;
use text::fold;

use super::Vocabulary;
use super::counts::TermUse;
use crate::cursor::{Cursor, InvalidCursor, query_hash};
use crate::dictionary::{Dictionary, TermKind};
use crate::order::{Day, SortKey};

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

/// A used word or phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The most frequent form of its stem, in lower case; it represents all forms of the stem.
    pub term: String,
    /// The number of projects that a query for this word alone finds in the dimension; of a phrase, a query for it in quotes.
    pub projects: u64,
}

/// Which words of a dimension are listed.
#[derive(Clone, Debug)]
pub struct TermsRequest<'a> {
    /// The dimension.
    pub dimension: Dimension,
    /// Words, or phrases.
    pub kind: TermKind,
    /// The category whose projects are counted, or all.
    pub category: Option<Category>,
    /// How the words begin, or blank for all; case and accents do not count.
    pub starts_with: &'a str,
    /// The size of the page.
    pub limit: usize,
    /// The cursor of the previous page.
    pub after: Option<Cursor>,
}

/// A page of the words of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermsPage {
    /// The words of this page; `distinct` counts those of all pages.
    pub terms: DimensionTerms,
    /// The cursor of the next page, if there is one.
    pub next: Option<Cursor>,
}

/// The maximum length of a word in a cursor, in bytes. Words that agree in so much count as one there.
const LONGEST_KEY: usize = 100;

/// Returns a page of the words of a dimension.
pub(crate) fn terms_page(
    vocabulary: &Vocabulary,
    request: TermsRequest<'_>,
) -> Result<TermsPage, InvalidCursor> {
    let TermsRequest { dimension, kind, category, starts_with, limit, after } = request;
    let beginning = fold(starts_with);
    let mut hash = query_hash(b"terms", category);
    hash.write(dimension.as_str().as_bytes());
    hash.write(beginning.as_bytes());
    if kind == TermKind::Phrase {
        hash.write(&[0]);
    }
    let fingerprint = hash.finish();
    let after = Cursor::check(after, fingerprint)?;
    let dictionary = vocabulary.dictionary();
    let form = |one: &TermUse| dictionary.form(one.form);
    let mut uses = vocabulary.counts(kind, category).of_dimension(dimension).to_vec();
    if !starts_with.trim().is_empty() {
        // A text without letters begins no word.
        uses.retain(|one| !beginning.is_empty() && fold(form(one)).starts_with(&beginning));
    }
    let distinct = uses.len() as u64;
    if let Some(last) = after.as_ref().map(Cursor::sort_key) {
        let place = |one: &TermUse| (Reverse(u64::from(one.projects)), key(form(one)));
        uses.retain(|one| place(one) > (Reverse(last.ordinal), last.slug));
    }
    let has_more = uses.len() > limit;
    let terms = most_used(&uses, dictionary, limit);
    let next = terms.last().filter(|_| has_more).map(|last| {
        let place = SortKey { day: Day::new(None), slug: key(&last.term), ordinal: last.projects };
        Cursor::new(fingerprint, 0, place)
    });
    Ok(TermsPage { terms: DimensionTerms { dimension, terms, distinct }, next })
}

fn key(form: &str) -> &str {
    &form[..form.floor_char_boundary(LONGEST_KEY)]
}

/// Returns the most used words or phrases of one dimension, or of each.
pub(crate) fn most_used_terms(
    vocabulary: &Vocabulary,
    kind: TermKind,
    dimension: Option<Dimension>,
    category: Option<Category>,
    limit: usize,
) -> Vec<DimensionTerms> {
    let counts = vocabulary.counts(kind, category);
    let requested = Dimension::ALL.into_iter().filter(|one| dimension.is_none_or(|only| only == *one));
    let of_dimension = |dimension: Dimension| {
        let uses = counts.of_dimension(dimension);
        let terms = most_used(uses, vocabulary.dictionary(), limit);
        DimensionTerms { dimension, terms, distinct: uses.len() as u64 }
    };
    requested.map(of_dimension).collect()
}

/// Returns the most used phrases of each dimension. A phrase of one word is represented by the word, wherever it is used.
pub(crate) fn most_used_phrases(
    vocabulary: &Vocabulary,
    category: Option<Category>,
    limit: usize,
) -> Vec<DimensionTerms> {
    let (dictionary, words) = (vocabulary.dictionary(), vocabulary.counts(TermKind::Word, category));
    let mut found = most_used_terms(vocabulary, TermKind::Phrase, None, category, limit);
    for DimensionTerms { dimension, terms, .. } in &mut found {
        for term in terms.iter_mut().filter(|term| !term.term.contains(' ')) {
            let stem = dictionary.number_of(&term.term).map(|form| dictionary.stem_of(form));
            let mut of_dimension = words.of_dimension(*dimension).iter();
            if let Some(word) = of_dimension.find(|word| Some(dictionary.stem_of(word.form)) == stem) {
                *term = word.term(dictionary);
            }
        }
        terms.sort_by(|a, b| b.projects.cmp(&a.projects).then_with(|| a.term.cmp(&b.term)));
    }
    found
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
