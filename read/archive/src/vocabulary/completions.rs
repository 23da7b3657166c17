//! Studios, cities and words of the archive by the beginnings of their words, for suggestions while a text is typed.

use std::cmp::Reverse;
use std::sync::Arc;

use schemas::taste::Dimension;
use text::{comparison_form, is_comparison_form};

use super::Vocabulary;
use super::counts::TermCounts;
use super::nearest::is_used;
use crate::columns::texts::value_of;
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
    /// What is compared with what was typed.
    form: Arc<str>,
    /// The dimension of a word in which most projects use it.
    pub(crate) dimension: Option<Dimension>,
}

/// The texts of one kind.
#[derive(Debug)]
struct Texts {
    table: Arc<Table>,
    /// The number of projects with each text of the table.
    projects: Vec<u32>,
}

/// Texts and the beginnings of their words. Sorting them is most of the work, so that vocabularies with the same texts share it.
#[derive(Debug)]
struct Table {
    /// In the order of their forms; of one form, in alphabetical order.
    texts: Vec<Completion>,
    /// The beginnings of all words, in the order of the text from there on.
    words: Vec<WordStart>,
    /// For each text in the order in which they were found: its number and its index in `texts`.
    found: Vec<(u32, u32)>,
}

/// A text that projects have.
#[derive(Debug, Clone, Copy)]
struct Use {
    /// The number of the text in its column, or of the form in the dictionary.
    number: u32,
    projects: u32,
    dimension: Option<Dimension>,
}

/// The beginning of a word.
#[derive(Debug, Clone, Copy)]
struct WordStart {
    /// An index in the texts.
    text: u32,
    /// The offset in its form, in bytes.
    at: u32,
}

/// A text that has what was typed, in the order of completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    /// Whether it has it from a later word on than the first.
    is_later: bool,
    projects: Reverse<u32>,
    /// An index in the texts, which are in the order of their forms.
    text: u32,
}

/// The texts of all kinds in one snapshot.
#[derive(Debug)]
pub(super) struct Completions([Texts; Completed::ALL.len()]);

impl Completions {
    /// Completes from a snapshot and the use of words in it. What is as in an `earlier` snapshot is shared with it.
    pub(super) fn of(snapshot: &Snapshot, counts: &TermCounts, earlier: Option<&Completions>) -> Completions {
        let Snapshot { columns, dictionary, .. } = snapshot;
        Completions(Completed::ALL.map(|kind| {
            let earlier = earlier.map(|earlier| &earlier.0[kind as usize]);
            match kind.column() {
                Some(column) => {
                    let texts = columns.texts(column);
                    let shared = |number| {
                        let (text, value) = texts.shared(number);
                        let form = typed_form(&text, value);
                        (text, form)
                    };
                    Texts::of(&texts_of(columns, column), |number| texts.text(number), shared, earlier)
                }
                None => {
                    let form = |number| dictionary.form(number);
                    let folded = |number| (form(number).into(), comparison_form(form(number)).into());
                    Texts::of(&words_of(dictionary, counts), form, folded, earlier)
                }
            }
        }))
    }

    /// Returns the approximate memory in use, in bytes. The texts of studios and cities are shared with the columns.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |one: &Texts| {
            let table = &one.table;
            table.texts.capacity() * size_of::<Completion>()
                + table.words.capacity() * size_of::<WordStart>()
                + table.found.capacity() * size_of::<(u32, u32)>()
                + one.projects.capacity() * size_of::<u32>()
        };
        self.0.iter().map(bytes).sum()
    }
}

/// Returns at most `limit` texts of a kind that a listed project has and which begin with `typed` or have it from a later word on: those
/// that begin with it first, then the most used, then in alphabetical order. `typed` is in the form in which names are compared and not
/// empty. The word starts in the range are read, and the number of projects of each: of the studios and cities of 1,000,000 projects a
/// few milliseconds at most.
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
                Some(column) => has_value(&snapshot.columns, column, &value_of(&one.text)),
                None => one.dimension.is_some_and(|of| is_used(snapshot, stemmer, of, &one.text)),
            }
    };
    found.into_iter().filter(is_listed).take(limit).cloned().collect()
}

impl Texts {
    /// Makes a table of the texts that are in use, or shares the `earlier` one if it has the same texts. `text` returns the text of a
    /// number, `shared` with its form.
    fn of<'t>(
        used: &[Use],
        text: impl Fn(u32) -> &'t str,
        shared: impl Fn(u32) -> (Arc<str>, Arc<str>),
        earlier: Option<&Texts>,
    ) -> Texts {
        let table = match earlier.filter(|earlier| earlier.table.is_of(used, text)) {
            Some(earlier) => Arc::clone(&earlier.table),
            None => Arc::new(Table::of(used, shared)),
        };
        let mut projects = vec![0; table.texts.len()];
        for (one, (_, index)) in used.iter().zip(&table.found) {
            projects[*index as usize] = one.projects;
        }
        Texts { table, projects }
    }

    fn beginning_with(&self, typed: &str, limit: usize) -> Vec<&Completion> {
        let Table { texts, words, .. } = &*self.table;
        let rest = |start: &WordStart| start.in_texts(texts);
        let first = words.partition_point(|start| rest(start) < typed);
        let more = words[first..].partition_point(|start| rest(start).starts_with(typed));
        // A text that begins with `typed` may have it again later: its first place counts.
        let mut best: Vec<Found> = Vec::with_capacity(limit + 1);
        for start in &words[first..first + more] {
            let found = Found::at(start, self.projects[start.text as usize]);
            if best.len() == limit && best.last().is_none_or(|last| *last <= found) {
                continue;
            }
            match best.iter().position(|other| other.text == found.text) {
                Some(at) if best[at] <= found => continue,
                Some(at) => drop(best.remove(at)),
                None => {}
            }
            best.insert(best.partition_point(|other| *other < found), found);
            best.truncate(limit);
        }
        best.into_iter().map(|found| &texts[found.text as usize]).collect()
    }
}

impl Found {
    fn at(start: &WordStart, projects: u32) -> Found {
        Found { is_later: start.at > 0, projects: Reverse(projects), text: start.text }
    }
}

impl Table {
    fn of(used: &[Use], shared: impl Fn(u32) -> (Arc<str>, Arc<str>)) -> Table {
        let completion = |(at, one): (u32, &Use)| {
            let (text, form) = shared(one.number);
            (Completion { text, form, dimension: one.dimension }, at)
        };
        let mut sorted: Vec<(Completion, u32)> = (0..).zip(used).map(completion).collect();
        sorted.sort_unstable_by(|(a, at), (b, other)| {
            a.form.cmp(&b.form).then_with(|| a.text.cmp(&b.text)).then(at.cmp(other))
        });
        let mut found: Vec<(u32, u32)> = used.iter().map(|one| (one.number, 0)).collect();
        for (index, (_, at)) in (0..).zip(&sorted) {
            found[*at as usize].1 = index;
        }
        let texts: Vec<Completion> = sorted.into_iter().map(|(one, _)| one).collect();
        // Sorted by their first bytes as a number, which is several times faster than by the texts.
        let mut words: Vec<(u64, WordStart)> = Vec::with_capacity(texts.len() * 2);
        for (text, one) in (0..).zip(&texts) {
            let ends = one.form.match_indices(' ').map(|(blank, _)| blank + 1);
            let starts = std::iter::once(0).chain(ends).map(|at| WordStart { text, at: at as u32 });
            words.extend(starts.map(|start| (first_bytes(start.in_texts(&texts)), start)));
        }
        words.sort_unstable_by(|(a, start), (b, other)| {
            let rest = || start.in_texts(&texts).cmp(other.in_texts(&texts));
            a.cmp(b).then_with(rest).then(start.text.cmp(&other.text))
        });
        let words = words.into_iter().map(|(_, start)| start).collect();
        Table { texts, words, found }
    }

    /// Returns whether it is the table of these texts.
    fn is_of<'t>(&self, used: &[Use], text: impl Fn(u32) -> &'t str) -> bool {
        let is_same = |(one, (number, index)): (&Use, &(u32, u32))| {
            let known = &self.texts[*index as usize];
            one.number == *number && one.dimension == known.dimension && *known.text == *text(*number)
        };
        used.len() == self.found.len() && used.iter().zip(&self.found).all(is_same)
    }
}

impl WordStart {
    /// Returns the form from the word on.
    fn in_texts(self, texts: &[Completion]) -> &str {
        &texts[self.text as usize].form[self.at as usize..]
    }
}

/// Returns the form in which a text is compared with what was typed: that of its value, but without symbols and with long words cut, as
/// what was typed is. The value itself if there are no words.
fn typed_form(text: &str, value: Arc<str>) -> Arc<str> {
    if is_comparison_form(&value) {
        return value;
    }
    let form = comparison_form(text);
    if form.is_empty() { value } else { form.into() }
}

/// Returns the first eight bytes as a number, in the order of the texts.
fn first_bytes(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(8);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// Returns the values of a column, each by its most frequent spelling, of several the first in alphabetical order.
fn texts_of(columns: &Columns, column: TextColumn) -> Vec<Use> {
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
    used.map(|(projects, number)| Use { number, projects, dimension: None }).collect()
}

/// Returns the words of all dimensions. A word in several dimensions is that of the dimension in which most projects use it.
fn words_of(dictionary: &Dictionary, counts: &TermCounts) -> Vec<Use> {
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
    used.map(|(number, (projects, dimension))| Use { number, projects, dimension }).collect()
}

/// Returns whether a listed project has a value.
fn has_value(columns: &Columns, column: TextColumn, value: &str) -> bool {
    let texts = columns.texts(column);
    texts.spellings(value).any(|number| columns.chunks().any(|chunk| chunk.texts(column).contains(&number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str], projects: &[u32], earlier: Option<&Texts>) -> Texts {
        let one = |(number, projects): (u32, &u32)| Use { number, projects: *projects, dimension: None };
        let used: Vec<Use> = (0..).zip(projects).map(one).collect();
        let name = |number: u32| names[number as usize];
        Texts::of(&used, name, |number| (name(number).into(), comparison_form(name(number)).into()), earlier)
    }

    fn found<'t>(texts: &'t Texts, typed: &str) -> Vec<&'t str> {
        texts.beginning_with(typed, 9).into_iter().map(|one| &*one.text).collect()
    }

    #[test]
    fn texts_that_begin_with_what_was_typed_come_first_then_the_most_used() {
        let names = ["Studio Ulm", "Ulm and Ulm", "Ulmer & Co", "Büro Ulm", "Co of Ulm"];
        let texts = texts(&names, &[9, 1, 2, 9, 3], None);
        assert_eq!(
            found(&texts, "ulm"),
            ["Ulmer & Co", "Ulm and Ulm", "Büro Ulm", "Studio Ulm", "Co of Ulm"]
        );
        assert_eq!([found(&texts, "ulm ulm"), found(&texts, "ulmer c")], [["Ulm and Ulm"], ["Ulmer & Co"]]);
        let two = |typed| -> Vec<&str> {
            texts.beginning_with(typed, 2).into_iter().map(|one| &*one.text).collect()
        };
        assert_eq!([two("ulm"), two("co")], [["Ulmer & Co", "Ulm and Ulm"], ["Co of Ulm", "Ulmer & Co"]]);
    }

    #[test]
    fn texts_that_differ_in_symbols_are_suggested_apart_in_alphabetical_order() {
        let texts = texts(&["C++ Büro", "C", "C#", "Büro C++"], &[1, 1, 1, 1], None);
        assert_eq!(found(&texts, "c"), ["C", "C#", "C++ Büro", "Büro C++"]);
        assert_eq!(found(&texts, "c buro"), ["C++ Büro"]);
        assert_eq!(&*typed_form("C++ Büro", "c++ buro".into()), "c buro");
        assert_eq!(&*typed_form("***", "***".into()), "***");
        let value: Arc<str> = "alto co".into();
        assert!(Arc::ptr_eq(&typed_form("Ålto & Co", Arc::clone(&value)), &value), "shared with the column");
    }

    #[test]
    fn the_same_texts_share_a_table_and_differ_in_their_numbers() {
        let names = ["Studio Ulm", "Büro Ülm & Co", "Alto"];
        let first = texts(&names, &[1, 2, 1], None);
        assert_eq!(found(&first, "ulm"), ["Büro Ülm & Co", "Studio Ulm"]);
        let second = texts(&names, &[3, 2, 1], Some(&first));
        assert_eq!(found(&second, "ulm"), ["Studio Ulm", "Büro Ülm & Co"]);
        assert!(Arc::ptr_eq(&first.table, &second.table));
        let third = texts(&["Studio Ulm", "Ulm and Co", "Alto"], &[3, 2, 1], Some(&second));
        assert_eq!(found(&third, "ulm"), ["Ulm and Co", "Studio Ulm"]);
        let fourth = texts(&names, &[3, 2], Some(&second));
        assert_eq!(
            (found(&fourth, "ulm"), found(&fourth, "alto")),
            (vec!["Studio Ulm", "Büro Ülm & Co"], vec![])
        );
    }
}
