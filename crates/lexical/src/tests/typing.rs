//! Names while they are typed.

use super::*;

/// Returns all pages of a search, as ordinals in order; the total is asserted on each.
fn all(fixture: &Fixture, text: &str, category: Option<&str>) -> Vec<u64> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = fixture.reader.search(&SearchRequest { text, category, limit: 7, after }).unwrap();
        found.extend(ordinals(&page));
        after = page.next_cursor();
        if after.is_none() {
            assert_eq!(page.total(), found.len() as u64, "{text}");
            return found;
        }
    }
}

#[test]
fn a_name_that_begins_with_what_was_typed_ranks_first() {
    let fixture = Fixture::named(&[
        "H. L. Cook Dining Hall, Caroline",
        "The Caroline House",
        "Caroline House of the Sea",
        "Caroline House",
        "Caroline Hall",
    ]);
    assert_eq!(
        fixture.find("Caroline H"),
        [4, 3, 2, 1, 0],
        "the shorter name first, then next to each other"
    );
    assert_eq!(fixture.find("caroline house"), [3, 2, 1]);
    assert_eq!(fixture.find("Caroline Ho"), [3, 2, 1]);
    let scores: Vec<u8> = fixture.scores("caroline house").iter().map(|score| *score as u8).collect();
    assert_eq!(scores, [7, 6, 4]);
    let scores: Vec<u8> = fixture.scores("Caroline H").iter().map(|score| *score as u8).collect();
    assert_eq!(scores, [5, 5, 5, 3, 0]);
}

#[test]
fn a_single_letter_at_the_end_is_a_beginning_and_no_better_as_a_word() {
    let names: Vec<String> = (0..20).map(|number| format!("View of a house {number}")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.extend([
        "View across the river",
        "The view above",
        "Untitled I",
        "Untitled interior",
        "Untitled (I see)",
    ]);
    let fixture = Fixture::named(&names);
    let found = fixture.find("view a");
    assert_eq!(found[..2], [20, 21]);
    assert_eq!(found.len(), 22);
    let page = fixture.reader.search(&request("view a")).unwrap();
    let relaxation = page.relaxation().unwrap();
    assert_eq!(
        (relaxation.kind, relaxation.exact, relaxation.ends_with_letter),
        (RelaxationKind::Prefix, 20, true)
    );
    assert_eq!(fixture.find("untitled i"), [22, 24, 23], "the name itself, then the shorter one");
    assert_eq!(fixture.find("\"untitled\" \"i\"").len(), 2, "in quotes it is a word");
}

#[test]
fn ten_exact_matches_do_not_hide_a_name_that_begins_with_what_was_typed() {
    let mut names = vec!["Garden in the park"; 12];
    names.extend(["Garden interior", "The garden interior", "Gardenia"]);
    let fixture = Fixture::named(&names);
    let found = fixture.find("garden in");
    assert_eq!((found.len(), found[..12].contains(&12)), (14, false), "whole words first");
    assert_eq!(found[12..], [12, 13], "in restricts nothing");
    assert_eq!(fixture.reader.search(&request("garden in")).unwrap().relaxation(), None);
    assert_eq!(fixture.find("garden").len(), 14, "a single word with ten exact matches is a whole one");
    let found = fixture.find("gardeni");
    assert_eq!(found, [14]);
    assert_eq!(fixture.find("gar").len(), 15);
}

/// 300 words begin with "ca", each in one project of another size, in two categories and with other projects around them.
#[test]
fn every_completion_of_a_beginning_counts() {
    let mut projects = Vec::new();
    for number in 0..300_u64 {
        let word = format!("ca{}{}", ["b", "n", "ra"][number as usize % 3], number);
        let category = if number % 4 == 0 { "art" } else { "design" };
        let name = ["House ", "Tower of glass "][number as usize % 2].to_owned() + &word;
        projects.push(Project { category: category.to_owned(), ..Project::named(number, &name) });
        projects.push(Project::named(1_000 + number, "House of cedar"));
    }
    let fixture = Fixture::of(&projects);
    let sorted = |mut found: Vec<u64>| {
        found.sort_unstable();
        found
    };
    assert_eq!(sorted(all(&fixture, "ca", None)), (0..300).collect::<Vec<u64>>());
    assert_eq!(sorted(all(&fixture, "ca", Some("art"))), (0..300).step_by(4).collect::<Vec<u64>>());
    assert_eq!(sorted(all(&fixture, "house ca", None)), (0..300).step_by(2).collect::<Vec<u64>>());
    assert_eq!(all(&fixture, "c", None).len(), 600);
    assert_eq!(all(&fixture, "tower c", None).len(), 150);
    let page = fixture.reader.search(&SearchRequest { limit: 5, ..request("ca") }).unwrap();
    let relaxation = page.relaxation().unwrap();
    assert_eq!((relaxation.replacements.len(), &*relaxation.matched_words), (5, &["ca".to_owned()][..]));
    assert!(relaxation.replacements.iter().all(|one| one.from == "ca" && one.to.starts_with("ca")));
}

#[test]
fn the_order_of_words_in_the_name_counts_in_every_tier() {
    let fixture = Fixture::named(&[
        "Sandstone by the tower",
        "Tower and sandstone",
        "Old sandstone tower",
        "Sandstone tower",
        "Tower sandstone",
    ]);
    assert_eq!(fixture.find("sandstone tower")[..2], [3, 2]);
    assert_eq!(fixture.find("sandstone tow")[..2], [3, 2]);
    assert_eq!(fixture.find("sandstonne tower")[..2], [3, 2], "with a typo");
    assert_eq!(fixture.find("tower sandstonne")[..1], [4], "with a typo");
    assert_eq!(fixture.find("sandstone tower xylophone")[..2], [3, 2], "most of the words");
}

#[test]
fn a_beginning_may_be_typed_without_accents_and_punctuation_and_stays_within_the_category() {
    let mut pavilion = Project::named(0, "Łódź: O'Keeffe’s Pavilion");
    pavilion.category = "art".to_owned();
    let fixture = Fixture::of(&[pavilion, Project::named(1, "Lodz Office")]);
    assert_eq!(fixture.find("lodz o")[..], [1, 0]);
    assert_eq!(fixture.find("LODZ okeef"), [0]);
    assert_eq!(all(&fixture, "lodz o", Some("art")), [0]);
    assert_eq!(all(&fixture, "lodz o", Some("design")), [1]);
}

#[test]
fn the_beginning_of_a_long_name_may_have_more_words_than_are_searched_for() {
    let words: Vec<String> = (0..20).map(|number| format!("word{number}")).collect();
    let (one, other) = (format!("{} lantern", words.join(" ")), format!("{} lamp", words.join(" ")));
    let fixture = Fixture::named(&[&one, &other]);
    assert_eq!(fixture.find(&format!("{} lan", words.join(" "))), [0, 1]);
    assert_eq!(fixture.find(&format!("{} lam", words.join(" "))), [1, 0]);
}
