//! How the results of a search differ from its query, so that an answer can say it.

use super::expansion;
use super::suggestion::{QueryText, Suggestion, did_you_mean};
use super::{MatchTier, ResultPage, Search};
use crate::index::snapshot::Snapshot;
use crate::matching::Clause;
use crate::ranking::top_k::RankedDocument;

/// The most replacements that are listed.
const MAX_REPLACEMENTS: usize = 10;
/// The number of completions that are looked for in results before their texts are read.
const MAX_FREQUENT_COMPLETIONS: usize = 64;

/// How a query was relaxed: in which tier results were found that do not contain every word as it was typed, and how they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    /// How such results were found.
    pub kind: RelaxationKind,
    /// The number of exact results on all pages: those with every word as it was typed.
    pub exact: u64,
    /// Whether what was typed ends with a single letter, which any word that begins with it matches as well.
    pub ends_with_letter: bool,
    /// The words that no project contains, as they were typed.
    pub unknown_words: Vec<String>,
    /// The words that results of this page contain in place of typed ones, at most ten.
    pub replacements: Vec<Replacement>,
    /// The words that all results of this page match, as they were typed.
    pub matched_words: Vec<String>,
    /// The words that no result of this page matches, as they were typed.
    pub unmatched_words: Vec<String>,
    /// A query that has exact results; `None` for [`RelaxationKind::Prefix`], and where there is none.
    pub did_you_mean: Option<Suggestion>,
}

/// How results were found that do not contain every word as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelaxationKind {
    /// A longer word that begins with the last one matches in its place.
    Prefix,
    /// Words that are spelled almost like typed ones match in their place, or the words of a phrase are apart.
    Fuzzy,
    /// Most of the words match, or words that are spelled almost like them.
    Any,
    /// There are no results.
    NoMatches,
    /// There are no results, since the text has no word.
    NoWords,
}

/// A word that matches in place of a typed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The word as it was typed.
    pub from: String,
    /// The word of the index, in lower case and without accents.
    pub to: String,
}

/// Returns how the results of a page differ from the query `text`; `None` if all results are exact.
pub(crate) fn relaxation(
    search: &Search<'_>,
    text: &str,
    page: &ResultPage,
) -> tantivy::Result<Option<Relaxation>> {
    let ResultPage { documents, total, exact, state, .. } = page;
    let ends_with_letter = search.query.ends_with_letter && *total > 0 && state.tier == MatchTier::Prefix;
    let exact = if ends_with_letter { &search.count_exact()? } else { exact };
    if *total > 0 && total == exact {
        return Ok(None);
    }
    let kind = match state.tier {
        _ if search.query.words.is_empty() => RelaxationKind::NoWords,
        _ if *total == 0 => RelaxationKind::NoMatches,
        MatchTier::Exact | MatchTier::Prefix => RelaxationKind::Prefix,
        MatchTier::Fuzzy => RelaxationKind::Fuzzy,
        MatchTier::Any => RelaxationKind::Any,
    };
    let typed = QueryText::new(text);
    let words = &search.query.words;
    let is_unknown = |word: &&String| search.snapshot.lexicon.document_frequency(word) == 0;
    let mut relaxation = Relaxation {
        kind,
        exact: *exact,
        ends_with_letter,
        unknown_words: distinct(words.iter().filter(is_unknown).map(|word| typed.as_typed(word))),
        replacements: Vec::new(),
        matched_words: Vec::new(),
        unmatched_words: Vec::new(),
        did_you_mean: None,
    };
    match kind {
        RelaxationKind::NoMatches | RelaxationKind::NoWords => {}
        RelaxationKind::Prefix => {
            let clauses = search.prefix_clauses(&state.weights, None);
            relaxation.compare(search, &typed, &clauses, documents)?;
        }
        RelaxationKind::Fuzzy | RelaxationKind::Any => {
            let clauses = expansion::clauses(search.snapshot, search.query, state.tier, None);
            relaxation.compare(search, &typed, &clauses, documents)?;
        }
    }
    if kind != RelaxationKind::Prefix {
        relaxation.did_you_mean = did_you_mean(search, &typed)?;
    }
    Ok(Some(relaxation))
}

impl Relaxation {
    /// Returns whether there are results that do not contain every word as it was typed.
    pub fn is_approximate(&self) -> bool {
        !matches!(self.kind, RelaxationKind::NoMatches | RelaxationKind::NoWords)
    }

    /// Compares the words of the query with those of the results of a page.
    fn compare(
        &mut self,
        search: &Search<'_>,
        typed: &QueryText<'_>,
        clauses: &[Clause<'_>],
        documents: &[RankedDocument],
    ) -> tantivy::Result<()> {
        let (mut matched, mut unmatched) = (Vec::new(), Vec::new());
        for (word, clause) in search.query.words.iter().zip(clauses) {
            let mut matches = 0;
            let frequent = frequent_completions(search.snapshot, clause);
            for document in documents {
                if contains(search.snapshot, *document, word) {
                    matches += 1;
                    continue;
                }
                let Some(to) = variant_in(search.snapshot, *document, clause, &frequent)? else { continue };
                matches += 1;
                let replacement = Replacement { from: typed.as_typed(word).to_owned(), to };
                if self.replacements.len() < MAX_REPLACEMENTS && !self.replacements.contains(&replacement) {
                    self.replacements.push(replacement);
                }
            }
            if matches == documents.len() {
                matched.push(typed.as_typed(word));
            } else if matches == 0 {
                unmatched.push(typed.as_typed(word));
            }
        }
        self.matched_words = distinct(matched.into_iter());
        self.unmatched_words = distinct(unmatched.into_iter());
        Ok(())
    }
}

/// Returns the most frequent completions of a clause.
fn frequent_completions<'s>(snapshot: &'s Snapshot, clause: &Clause<'_>) -> Vec<&'s str> {
    let Some(completion) = &clause.completion else { return Vec::new() };
    let frequent = snapshot.lexicon.completions(completion.prefix, MAX_FREQUENT_COMPLETIONS);
    frequent.into_iter().map(|found| found.word).filter(|word| completion.includes(word)).collect()
}

/// Returns the variant of the clause that a document contains: the first one, then the most frequent completion, then any.
fn variant_in(
    snapshot: &Snapshot,
    document: RankedDocument,
    clause: &Clause<'_>,
    frequent: &[&str],
) -> tantivy::Result<Option<String>> {
    let variants = clause.variants.iter().map(|variant| variant.word).chain(frequent.iter().copied());
    if let Some(word) = variants.into_iter().find(|word| contains(snapshot, document, word)) {
        return Ok(Some(word.to_owned()));
    }
    let Some(completion) = &clause.completion else { return Ok(None) };
    let mut found = None;
    snapshot.segments[document.segment as usize].for_each_word_in(document.document, |word| {
        if found.is_none() && word.starts_with(completion.prefix) && completion.includes(word) {
            found = Some(word.to_owned());
        }
    })?;
    Ok(found)
}

fn contains(snapshot: &Snapshot, document: RankedDocument, word: &str) -> bool {
    let list = snapshot.segments[document.segment as usize].posting_list(word);
    list.is_some_and(|list| list.documents.binary_search(&document.document).is_ok())
}

fn distinct<'w>(words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for word in words {
        if !distinct.iter().any(|other| other == word) {
            distinct.push(word.to_owned());
        }
    }
    distinct
}
