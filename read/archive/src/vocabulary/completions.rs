//! Studios, cities and words of the archive by the beginnings of their words, for suggestions while a text is typed.

use std::sync::Arc;

use schemas::taste::Dimension;
use text::fold;

use super::Vocabulary;
use super::counts::TermCounts;
use super::nearest::is_used;
use crate::columns::{Columns, TextColumn};
use crate::dictionary::Dictionary;
use crate::snapshot::Snapshot;
use crate::stemming::WordStemmer;

/// What is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completed {
    Studio = 0,
    City = 1,
    Term = 2,
}

impl Completed {
    pub(crate) const ALL: [Completed; 3] = [Completed::Studio, Completed::City, Completed::Term];

    fn column(self) -> Option<TextColumn> {
        match self {
            Completed::Studio => Some(TextColumn::Studio),
            Completed::City => Some(TextColumn::City),
            Completed::Term => None,
        }
    }
}

/// A text that is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The most frequent of its spellings, or forms; of several the first in alphabetical order.
    pub(crate) text: Arc<str>,
    /// What it is compared by.
    value: Arc<str>,
    /// The dimension of a word in which most projects use it.
    pub(crate) dimension: Option<Dimension>,
}

/// The texts of one kind.
#[derive(Debug, Default)]
struct Texts {
    /// In the order of their values.
    texts: Vec<Completion>,
    /// The number of projects with each text.
    projects: Vec<u32>,
    /// The beginnings of all words, in the order of the text from there on.
    words: Vec<WordStart>,
}

/// The beginning of a word.
#[derive(Debug, Clone, Copy)]
struct WordStart {
    /// An index in the texts.
    text: u32,
    /// The offset in its value, in bytes.
    at: u32,
}

/// The texts of all kinds in one snapshot.
#[derive(Debug)]
pub(super) struct Completions([Texts; Completed::ALL.len()]);

impl Completions {
    pub(super) fn of(snapshot: &Snapshot, counts: &TermCounts) -> Completions {
        Completions(Completed::ALL.map(|kind| match kind.column() {
            Some(column) => Texts::of(texts_of(&snapshot.columns, column)),
            None => Texts::of(words_of(&snapshot.dictionary, counts)),
        }))
    }

    /// Returns the approximate memory in use, in bytes. The texts of studios and cities are shared with the columns.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |one: &Texts| {
            let texts = one.texts.capacity() * (size_of::<Completion>() + size_of::<u32>());
            texts + one.words.capacity() * size_of::<WordStart>()
        };
        self.0.iter().map(bytes).sum()
    }
}

/// Returns at most `limit` texts of a kind that a listed project has and of which a word begins with `typed`, or several words from
/// one on: the most used first, then in alphabetical order. `typed` is folded and not empty.
pub(crate) fn completions(
    (snapshot, stemmer): (&Arc<Snapshot>, &WordStemmer),
    vocabulary: &Vocabulary,
    kind: Completed,
    typed: &str,
    limit: usize,
) -> Vec<Completion> {
    let texts = &vocabulary.completions().0[kind as usize];
    // The vocabulary may be older than the snapshot: what is in no listed project any more is left out.
    let is_current = Arc::ptr_eq(&vocabulary.snapshot, snapshot);
    let found = texts.beginning_with(typed, if is_current { limit } else { 2 * limit });
    let is_listed = |one: &&Completion| {
        is_current
            || match kind.column() {
                Some(column) => has_value(&snapshot.columns, column, &one.value),
                None => one.dimension.is_some_and(|of| is_used(snapshot, stemmer, of, &one.text)),
            }
    };
    found.into_iter().filter(is_listed).take(limit).cloned().collect()
}

impl Texts {
    /// Sorts texts, each with its number of projects.
    fn of(mut found: Vec<(Completion, u32)>) -> Texts {
        found.sort_unstable_by(|(a, _), (b, _)| a.value.cmp(&b.value));
        let (texts, projects): (Vec<Completion>, Vec<u32>) = found.into_iter().unzip();
        // Sorted by their first bytes as a number, which is several times faster than by the texts.
        let mut words: Vec<(u64, WordStart)> = Vec::with_capacity(texts.len() * 2);
        for (text, one) in (0..).zip(&texts) {
            let ends = one.value.match_indices(' ').map(|(blank, _)| blank + 1);
            let starts = std::iter::once(0).chain(ends).map(|at| WordStart { text, at: at as u32 });
            words.extend(starts.map(|start| (first_bytes(start.in_texts(&texts)), start)));
        }
        words.sort_unstable_by(|(a, start), (b, other)| {
            let rest = || start.in_texts(&texts).cmp(other.in_texts(&texts));
            a.cmp(b).then_with(rest).then(start.text.cmp(&other.text))
        });
        let words = words.into_iter().map(|(_, start)| start).collect();
        Texts { texts, projects, words }
    }

    fn beginning_with(&self, typed: &str, limit: usize) -> Vec<&Completion> {
        let rest = |start: &WordStart| start.in_texts(&self.texts);
        let first = self.words.partition_point(|start| rest(start) < typed);
        let more = self.words[first..].partition_point(|start| rest(start).starts_with(typed));
        // Texts are in the order of their values, so that a lower index comes first.
        let mut best: Vec<(u32, u32)> = Vec::with_capacity(limit + 1);
        for WordStart { text, .. } in &self.words[first..first + more] {
            let projects = self.projects[*text as usize];
            let is_before = |other: &(u32, u32)| (other.0, *text) > (projects, other.1);
            if best.len() == limit && best.last().is_some_and(is_before) {
                continue;
            }
            let at = best.partition_point(is_before);
            if best.get(at) != Some(&(projects, *text)) {
                best.insert(at, (projects, *text));
                best.truncate(limit);
            }
        }
        best.into_iter().map(|(_, text)| &self.texts[text as usize]).collect()
    }
}

impl WordStart {
    /// Returns the value from the word on.
    fn in_texts(self, texts: &[Completion]) -> &str {
        &texts[self.text as usize].value[self.at as usize..]
    }
}

/// Returns the first eight bytes as a number, in the order of the texts.
fn first_bytes(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(8);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// Returns the values of a column, each with its number of projects.
fn texts_of(columns: &Columns, column: TextColumn) -> Vec<(Completion, u32)> {
    let texts = columns.texts(column);
    let mut spellings = vec![0_u32; texts.count() + 1];
    for chunk in columns.chunks() {
        chunk.texts(column).iter().for_each(|number| spellings[*number as usize] += 1);
    }
    // By the first spelling of a value: the number of projects, and the most frequent spelling.
    let mut values = vec![(0_u32, 0_u32); texts.count() + 1];
    for (number, count) in (0..).zip(&spellings).filter(|(number, count)| *number > 0 && **count > 0) {
        let (projects, best) = &mut values[texts.first_of(number) as usize];
        *projects += count;
        let most = spellings[*best as usize];
        if *best == 0 || *count > most || *count == most && texts.text(number) < texts.text(*best) {
            *best = number;
        }
    }
    let used = values.into_iter().filter(|(_, best)| *best > 0);
    used.map(|(projects, best)| {
        let (text, value) = texts.shared(best);
        (Completion { text, value, dimension: None }, projects)
    })
    .collect()
}

/// Returns the words of all dimensions. A word in several dimensions is that of the dimension in which most projects use it.
fn words_of(dictionary: &Dictionary, counts: &TermCounts) -> Vec<(Completion, u32)> {
    let mut best: Vec<(u32, Option<Dimension>)> = vec![(0, None); dictionary.forms()];
    for dimension in Dimension::ALL {
        for term in counts.of_dimension(dimension) {
            let (projects, of) = &mut best[term.form as usize];
            if term.projects > *projects {
                (*projects, *of) = (term.projects, Some(dimension));
            }
        }
    }
    let used = (0..).zip(best).filter(|(_, (projects, _))| *projects > 0);
    used.map(|(form, (projects, dimension))| {
        let text = dictionary.form(form);
        (Completion { text: text.into(), value: fold(text).into(), dimension }, projects)
    })
    .collect()
}

/// Returns whether a listed project has a value.
fn has_value(columns: &Columns, column: TextColumn, value: &str) -> bool {
    let texts = columns.texts(column);
    texts.spellings(value).any(|number| columns.chunks().any(|chunk| chunk.texts(column).contains(&number)))
}
