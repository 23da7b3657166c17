//! Projects by the beginning of their name, or of a word in it, compared with a scan of all names.

use proptest::prelude::*;

use super::*;

fn ordinals(view: &View, typed: &str, limit: usize, hidden: Option<u64>) -> Vec<u64> {
    let summaries = view.summaries_by_beginning(typed, limit, |ordinal| Some(ordinal) != hidden);
    let ordinal = |summary: &&[u8]| {
        let text = std::str::from_utf8(summary).unwrap();
        text.strip_prefix("{\"ordinal\":").unwrap().split(',').next().unwrap().parse().unwrap()
    };
    summaries.iter().map(ordinal).collect()
}

#[test]
fn whole_words_come_first_then_shorter_names() {
    let fixture = Fixture::named(&["Houses", "House of the Sea", "House B", "The House", "house", "Hoûse A"]);
    let view = fixture.reader.view();
    assert_eq!(ordinals(&view, "house", 9, None), [4, 5, 2, 1, 0, 3]);
    assert_eq!(ordinals(&view, "house", 2, None), [4, 5]);
    assert_eq!(ordinals(&view, "house", 2, Some(4)), [5, 2]);
    assert_eq!(ordinals(&view, "the h", 9, None), [3]);
    assert_eq!((ordinals(&view, "", 9, None), ordinals(&view, "h", 0, None)), (vec![], vec![]));
}

#[test]
fn names_are_found_by_any_of_their_words() {
    let fixture = Fixture::named(&[
        "Tied and Braced, Nantes",
        "House for a Proofreader",
        "Oxenham & Wardlaw",
        "Charles \"Teenie\" Harris",
        "The Brace",
        "Brace by Brace",
        "東京駅",
    ]);
    let view = fixture.reader.view();
    let found = |typed| ordinals(&view, &text::comparison_form(typed), 9, None);
    assert_eq!(found("brace"), [5, 4, 0], "at the beginning, whole, unfinished; each once");
    assert_eq!([found("proofr"), found("for a PROOF"), found("a p")], [[1], [1], [1]]);
    assert_eq!([found("Oxenham and W"), found("& ward"), found("tied & bra")], [[2], [2], [0]]);
    assert_eq!(found("teeni"), [3]);
    assert_eq!([found("p"), found("w")], [const { Vec::<u64>::new() }; 2], "a letter says too little");
    assert_eq!([found("京"), found("京駅")], [[6], [6]], "but a character is a word");
}

#[test]
fn a_name_of_nothing_but_and_is_found() {
    let names: Vec<&str> = (0..60).map(|at| ["And", "and & and"][at % 2]).collect();
    let view = Fixture::named(&names).reader.view();
    let every_second: Vec<u64> = (0..30).map(|at| 2 * at).collect();
    assert_eq!(ordinals(&view, &text::comparison_form("and"), 30, None), every_second);
    assert_eq!(ordinals(&view, &text::comparison_form("and and"), 1, None), [1]);
}

/// Returns what a scan of all names finds.
fn scanned(projects: &[Project], typed: &str, limit: usize, is_shown: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut found: Vec<_> = Vec::new();
    for project in projects.iter().filter(|project| is_shown(project.ordinal)) {
        let name = text::comparison_form(&project.name);
        let starts = std::iter::once(0).chain(name.match_indices(' ').map(|(blank, _)| blank + 1));
        let rests = starts.filter(|at| *at == 0 || typed.len() > 1).map(|at| (at > 0, &name[at..]));
        let places = rests.filter_map(|(is_later, rest)| {
            let rest = rest.strip_prefix(typed)?;
            Some((is_later, !(rest.is_empty() || rest.starts_with(' '))))
        });
        if let Some(place) = places.min() {
            let days = project.published.map_or(i64::MAX, |day| -i64::from(day));
            found.push((place, name.len(), name.clone(), days, project.ordinal));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(.., ordinal)| ordinal).take(limit).collect()
}

/// What happens to an index between two comparisons.
#[derive(Clone, Debug)]
enum Change {
    Rename(usize, String),
    Remove(usize),
    Merge,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        4 => (0_usize..30, names()).prop_map(|(at, name)| Change::Rename(at, name)),
        2 => (0_usize..30).prop_map(Change::Remove),
        1 => Just(Change::Merge),
    ];
    proptest::collection::vec(change, 0..10)
}

fn names() -> &'static str {
    "[ab]{1,3}( [ab]{1,2}){0,3}|[ab]{2} and [ab]{1,3} & ab|ab"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_begins_is_what_a_scan_finds(
        named in proptest::collection::vec((names(), proptest::option::of(0_i32..3)), 1..30),
        changes in changes(),
        typed in proptest::collection::vec("[ab]{1,3}( [ab]{1,2})?", 1..6),
        (limit, hidden) in (1_usize..20, 0_u64..30),
    ) {
        let project = |(at, (name, published)): (u64, &(String, Option<i32>))| {
            Project { published: *published, ..Project::named(at, name) }
        };
        let mut projects: Vec<Project> = (0..).zip(&named).map(project).collect();
        let mut removed = std::collections::HashSet::new();
        let mut fixture = Fixture::of(&projects);
        for (round, change) in std::iter::once(None).chain(changes.iter().map(Some)).enumerate() {
            match change {
                Some(Change::Rename(at, name)) if *at < projects.len() => {
                    projects[*at].name.clone_from(name);
                    fixture.add(&projects[*at..=*at]);
                    removed.remove(&(*at as u64));
                }
                Some(Change::Remove(at)) if *at < projects.len() => {
                    fixture.writer.remove(&projects[*at].id());
                    removed.insert(*at as u64);
                }
                Some(Change::Merge) => fixture.writer.force_merge().unwrap(),
                None | Some(Change::Rename(..) | Change::Remove(_)) => {}
            }
            fixture.commit(&round.to_string());
            let view = fixture.reader.view();
            for typed in &typed {
                let is_shown = |ordinal| ordinal != hidden && !removed.contains(&ordinal);
                let expected = scanned(&projects, typed, limit, is_shown);
                let found = ordinals(&view, typed, limit, Some(hidden));
                prop_assert_eq!(found, expected, "{} after {} changes", typed, round);
            }
        }
    }
}
