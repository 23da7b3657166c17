//! The headings of results: they name the words that projects lack, and count no other projects with them.

use read::search::{Relaxation, RelaxationKind};
use text::is_stop_word;

use crate::words::{capitalised, grouped};

/// Projects of a page that match equally many of the requested words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The heading; `None` for the projects that match all.
    pub(super) heading: Option<String>,
    /// The number of projects on the page.
    pub(super) shown: usize,
}

/// Returns, for example, `Oak and calm: 16`, or that no project has both. `counts` has the number of projects by the number of matching
/// dimensions, from one.
pub(super) fn of_all(words: &[&str], counts: &[u64]) -> String {
    let all = counts.last().copied().unwrap_or_default();
    match (all, words.len()) {
        (0, 2) => format!("No project has both {}", joined(words, "and")),
        (0, _) => format!("No project has all of {}", joined(words, "and")),
        (all, _) => format!("{}: {}", capitalised(&joined(words, "and")), grouped(all)),
    }
}

/// Returns, for example, `Oak or calm: 356`.
pub(super) fn of_any(words: &[&str], total: u64) -> String {
    format!("{}: {}", capitalised(&joined(words, "or")), grouped(total))
}

/// Divides projects in the order of their matches, most first, into sections with headings such as `One of the two: 340`.
pub(super) fn sections(matched: impl Iterator<Item = usize>, counts: &[u64]) -> Vec<Section> {
    let mut sections: Vec<(usize, Section)> = Vec::new();
    for matches in matched {
        match sections.last_mut() {
            Some((known, section)) if *known == matches => section.shown += 1,
            _ => {
                let count = matches.checked_sub(1).and_then(|index| counts.get(index)).copied();
                let heading = count.filter(|_| matches < counts.len()).map(|count| {
                    let some = capitalised(&in_words(matches));
                    format!("{some} of the {}: {}", in_words(counts.len()), grouped(count))
                });
                sections.push((matches, Section { heading, shown: 1 }));
            }
        }
    }
    sections.into_iter().map(|(_, section)| section).collect()
}

/// Returns the heading of a search whose results lack words, such as `Without “timber”: 6`; `None` if they have all.
pub(super) fn of_relaxed(relaxation: &Relaxation, total: u64) -> Option<String> {
    let lacks = relaxation.kind == RelaxationKind::Any && total > 0;
    let unmatched: Vec<&str> = relaxation.unmatched_words.iter().map(String::as_str).collect();
    lacks.then(|| match unmatched.as_slice() {
        [] => format!("Most of the words: {}", grouped(total)),
        words => without(words, total),
    })
}

/// Returns the heading of the results of a suggestion: what they lack if the suggestion leaves words out, otherwise its words.
pub(super) fn of_suggestion(typed: &str, words: &str, total: u64) -> String {
    let folded = words.to_lowercase();
    let kept: Vec<&str> = folded.split_whitespace().collect();
    let typed = typed.to_lowercase();
    let (has, lacks): (Vec<&str>, Vec<&str>) = typed.split_whitespace().partition(|word| kept.contains(word));
    let lacks: Vec<&str> = lacks.into_iter().filter(|word| !is_stop_word(word)).collect();
    match lacks.is_empty() || has.len() < kept.len() {
        true => format!("“{words}”: {}", grouped(total)),
        false => without(&lacks, total),
    }
}

fn without(words: &[&str], total: u64) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("“{word}”")).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    format!("Without {}: {}", joined(&quoted, "and"), grouped(total))
}

/// Returns, for example, `oak, calm and dusk`.
fn joined(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// Returns a number of dimensions, which are six, in words.
fn in_words(number: usize) -> String {
    let names = ["one", "two", "three", "four", "five", "six"];
    number
        .checked_sub(1)
        .and_then(|index| names.get(index))
        .map_or_else(|| number.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_with_all_words_are_counted_apart_from_the_others() {
        assert_eq!(of_all(&["oak", "calm"], &[340, 16]), "Oak and calm: 16");
        assert_eq!(of_all(&["oak", "calm"], &[340, 0]), "No project has both oak and calm");
        assert_eq!(
            of_all(&["oak", "calm", "dusk"], &[340, 2, 0]),
            "No project has all of oak, calm and dusk"
        );
        assert_eq!(of_any(&["oak", "calm"], 1_356), "Oak or calm: 1,356");
        let section = |heading: Option<&str>, shown| Section { heading: heading.map(str::to_owned), shown };
        assert_eq!(
            sections([2, 2, 1].into_iter(), &[340, 2]),
            [section(None, 2), section(Some("One of the two: 340"), 1)]
        );
        assert_eq!(
            sections([2, 1, 1].into_iter(), &[2, 1, 0]),
            [section(Some("Two of the three: 1"), 1), section(Some("One of the three: 2"), 2)]
        );
        assert_eq!(sections(std::iter::empty(), &[0, 0]), []);
    }

    #[test]
    fn a_suggestion_that_leaves_words_out_names_them() {
        assert_eq!(of_suggestion("Timber house in Japan", "house japan", 7), "Without “timber”: 7");
        assert_eq!(of_suggestion("red timber house", "house", 7), "Without “red” and “timber”: 7");
        assert_eq!(of_suggestion("musuem", "museum", 1_200), "“museum”: 1,200");
    }
}
