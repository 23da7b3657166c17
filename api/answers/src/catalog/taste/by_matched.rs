//! How many projects match how many of the requested dimensions.

use read::archive::MatchMode;
use serde::{Serialize, Serializer};

/// The numbers in words, from one: there are six dimensions.
const NUMBERS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

/// The number of projects that match exactly one dimension, two, and so on up to the number of requested ones, over all pages; as the member
/// `by_matched` of an answer, which begins with all of them.
#[derive(Debug, Clone, Copy)]
pub struct ByMatched<'a>(pub(super) &'a [u64]);

impl ByMatched<'_> {
    /// Returns that none of the projects has all of several requested dimensions, and how many have the most; `None` if one has all.
    pub(super) fn note(self, matching: MatchMode, is_filtered: bool) -> Option<String> {
        let ByMatched(counts) = self;
        if counts.len() < 2 || counts.last().is_some_and(|all| *all > 0) {
            return None;
        }
        let no_project = if is_filtered { "With these filters no project" } else { "No project" };
        let all = match counts.len() {
            2 => "both".to_owned(),
            requested => format!("all {}", in_words(requested)),
        };
        let Some(most) = counts.iter().rposition(|count| *count > 0) else {
            return Some(format!("{no_project} has {all}, nor one of them."));
        };
        let nearest = match counts.get(most).copied().unwrap_or_default() {
            1 => format!("the nearest is one that has {}", in_words(most + 1)),
            many => format!("the nearest are {many} that have {}", in_words(most + 1)),
        };
        let shown_by = if matching == MatchMode::All { ", which match=any shows" } else { "" };
        Some(format!("{no_project} has {all}; {nearest}{shown_by}."))
    }
}

impl Serialize for ByMatched<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().enumerate().rev().map(|(index, count)| (index + 1, count)))
    }
}

/// Returns a number of dimensions in words.
fn in_words(number: usize) -> String {
    let name = number.checked_sub(1).and_then(|index| NUMBERS.get(index));
    name.map_or_else(|| number.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_begin_with_all_requested_dimensions() {
        let written = |counts: &[u64]| serde_json::to_string(&ByMatched(counts)).unwrap();
        assert_eq!(written(&[110, 15, 0]), r#"{"3":0,"2":15,"1":110}"#);
        assert_eq!(written(&[7]), r#"{"1":7}"#);
        assert_eq!(written(&[]), "{}");
    }

    #[test]
    fn it_is_said_that_no_project_has_all_and_what_is_nearest() {
        let any = |counts: &[u64]| ByMatched(counts).note(MatchMode::Any, false);
        assert_eq!([any(&[0]), any(&[]), any(&[9, 1]), any(&[0, 0, 1])], [None, None, None, None]);
        for (counts, expected) in [
            (&[110, 15, 0][..], "No project has all three; the nearest are 15 that have two."),
            (&[110, 0, 1, 0], "No project has all four; the nearest is one that has three."),
            (&[110, 0], "No project has both; the nearest are 110 that have one."),
            (&[1, 0, 0, 0, 0, 0], "No project has all six; the nearest is one that has one."),
            (&[0, 0], "No project has both, nor one of them."),
            (&[0, 0, 0, 0, 0], "No project has all five, nor one of them."),
        ] {
            assert_eq!(any(counts).as_deref(), Some(expected));
        }
        let all = |is_filtered| ByMatched(&[110, 15, 0]).note(MatchMode::All, is_filtered);
        assert_eq!(
            all(false).as_deref(),
            Some("No project has all three; the nearest are 15 that have two, which match=any shows.")
        );
        assert_eq!(
            all(true).as_deref(),
            Some(
                "With these filters no project has all three; the nearest are 15 that have two, which match=any shows."
            )
        );
    }
}
