//! Query expansion for the fuzzy and the any tier: which words of the index a typed word may stand for.
//!
//! A word of six letters or more may be misspelled, and one of four or five beside another that occurs as it was typed: short names
//! are near to too many words. It is never corrected to a frequent word, which more than one project of twenty contains, nor
//! to others where a frequent word is as near: whether the frequent one was meant cannot be decided, and it would match a large part of
//! the catalog. A word that occurs is not taken for one in which only the first letter is another. Short words, frequent ones and stop
//! words are not significant. Numbers and words in quotes are never corrected, and characters of scripts without spaces are always
//! required.

use text::is_stop_word;

use super::{FORM_WEIGHT, MatchTier};
use crate::index::lexicon::{Lexicon, SimilarWord};
use crate::index::snapshot::Snapshot;
use crate::matching::{Clause, ClauseRole, Completion, CompletionWeight, Variant};
use crate::query::Query;
use crate::ranking::bm25::Bm25Weights;

/// The most corrections of a word that does not occur, and of one that does.
const MAX_CORRECTIONS: usize = 16;
const MAX_CORRECTIONS_OF_KNOWN: usize = 8;
/// The shortest word, in characters, that may contain one typo beside a word that occurs as it was typed; that may contain one in
/// any case; and that may contain two. Words shorter than the first are not significant.
const MIN_LENGTH_ONE_TYPO: usize = 4;
const MIN_LENGTH_ONE_TYPO_ALONE: usize = 6;
const MIN_LENGTH_TWO_TYPOS: usize = 8;
/// The weight of a variant by its edit distance.
const WEIGHT_BY_DISTANCE: [f32; 3] = [1.0, 0.7, 0.4];
/// The weight of a completion of the last word.
const COMPLETION_WEIGHT: f32 = 0.6;

/// Returns a clause for each word of the query; one may have no variants. In the any tier, words that occur are not corrected.
/// `weights` are those of the page before.
pub(super) fn clauses<'q>(
    snapshot: &'q Snapshot,
    query: &'q Query,
    tier: MatchTier,
    weights: Option<&Bm25Weights>,
) -> Vec<Clause<'q>> {
    let mut clauses = Vec::with_capacity(query.words.len());
    let mut frequencies = Vec::with_capacity(query.words.len());
    for index in query.required_words() {
        let word = &query.words[index];
        let is_prefix = query.last_is_prefix && index + 1 == query.words.len();
        let occurs = |word: &String| snapshot.lexicon.document_frequency(word) > 0;
        let may_correct = tier == MatchTier::Fuzzy || !occurs(word) && !query.forms[index].iter().any(occurs);
        let is_corrected = may_correct && !query.is_verbatim(index);
        let corrections = if is_corrected { corrections(&snapshot.lexicon, query, word) } else { Vec::new() };
        let expansion = Expansion::new(snapshot, (word, &query.forms[index]), corrections, is_prefix);
        let idf = weights.and_then(|weights| weights.idfs().get(index).copied());
        let idf = idf.unwrap_or_else(|| snapshot.idf(expansion.document_frequency));
        frequencies.push(expansion.known_frequency);
        let Expansion { variants, completion, role, .. } = expansion;
        clauses.push(Clause { variants, completion, role, ..Clause::new(index, idf) });
    }
    if tier == MatchTier::Any {
        leave_rarer_of_two(&mut clauses, &frequencies);
    }
    clauses
}

/// Of a query of two significant words that both occur, but not together, leaves the rarer one significant, so that it is enough by
/// itself, without longer words that begin with it.
fn leave_rarer_of_two(clauses: &mut [Clause<'_>], frequencies: &[u32]) {
    let ([first, second], [of_first, of_second]) = (clauses, frequencies) else { return };
    let are_significant = first.role.is_significant && second.role.is_significant;
    if are_significant && *of_first > 0 && *of_second > 0 {
        let (rarer, other) = if of_first > of_second { (second, first) } else { (first, second) };
        rarer.completion = None;
        other.role.is_significant = false;
    }
}

/// The variants of one word.
struct Expansion<'q> {
    variants: Vec<Variant<'q>>,
    /// The words that begin with the last word, but for frequent ones.
    completion: Option<Completion<'q>>,
    /// The sum of the document frequencies of the variants.
    document_frequency: u32,
    /// That of the word and its forms.
    known_frequency: u32,
    role: ClauseRole,
}

impl<'q> Expansion<'q> {
    fn new(
        snapshot: &'q Snapshot,
        (word, forms): (&'q str, &'q [String]),
        mut corrections: Vec<SimilarWord<'q>>,
        is_prefix: bool,
    ) -> Expansion<'q> {
        let (lexicon, frequent_above) = (&snapshot.lexicon, snapshot.frequent_above());
        let own_frequency = lexicon.document_frequency(word);
        let forms = forms.iter().map(|form| (form.as_str(), lexicon.document_frequency(form)));
        let forms: Vec<(&str, u32)> = forms.filter(|(_, frequency)| *frequency > 0).collect();
        let known_frequency = forms.iter().fold(own_frequency, |sum, (_, other)| sum.saturating_add(*other));
        let (is_literal, is_short) = (is_literal(word), is_short(word));
        let says_something =
            if is_literal { is_long_literal(word) } else { !is_short && !is_stop_word(word) };
        let is_significant = known_frequency <= frequent_above && says_something;
        let role = ClauseRole { is_significant, is_required: text::is_character(word) };
        let mut expansion = Expansion {
            variants: Vec::new(),
            completion: None,
            document_frequency: 0,
            known_frequency,
            role,
        };
        if own_frequency > 0 {
            expansion.add(word, own_frequency, 1.0);
        }
        for (form, document_frequency) in forms {
            expansion.add(form, document_frequency, FORM_WEIGHT);
        }
        if known_frequency > 0 {
            corrections.retain(|found| without_first(found.word) != without_first(word));
        }
        if !is_literal && role.is_significant {
            let is_frequent = |found: &SimilarWord<'_>| found.document_frequency > frequent_above;
            if corrections.iter().any(|found| is_frequent(found) && !is_no_correction(found.word)) {
                // Most likely the frequent word was meant, which is not significant.
                expansion.role.is_significant = known_frequency > 0;
            } else if !corrections.iter().any(is_frequent) {
                let limit = if known_frequency > 0 { MAX_CORRECTIONS_OF_KNOWN } else { MAX_CORRECTIONS };
                for found in corrections.iter().filter(|found| !is_no_correction(found.word)).take(limit) {
                    if expansion.variants.iter().any(|variant| variant.word == found.word) {
                        continue;
                    }
                    let weight = WEIGHT_BY_DISTANCE[found.distance as usize];
                    expansion.add(found.word, found.document_frequency, weight);
                }
            }
        }
        if is_prefix && !is_literal && role.is_significant | is_short {
            expansion.complete(lexicon, word, frequent_above);
        }
        expansion
    }

    /// Adds the words that begin with `prefix` and are not frequent.
    fn complete(&mut self, lexicon: &'q Lexicon, prefix: &'q str, frequent_above: u32) {
        let (mut frequency, mut except) = (0_u32, Vec::new());
        lexicon.for_each_with_prefix(prefix, |word, document_frequency| {
            if document_frequency > frequent_above {
                except.push(word);
            } else if word.len() > prefix.len() {
                frequency = frequency.saturating_add(document_frequency);
            }
        });
        if frequency > 0 {
            self.document_frequency = self.document_frequency.saturating_add(frequency);
            let weight = CompletionWeight::Fixed(COMPLETION_WEIGHT);
            self.completion = Some(Completion { prefix, includes_prefix: false, except, weight });
        }
    }

    fn add(&mut self, word: &'q str, document_frequency: u32, weight: f32) {
        self.document_frequency = self.document_frequency.saturating_add(document_frequency);
        self.variants.push(Variant { word, weight });
    }
}

/// Returns the word without its first letter.
fn without_first(word: &str) -> &str {
    let mut letters = word.chars();
    letters.next();
    letters.as_str()
}

/// Returns the words of the index that a word of the query may be a misspelling of: the nearest first, then the most frequent.
fn corrections<'l>(lexicon: &'l Lexicon, query: &Query, word: &str) -> Vec<SimilarWord<'l>> {
    let occurs = |other: &String| other != word && !is_short(other) && lexicon.document_frequency(other) > 0;
    let needs_another = word.chars().count() < MIN_LENGTH_ONE_TYPO_ALONE;
    if needs_another && !query.words.iter().any(occurs) { Vec::new() } else { similar_words(lexicon, word) }
}

/// Returns the words of the index that are spelled almost like a word, whatever the rest of the query: the nearest first, then the
/// most frequent.
pub(super) fn similar_words<'l>(lexicon: &'l Lexicon, word: &str) -> Vec<SimilarWord<'l>> {
    let max_edits = match word.chars().count() {
        _ if is_literal(word) => 0,
        length if length >= MIN_LENGTH_TWO_TYPOS && lexicon.document_frequency(word) == 0 => 2,
        length if length >= MIN_LENGTH_ONE_TYPO => 1,
        _ => 0,
    };
    if max_edits == 0 { Vec::new() } else { lexicon.nearest(word, max_edits, MAX_CORRECTIONS) }
}

/// Returns whether the word is never corrected: a number, or a character of a script without spaces.
pub(super) fn is_literal(word: &str) -> bool {
    word.contains(char::is_numeric) || text::is_character(word)
}

/// Returns whether a number is long enough to be significant, as a year is; a character always is.
fn is_long_literal(literal: &str) -> bool {
    text::is_character(literal) || literal.chars().count() >= 3
}

/// Returns whether the word is too short to be corrected, and to be significant.
pub(super) fn is_short(word: &str) -> bool {
    word.chars().count() < MIN_LENGTH_ONE_TYPO
}

/// Returns whether no word is corrected to this one.
pub(super) fn is_no_correction(word: &str) -> bool {
    is_short(word) || is_literal(word) || is_stop_word(word)
}
