//! The headings of results: they name the words that projects lack, and count no other projects with them.

use answers::catalog::quotation::unquoted;
use read::search::{Relaxation, RelaxationKind, Replacement, is_quote};
use text::is_stop_word;

use super::naming::quoted;
use crate::words::{capitalised, grouped};

/// Projects of a page that match equally many of the requested words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The heading; `None` for the projects that match all.
    pub(super) heading: Option<String>,
    /// The number of projects on the page.
    pub(super) shown: usize,
    /// Which of its projects these are, such as `1 to 12 of 16`; `None` if they are all, or if that is not known.
    pub(super) range: Option<String>,
}

/// Returns which of a number of projects are shown after some before them; `None` if all are, or if they cannot be.
pub(super) fn range(before: u64, shown: u64, total: u64) -> Option<String> {
    let last = before + shown;
    let is_part = shown > 0 && shown != total && last <= total;
    is_part.then(|| format!("{} to {} of {}", grouped(before + 1), grouped(last), grouped(total)))
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

/// Divides projects in the order of their matches, most first, into sections with headings such as `One of the two: 340`. `before` is the
/// number of projects on the pages before this one, if it is known.
pub(super) fn sections(
    matched: impl Iterator<Item = usize>,
    counts: &[u64],
    before: Option<u64>,
) -> Vec<Section> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for matches in matched {
        match runs.last_mut() {
            Some((known, shown)) if *known == matches => *shown += 1,
            _ => runs.push((matches, 1)),
        }
    }
    let mut at = before;
    let section = |(matches, shown): (usize, usize)| {
        let count = matches.checked_sub(1).and_then(|index| counts.get(index)).copied();
        let heading = count.filter(|_| matches < counts.len()).map(|count| {
            let some = capitalised(&in_words(matches));
            format!("{some} of the {}: {}", in_words(counts.len()), grouped(count))
        });
        // Those that match more come before it.
        let start: u64 = counts.iter().skip(matches).sum();
        let before = at.and_then(|at| at.checked_sub(start));
        at = at.map(|at| at + shown as u64);
        let range = count.zip(before).and_then(|(count, before)| range(before, shown as u64, count));
        Section { heading, shown, range }
    };
    runs.into_iter().map(section).collect()
}

/// Divides a page of a list, whose parts follow each other, into sections. `before` is the number of projects before the page, and each
/// part has its heading and the number of its projects.
pub(super) fn of_parts((before, shown): (u64, usize), parts: [(Option<String>, u64); 2]) -> Vec<Section> {
    let (mut start, mut at, end) = (0, before, before + shown as u64);
    let section = |(heading, count): (Option<String>, u64)| {
        let within = at.saturating_sub(start);
        start += count;
        let shown = end.min(start).saturating_sub(at);
        at += shown;
        let range = range(within, shown, count);
        (shown > 0).then(|| Section { heading, shown: usize::try_from(shown).unwrap_or_default(), range })
    };
    parts.into_iter().filter_map(section).collect()
}

/// Returns the heading of a search whose results lack words, such as `Without “timber”: 6`, or have others in their place, such as
/// `Results for “house”: 315`; `None` if they have all as typed.
pub(super) fn of_relaxed(typed: &str, relaxation: &Relaxation, total: u64) -> Option<String> {
    let unmatched = &relaxation.unmatched_words;
    let said = match relaxation.kind {
        RelaxationKind::NoMatches | RelaxationKind::NoWords => return None,
        RelaxationKind::Any if unmatched.is_empty() => "Most of the words".to_owned(),
        RelaxationKind::Any => return (total > 0).then(|| without(unmatched, total)),
        RelaxationKind::Corrected => match corrected(typed, &relaxation.replacements) {
            Some(words) => format!("Results for {}", quoted(&words)),
            None => format!("Almost {}", quoted(typed)),
        },
        RelaxationKind::Fuzzy if relaxation.replacements.is_empty() => {
            format!("The words of {} apart", quoted(typed))
        }
        RelaxationKind::Fuzzy => format!("Spelled almost like {}", quoted(typed)),
        RelaxationKind::Prefix => {
            let is_joined = relaxation.replacements.iter().any(|one| !one.is_completion);
            let is_longer = relaxation.replacements.iter().any(|one| one.is_completion);
            let longer = if is_longer || !is_joined { "…" } else { "" };
            let joined = if is_joined { ", or joined or apart" } else { "" };
            format!("“{}{longer}”{joined}", unquoted(typed))
        }
    };
    (total > 0).then(|| format!("{said}: {}", grouped(total)))
}

/// Returns the words that no result of a relaxed search has.
pub(super) fn lacking(relaxation: &Relaxation) -> &[String] {
    if relaxation.kind == RelaxationKind::Any { &relaxation.unmatched_words } else { &[] }
}

/// Returns what was typed with the words in place of those that no project has; `None` if one of these is not found in it.
fn corrected(typed: &str, replacements: &[Replacement]) -> Option<String> {
    let mut words: Vec<&str> = typed.split_whitespace().collect();
    for one in replacements {
        *words.iter_mut().find(|word| **word == one.from)? = &one.to;
    }
    (!replacements.is_empty()).then(|| words.join(" "))
}

/// Returns what was typed with the words in quotes that others stand in place of, so that a search for it corrects none of them; `None`
/// if no word was corrected, or where something was in quotes already.
pub(super) fn verbatim(typed: &str, relaxation: &Relaxation) -> Option<String> {
    let is_corrected = matches!(relaxation.kind, RelaxationKind::Corrected | RelaxationKind::Fuzzy);
    if !is_corrected || typed.contains(is_quote) {
        return None;
    }
    let is_replaced = |word: &str| relaxation.replacements.iter().any(|one| one.from == word);
    if !typed.split_whitespace().any(is_replaced) {
        return None;
    }
    let words = typed.split_whitespace();
    let words: Vec<String> =
        words.map(|word| if is_replaced(word) { format!("\"{word}\"") } else { word.to_owned() }).collect();
    Some(words.join(" "))
}

/// Returns the heading of the results of a suggestion: what they lack if the suggestion leaves words out, otherwise its words.
pub(super) fn of_suggestion(lacking: &[String], words: &str, total: u64) -> String {
    match lacking {
        [] => format!("Results for {}: {}", quoted(words), grouped(total)),
        lacking => without(lacking, total),
    }
}

/// Returns the words that a suggestion leaves out; none if it also has others than were typed.
pub(super) fn left_out(typed: &str, words: &str) -> Vec<String> {
    let folded = words.to_lowercase();
    let kept: Vec<&str> = folded.split_whitespace().collect();
    let typed = typed.to_lowercase();
    let (has, lacks): (Vec<&str>, Vec<&str>) = typed.split_whitespace().partition(|word| kept.contains(word));
    if has.len() < kept.len() {
        return Vec::new();
    }
    lacks.into_iter().filter(|word| !is_stop_word(word)).map(str::to_owned).collect()
}

/// Returns, for example, `Without “timber”, but of pine, larch or cedar: 3`; of more materials it names three and the kind.
pub(super) fn of_kind(lacking: &[String], (kind, materials): (&str, &[&str]), total: u64) -> String {
    let other = format!("other {kind}");
    let named = match materials {
        [first, second, third, _, ..] => joined(&[first, second, third, &other], "or"),
        few => joined(few, "or"),
    };
    format!("Without {}, but of {named}: {}", named_words(lacking), grouped(total))
}

/// Returns, for example, `Without “timber”: 6`.
pub(super) fn without(words: &[String], total: u64) -> String {
    format!("Without {}: {}", named_words(words), grouped(total))
}

/// Returns, for example, `“red” and “timber”`.
fn named_words(words: &[String]) -> String {
    let all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    joined(&all, "and")
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
    }

    #[test]
    fn each_section_has_its_number_and_its_range() {
        let section = |heading: Option<&str>, shown, range: Option<&str>| Section {
            heading: heading.map(str::to_owned),
            shown,
            range: range.map(str::to_owned),
        };
        let pages = |matched: &[usize], counts: &[u64], before| {
            sections(matched.iter().copied(), counts, Some(before))
        };
        let one = Some("One of the two: 340");
        assert_eq!(
            pages(&[2, 2, 1], &[340, 2], 0),
            [section(None, 2, None), section(one, 1, Some("1 to 1 of 340"))]
        );
        assert_eq!(pages(&[2; 12], &[340, 16], 0), [section(None, 12, Some("1 to 12 of 16"))]);
        assert_eq!(
            pages(&[2, 2, 2, 2, 1, 1, 1], &[340, 16], 12),
            [section(None, 4, Some("13 to 16 of 16")), section(one, 3, Some("1 to 3 of 340"))]
        );
        assert_eq!(pages(&[1; 12], &[340, 16], 24), [section(one, 12, Some("9 to 20 of 340"))]);
        assert_eq!(
            pages(&[2, 1, 1], &[2, 1, 0], 0),
            [section(Some("Two of the three: 1"), 1, None), section(Some("One of the three: 2"), 2, None)]
        );
        assert_eq!(pages(&[], &[0, 0], 0), []);
        let of_unknown_position = sections([2, 1].into_iter(), &[340, 16], None);
        assert_eq!(of_unknown_position, [section(None, 1, None), section(one, 1, None)]);
    }

    #[test]
    fn the_parts_of_a_list_have_sections_on_every_page() {
        let section = |heading: Option<&str>, shown, range: Option<&str>| Section {
            heading: heading.map(str::to_owned),
            shown,
            range: range.map(str::to_owned),
        };
        let page = |before, shown, counts: [u64; 2]| {
            of_parts((before, shown), [(None, counts[0]), (Some("Rest".to_owned()), counts[1])])
        };
        assert_eq!(page(0, 5, [2, 3]), [section(None, 2, None), section(Some("Rest"), 3, None)]);
        assert_eq!(page(0, 12, [14, 3]), [section(None, 12, Some("1 to 12 of 14"))]);
        assert_eq!(
            page(12, 5, [14, 3]),
            [section(None, 2, Some("13 to 14 of 14")), section(Some("Rest"), 3, None)]
        );
        assert_eq!(page(12, 4, [2, 14]), [section(Some("Rest"), 4, Some("11 to 14 of 14"))]);
        assert_eq!(page(0, 2, [2, 0]), [section(None, 2, None)]);
    }

    #[test]
    fn a_range_is_of_a_part_alone() {
        let ranges =
            [range(0, 12, 1_356), range(1_344, 12, 1_356), range(0, 3, 3), range(0, 0, 9), range(12, 1, 12)];
        let expected = [Some("1 to 12 of 1,356"), Some("1,345 to 1,356 of 1,356"), None, None, None];
        assert_eq!(ranges, expected.map(|range| range.map(str::to_owned)));
    }

    #[test]
    fn results_with_other_words_than_typed_are_named_by_what_they_have() {
        let relaxation = |kind, replaced: &[(&str, &str, bool)]| {
            let replacement = |(from, to, is_completion): &(&str, &str, bool)| Replacement {
                from: (*from).to_owned(),
                to: (*to).to_owned(),
                is_completion: *is_completion,
            };
            Relaxation {
                kind,
                exact: 0,
                excluded: 0,
                ends_with_letter: false,
                unknown_words: Vec::new(),
                replacements: replaced.iter().map(replacement).collect(),
                matched_words: Vec::new(),
                unmatched_words: Vec::new(),
                did_you_mean: None,
            }
        };
        let heading = |typed: &str, kind, replaced: &[(&str, &str, bool)]| {
            of_relaxed(typed, &relaxation(kind, replaced), 1_315).unwrap_or_default()
        };
        let cases = [
            (
                "red hosue",
                RelaxationKind::Corrected,
                &[("hosue", "house", false)][..],
                "Results for “red house”",
            ),
            ("hosue!", RelaxationKind::Corrected, &[("hosue", "house", false)], "Almost “hosue!”"),
            ("hosue", RelaxationKind::Fuzzy, &[("hosue", "house", false)], "Spelled almost like “hosue”"),
            ("\"oak house\"", RelaxationKind::Fuzzy, &[], "The words of “oak house” apart"),
            ("oak hou", RelaxationKind::Prefix, &[("hou", "house", true)], "“oak hou…”"),
            (
                "farm house",
                RelaxationKind::Prefix,
                &[("farm house", "farmhouse", false)],
                "“farm house”, or joined or apart",
            ),
            ("a", RelaxationKind::Prefix, &[], "“a…”"),
            ("oak hosue", RelaxationKind::Any, &[], "Most of the words"),
        ];
        for (typed, kind, replaced, expected) in cases {
            assert_eq!(heading(typed, kind, replaced), format!("{expected}: 1,315"));
        }
        assert_eq!(heading("oak", RelaxationKind::NoMatches, &[]), "");
        let instead = |typed: &str, kind, replaced: &[(&str, &str, bool)]| {
            verbatim(typed, &relaxation(kind, replaced)).unwrap_or_default()
        };
        let house = &[("hosue", "house", false)][..];
        assert_eq!(instead("red hosue", RelaxationKind::Corrected, house), "red \"hosue\"");
        assert_eq!(instead("hosue", RelaxationKind::Fuzzy, house), "\"hosue\"");
        assert_eq!(instead("“red” hosue", RelaxationKind::Corrected, house), "", "quotes do not nest");
        assert_eq!(instead("hosue!", RelaxationKind::Corrected, house), "");
        assert_eq!(instead("oak hosue", RelaxationKind::Any, house), "");
    }

    #[test]
    fn a_suggestion_that_leaves_words_out_names_them() {
        let heading = |typed: &str, words: &str, total| of_suggestion(&left_out(typed, words), words, total);
        assert_eq!(heading("Timber house in Japan", "house japan", 7), "Without “timber”: 7");
        assert_eq!(heading("red timber house", "house", 7), "Without “red” and “timber”: 7");
        assert_eq!(heading("musuem", "museum", 1_200), "Results for “museum”: 1,200");
    }

    #[test]
    fn materials_of_a_kind_are_named_with_the_words_that_their_projects_lack() {
        let heading = |lacking: &[&str], materials: &[&str], total| {
            let lacking: Vec<String> = lacking.iter().map(|word| (*word).to_owned()).collect();
            of_kind(&lacking, ("wood", materials), total)
        };
        assert_eq!(heading(&["timber"], &["pine"], 1), "Without “timber”, but of pine: 1");
        assert_eq!(
            heading(&["red", "timber"], &["pine", "larch", "cedar"], 3),
            "Without “red” and “timber”, but of pine, larch or cedar: 3"
        );
        assert_eq!(
            heading(&["timber"], &["oak", "pine", "larch", "cedar"], 1_005),
            "Without “timber”, but of oak, pine, larch or other wood: 1,005"
        );
    }
}
