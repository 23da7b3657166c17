//! Suggestions while a text is typed: names of projects, studios, cities and words of the taste dimensions.

use std::sync::Arc;

use lexical::View;
use schemas::api::site;
use schemas::taste::Dimension;
use serde::Deserialize;
use text::comparison_form;

use super::snapshot::Snapshot;
use super::stemming::WordStemmer;
use super::vocabulary::{Completed, Completion, Vocabulary, completions};

/// A text that what was typed may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The text as it is recorded.
    pub text: String,
    /// What it is.
    pub kind: SuggestionKind,
}

/// What a suggestion is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuggestionKind {
    /// The name of a listed project.
    Project {
        /// Its slug.
        slug: String,
    },
    /// The studio of a listed project.
    Studio,
    /// The city of a listed project.
    City,
    /// A word of a taste dimension in a listed project. If it has several dimensions, the one in which most projects use it.
    Term(Dimension),
}

/// What a suggestion needs of a summary.
#[derive(Deserialize)]
struct Named {
    slug: String,
    name: String,
}

/// Returns at most `limit` suggestions for a text: projects, then studios, cities and words. Projects have at least half of the places, as
/// far as there are any, and the others share the rest by turns.
pub(super) fn suggest(
    model: (&Arc<Snapshot>, &WordStemmer),
    vocabulary: &Vocabulary,
    view: Option<&View>,
    text: &str,
    limit: usize,
) -> Vec<Suggestion> {
    let typed = comparison_form(text);
    let found = completed(model, vocabulary, view, &typed, limit);
    match before_unfinished_and(&typed) {
        Some(before) if found.is_empty() => completed(model, vocabulary, view, before, limit),
        _ => found,
    }
}

/// Returns what was typed before a last word that may become `and`, which is left out once it is finished.
fn before_unfinished_and(typed: &str) -> Option<&str> {
    typed.rsplit_once(' ').filter(|(_, last)| matches!(*last, "a" | "an")).map(|(before, _)| before)
}

/// Returns the suggestions for what was typed, in the form in which names are compared.
fn completed(
    (snapshot, stemmer): (&Arc<Snapshot>, &WordStemmer),
    vocabulary: &Vocabulary,
    view: Option<&View>,
    typed: &str,
    limit: usize,
) -> Vec<Suggestion> {
    if typed.is_empty() || limit == 0 {
        return Vec::new();
    }
    let projects = view.map_or_else(Vec::new, |view| projects(snapshot, view, typed, limit));
    let complete = |kind| {
        let found = completions((snapshot, stemmer), vocabulary, kind, typed, limit);
        found.iter().filter_map(|one| suggestion(kind, one)).collect::<Vec<_>>()
    };
    let others = Completed::ALL.map(complete);
    let found: usize = others.iter().map(Vec::len).sum();
    let room = found.min(limit - projects.len().min(limit - limit / 2));
    let shown = shares(others.each_ref().map(Vec::len), room);
    let mut suggestions: Vec<Suggestion> = projects.into_iter().take(limit - room).collect();
    for (texts, shown) in others.into_iter().zip(shown) {
        suggestions.extend(texts.into_iter().take(shown));
    }
    suggestions
}

fn projects(snapshot: &Snapshot, view: &View, typed: &str, limit: usize) -> Vec<Suggestion> {
    let is_listed = |ordinal| snapshot.columns.contains(ordinal);
    let summaries = view.summaries_by_beginning(typed, limit, is_listed);
    let named = summaries.into_iter().filter_map(|summary| {
        let mut filled = Vec::with_capacity(summary.len() + 1);
        // The site's address in it is not needed. A summary lacks the brace after its last member.
        site::fill(summary, "", &mut filled);
        filled.push(b'}');
        serde_json::from_slice::<Named>(&filled).ok()
    });
    named
        .map(|Named { slug, name }| Suggestion { text: name, kind: SuggestionKind::Project { slug } })
        .collect()
}

fn suggestion(kind: Completed, found: &Completion) -> Option<Suggestion> {
    let kind = match kind {
        Completed::Studio => SuggestionKind::Studio,
        Completed::City => SuggestionKind::City,
        Completed::Term => SuggestionKind::Term(found.dimension?),
    };
    Some(Suggestion { text: found.text.to_string(), kind })
}

/// Divides places among kinds by turns; no kind gets more than it has.
fn shares<const N: usize>(found: [usize; N], mut room: usize) -> [usize; N] {
    let mut shares = [0; N];
    while room > 0 && shares != found {
        for (share, found) in shares.iter_mut().zip(found) {
            if *share < found && room > 0 {
                *share += 1;
                room -= 1;
            }
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_divided_by_turns() {
        assert_eq!(shares([9, 9, 9], 4), [2, 1, 1]);
        assert_eq!(shares([0, 1, 9], 4), [0, 1, 3]);
        assert_eq!(shares([1, 0, 1], 4), [1, 0, 1]);
        assert_eq!(shares([3, 3, 3], 0), [0, 0, 0]);
    }
}
