//! How the results of a search differ from its query, so that an answer can say it.

use super::cursor::CursorState;
use super::prefix::Respelling;
use super::suggestion::{QueryText, Suggestion, did_you_mean};
use super::{MatchTier, ResultPage, Search};
use crate::index::snapshot::Snapshot;
use crate::matching::{Clause, contains_phrase};
use crate::query::Term;
use crate::ranking::top_k::RankedDocument;

/// The most replacements that are listed.
const MAX_REPLACEMENTS: usize = 10;
/// The number of completions that are looked for in results before their texts are read.
const MAX_FREQUENT_COMPLETIONS: usize = 64;

/// How a query was relaxed: in which tier results were found that do not contain every word in any form, and how they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    /// How such results were found.
    pub kind: RelaxationKind,
    /// The number of full matches on all pages: those with every word, in some form.
    pub exact: u64,
    /// The number of full matches that a category or a restriction excludes, if there are no results.
    pub excluded: u64,
    /// Whether what was typed ends with a single letter, which any word that begins with it matches as well.
    pub ends_with_letter: bool,
    /// The words that no project contains in any form, as they were typed.
    pub unknown_words: Vec<String>,
    /// The words that results of this page contain in place of typed ones, but for their forms; at most ten.
    pub replacements: Vec<Replacement>,
    /// The words that all results of this page match, as they were typed.
    pub matched_words: Vec<String>,
    /// The words that no result of this page matches, as they were typed.
    pub unmatched_words: Vec<String>,
    /// A query that has exact results; `None` for [`RelaxationKind::Prefix`], where there is none, and where these results are what the
    /// search finds.
    pub did_you_mean: Option<Suggestion>,
}

/// How results were found that do not contain every word in any form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelaxationKind {
    /// A longer word that begins with the last one matches in its place, or words joined, or apart.
    Prefix,
    /// In place of each word that no project has the one that was most likely meant matches.
    Corrected,
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
    /// The words of the index, in lower case and without accents. Of several forms of a word only the first.
    pub to: String,
    /// Whether these begin with the typed word.
    pub is_completion: bool,
}

/// Returns how the results of a page differ from the query `text`; `None` if all results are exact.
pub(crate) fn relaxation(
    search: &Search<'_>,
    text: &str,
    page: &ResultPage,
) -> tantivy::Result<Option<Relaxation>> {
    let ResultPage { documents, total, full, state, .. } = page;
    let ends_with_letter = search.query.ends_with_letter && *total > 0 && state.tier == MatchTier::Prefix;
    let full = if ends_with_letter { &search.count_full()? } else { full };
    if *total > 0 && total == full {
        return Ok(None);
    }
    let kind = match state.tier {
        _ if search.query.words.is_empty() => RelaxationKind::NoWords,
        _ if *total == 0 => RelaxationKind::NoMatches,
        MatchTier::Full | MatchTier::Prefix => RelaxationKind::Prefix,
        MatchTier::Corrected => RelaxationKind::Corrected,
        MatchTier::Fuzzy => RelaxationKind::Fuzzy,
        MatchTier::Any => RelaxationKind::Any,
    };
    let typed = QueryText::new(text);
    let unknown = (0..search.query.words.len()).filter(|word| is_unknown(search, *word));
    let as_typed = |word: usize| {
        compound(search, &typed, word).unwrap_or_else(|| typed.as_typed(&search.query.words[word]))
    };
    let mut relaxation = Relaxation {
        kind,
        exact: *full,
        excluded: if *total == 0 { search.count_outside()? } else { 0 },
        ends_with_letter,
        unknown_words: distinct(unknown.map(as_typed)),
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
            relaxation.add_respelled(search, &typed, state, documents)?;
        }
        RelaxationKind::Corrected | RelaxationKind::Fuzzy | RelaxationKind::Any => {
            let clauses = search.approximate_clauses(state.tier, None)?;
            relaxation.compare(search, &typed, &clauses, documents)?;
        }
    }
    // What was corrected is shown, and the same query without the restriction finds what is excluded.
    if !matches!(kind, RelaxationKind::Prefix | RelaxationKind::Corrected) && relaxation.excluded == 0 {
        relaxation.did_you_mean = match did_you_mean(search, &typed)? {
            Some(suggested) if suggested.finds_the_results(search, page)? => None,
            suggested => suggested,
        };
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
        for clause in clauses {
            let mut matches = 0;
            let frequent = frequent_completions(search.snapshot, clause);
            let (word, forms) = (&search.query.words[clause.word], &search.query.forms[clause.word]);
            for document in documents {
                let mut same = std::iter::once(word).chain(forms);
                if same.any(|word| contains(search.snapshot, *document, word)) {
                    matches += 1;
                    continue;
                }
                let Some(to) = variant_in(search.snapshot, *document, clause, &frequent)? else { continue };
                matches += 1;
                let corrected = clause.variants.first().filter(|_| self.kind == RelaxationKind::Corrected);
                let to = corrected.map_or(to, |correction| correction.word.to_owned());
                self.add(typed.as_typed(word).to_owned(), to, clause.completion.is_some());
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

    /// Adds the words that results of a page contain joined, or apart.
    fn add_respelled(
        &mut self,
        search: &Search<'_>,
        typed: &QueryText<'_>,
        state: &CursorState,
        documents: &[RankedDocument],
    ) -> tantivy::Result<()> {
        let words = &search.query.words;
        let respellings = search.respellings(&search.joined_words(), &state.weights, state.variants);
        for Respelling { first, count, clause } in respellings {
            let from: Vec<&str> =
                words[first..first + count].iter().map(|word| typed.as_typed(word)).collect();
            let from = from.join(" ");
            for document in documents {
                let mut variants = clause.variants.iter().map(|variant| variant.word);
                if let Some(joined) = clause.variants.first()
                    && variants.any(|word| contains(search.snapshot, *document, word))
                {
                    self.add(from.clone(), joined.word.to_owned(), false);
                }
                for phrase in &clause.phrases {
                    let segment = &search.snapshot.segments[document.segment as usize];
                    if contains_phrase(segment, phrase, document.document)? {
                        let to: Vec<&str> = phrase.words.iter().map(|(word, _)| *word).collect();
                        self.add(from.clone(), to.join(" "), false);
                    }
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, from: String, to: String, may_complete: bool) {
        let is_completion = may_complete && to.starts_with(&text::fold(&from));
        let replacement = Replacement { from, to, is_completion };
        if self.replacements.len() < MAX_REPLACEMENTS && !self.replacements.contains(&replacement) {
            self.replacements.push(replacement);
        }
    }
}

/// Returns whether no project has the word in any form, nor as a part of a compound that one has.
fn is_unknown(search: &Search<'_>, word: usize) -> bool {
    let occurs = |word: &String| search.snapshot.lexicon.document_frequency(word) > 0;
    let is_joined =
        |term: &Term| term.words.iter().any(|(other, _)| *other == word) && term.joined.iter().any(occurs);
    search.frequency(word) == 0 && !search.query.terms.iter().any(is_joined)
}

/// Returns the compound of which a word is a part and nothing else, as it was typed: who typed “re-use” looks for no “re”.
fn compound<'t>(search: &Search<'_>, typed: &QueryText<'t>, word: usize) -> Option<&'t str> {
    let mut terms =
        search.query.terms.iter().filter(|term| term.words.iter().any(|(other, _)| *other == word));
    let term = terms.next().filter(|term| term.only_word().is_none())?;
    let words: Vec<&str> = term.words.iter().map(|(word, _)| search.query.words[*word].as_str()).collect();
    typed.compound_as_typed(&words).filter(|_| terms.next().is_none())
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
    list.is_some_and(|list| list.contains(document.document))
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
