//! Projects by the beginning of their name, compared with a scan of all names.

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
    assert_eq!(ordinals(&view, "house", 9, None), [4, 5, 2, 1, 0]);
    assert_eq!(ordinals(&view, "house", 2, None), [4, 5]);
    assert_eq!(ordinals(&view, "house", 2, Some(4)), [5, 2]);
    assert_eq!(ordinals(&view, "the h", 9, None), [3]);
    assert_eq!((ordinals(&view, "", 9, None), ordinals(&view, "h", 0, None)), (vec![], vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_begins_is_what_a_scan_finds(
        names in proptest::collection::vec("[ab]{1,3}( [ab]{1,2}){0,2}", 1..30),
        renamed in proptest::collection::vec((0_usize..30, "[ab]{1,3}"), 0..8),
        typed in "[ab]{1,3}( [ab]{1,2})?",
        (limit, hidden) in (1_usize..9, 0_u64..30),
    ) {
        let mut projects: Vec<Project> = (0..).zip(&names).map(|(at, name)| Project::named(at, name)).collect();
        let mut fixture = Fixture::of(&projects);
        for (round, (at, name)) in renamed.iter().enumerate().filter(|(_, (at, _))| *at < names.len()) {
            projects[*at].name.clone_from(name);
            fixture.add(&projects[*at..=*at]);
            fixture.commit(&round.to_string());
        }
        let mut expected: Vec<_> = projects
            .iter()
            .filter(|project| project.name.starts_with(&typed) && project.ordinal != hidden)
            .map(|project| {
                let is_unfinished = project.name[typed.len()..].starts_with(|next| next != ' ');
                (is_unfinished, project.name.len(), &project.name, project.ordinal)
            })
            .collect();
        expected.sort_unstable();
        let expected: Vec<u64> = expected.into_iter().map(|(.., ordinal)| ordinal).take(limit).collect();
        prop_assert_eq!(ordinals(&fixture.reader.view(), &typed, limit, Some(hidden)), expected);
    }
}
