//! Forms of words, optional words, compounds, and corrections.

use super::*;
use crate::search::relaxation::RelaxationKind;

/// Returns the results of a search in order, and what was replaced if some are approximate.
fn found(fixture: &Fixture, text: &str) -> (Vec<u64>, Option<Vec<(String, String)>>) {
    let page = fixture.reader.search(&request(text)).unwrap();
    let ordinals = ordinals(&page);
    assert_eq!(page.total(), ordinals.len() as u64, "{text}");
    let replaced = page.relaxation().map(|relaxation| {
        let pairs = relaxation.replacements.iter();
        pairs.map(|one| (one.from.clone(), one.to.clone())).collect()
    });
    (ordinals, replaced)
}

/// Checks that a search has these full matches, in this order, and no others.
fn assert_full(fixture: &Fixture, text: &str, ordinals: &[u64]) {
    assert_eq!(found(fixture, text), (ordinals.to_vec(), None), "{text}");
}

/// Checks that a search has these results, which are approximate, with these replacements.
fn assert_replaced(fixture: &Fixture, text: &str, ordinals: &[u64], replaced: &[(&str, &str)]) {
    let replaced = replaced.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    assert_eq!(found(fixture, text), (ordinals.to_vec(), Some(replaced)), "{text}");
}

#[test]
fn the_forms_of_a_word_are_found_after_the_word_and_are_not_approximate() {
    let fixture = Fixture::named(&[
        "Library of glass",
        "Two libraries",
        "Librarian",
        "The wolves",
        "A wolf",
        "Housing",
        "Old brick libraries",
        "New bricks",
    ]);
    assert_full(&fixture, "\"libraries\"", &[1, 6]);
    assert_full(&fixture, "libraries", &[1, 6, 0]);
    assert_full(&fixture, "wolf", &[4, 3]);
    assert_full(&fixture, "wolves", &[3, 4]);
    assert_full(&fixture, "brick library", &[6]);
    assert_full(&fixture, "bricks", &[7, 6]);
    let scores = fixture.scores("libraries");
    assert!(scores[1] >= 2.0 && (1.0..2.0).contains(&scores[2]), "{scores:?}");
    for text in ["houses", "house"] {
        assert!(!found(&fixture, text).0.contains(&5) || found(&fixture, text).1.is_some(), "{text}");
    }
}

#[test]
fn a_possessive_is_also_what_it_is_of() {
    let fixture = Fixture::named(&["Museum in Zürich", "Zürich’s museums", "Zürichberg", "Adam", "Adams"]);
    assert_full(&fixture, "Zürich's museum", &[1, 0]);
    assert_full(&fixture, "zurichs", &[1, 0]);
    assert_full(&fixture, "adam's", &[4, 3]);
    assert_full(&fixture, "adams", &[4]);
}

#[test]
fn and_is_punctuation_and_optional_words_restrict_nothing() {
    let fixture = Fixture::named(&[
        "Oxenham & Wardlaw",
        "Oxenham and Wardlaw",
        "House in Portugal",
        "House, Portugal",
        "House under a roof",
        "House, roof",
        "The Who",
        "And",
    ]);
    for text in ["Oxenham & Wardlaw", "Oxenham and Wardlaw", "oxenham wardlaw", "Oxenham AND Wardlaw"] {
        assert_full(&fixture, text, &[0, 1]);
    }
    assert_full(&fixture, "\"oxenham and wardlaw\"", &[1]);
    let scores = |text| fixture.scores(text);
    assert_eq!(scores("Oxenham and Wardlaw"), scores("Oxenham & Wardlaw"));
    assert_full(&fixture, "house in Portugal", &[2, 3]);
    assert_full(&fixture, "house of Portugal", &[3, 2]);
    assert_full(&fixture, "house under the roof", &[4]);
    assert_full(&fixture, "the", &[6]);
    assert_full(&fixture, "and", &[7, 1]);
    assert_full(&fixture, "and and", &[7, 1]);
}

#[test]
fn hyphened_words_and_initials_are_one_word_too() {
    let fixture = Fixture::named(&[
        "Adaptive re-use",
        "Adaptive reuse",
        "Adaptive re use",
        "Use, re",
        "Museum S.M.A.K.",
        "SMAK",
        "P. L. Mills",
        "Col·legi",
        "Day-care",
        "Daycares",
    ]);
    assert_full(&fixture, "adaptive re-use", &[0, 2, 1]);
    assert_full(&fixture, "adaptive reuse", &[1, 0]);
    assert_full(&fixture, "\"re use\"", &[0, 2]);
    assert_full(&fixture, "smak", &[5, 4]);
    assert_full(&fixture, "S.M.A.K.", &[4, 5]);
    assert_full(&fixture, "pl mills", &[6]);
    assert_full(&fixture, "collegi", &[7]);
    assert_full(&fixture, "day-care", &[8, 9]);
    assert_full(&fixture, "daycare", &[8, 9]);
    let fixture = Fixture::named(&["Y.M.C.A. building", "Y. M.", "YMCA"]);
    assert_full(&fixture, "Y.M.C.A.", &[0, 2]);
    assert_full(&fixture, "Y. M. C. A.", &[0, 2]);
}

#[test]
fn words_joined_and_apart_are_found_and_said() {
    let fixture =
        Fixture::named(&["Bauhaus", "Red Bull Arena", "Red and Bull", "Tablecloths", "Tea cups", "Teacup"]);
    assert_replaced(&fixture, "bau haus", &[0], &[("bau haus", "bauhaus")]);
    assert_replaced(&fixture, "redbull", &[1], &[("redbull", "red bull")]);
    assert_replaced(&fixture, "redbull arena", &[1], &[("redbull", "red bull")]);
    assert_replaced(&fixture, "table cloth", &[3], &[("table cloth", "tablecloths")]);
    // A word that projects have is not taken apart.
    assert_full(&fixture, "teacups", &[5]);
    assert_replaced(&fixture, "\"redbull\"", &[], &[]);
}

#[test]
fn a_word_that_no_project_has_is_corrected_to_what_finds_most() {
    let mut names = vec!["House and garden"; 20];
    names.extend(["Timber house", "Timbre", "Timbre", "Concrete", "Gallery", "Hose", "Tower"]);
    let fixture = Fixture::named(&names);
    let all: Vec<u64> = (0..20).collect();
    assert_replaced(&fixture, "gardn", &all, &[("gardn", "garden")]);
    let (found_houses, replaced) = found(&fixture, "hosue");
    assert_eq!((found_houses.len(), replaced), (21, Some(vec![("hosue".to_owned(), "house".to_owned())])));
    assert_replaced(&fixture, "timbr house", &[20], &[("timbr", "timber")]);
    assert_replaced(&fixture, "conrcete", &[23], &[("conrcete", "concrete")]);
    assert_replaced(&fixture, "galerys", &[24], &[("galerys", "gallery")]);
    let relaxation =
        |text: &str| fixture.reader.search(&request(text)).unwrap().relaxation().unwrap().clone();
    let corrected = relaxation("hosue");
    assert_eq!(
        (corrected.kind, corrected.exact, corrected.did_you_mean),
        (RelaxationKind::Corrected, 0, None)
    );
    assert_eq!(corrected.unknown_words, ["hosue"]);
    // Another first letter, three letters, and a number are not corrected.
    for text in ["nower", "twr", "hse", "2o18"] {
        assert_eq!(found(&fixture, text).0, Vec::<u64>::new(), "{text}");
    }
}

#[test]
fn an_unknown_compound_is_named_as_it_was_typed() {
    let fixture = Fixture::named(&["House of use", "Use of light"]);
    for (text, unknown) in [
        ("re-use", vec!["re-use"]),
        ("house xq‑use Re-Use", vec!["xq‑use", "Re-Use"]),
        ("X.Q.Z. house", vec!["X.Q.Z"]),
        ("re use", vec!["re"]),
        ("re re-use", vec!["re"]),
    ] {
        let page = fixture.reader.search(&request(text)).unwrap();
        assert_eq!(page.relaxation().unwrap().unknown_words, unknown, "{text}");
    }
}

/// Each of these has a bounded cost: at most 16 words are searched for, with at most six forms each.
#[test]
fn strange_words_are_legal_queries() {
    let fixture = Fixture::named(&["And", "and & and", "Kapılar", "Libraries", "Houses"]);
    assert_full(&fixture, "libraries", &[3]);
    assert_full(&fixture, "library", &[3]);
    assert_full(&fixture, "libra\u{ad}ry", &[3]);
    assert_full(&fixture, "kapilar", &[2]);
    assert_full(&fixture, "and", &[0, 1]);
    for text in [
        "libraries ".repeat(200),
        (0..200).map(|number| format!("house{} ", "s".repeat(number % 3))).collect(),
        "a ".repeat(200),
        "in the of ".repeat(70),
        "\"house \"of \"the".to_owned(),
        "'s".to_owned(),
        "&".to_owned(),
        "-".repeat(200),
        "a-".repeat(100),
        "a.".repeat(100),
        "and ".repeat(200),
        "kapılars".to_owned(),
    ] {
        fixture.reader.search(&request(&text)).unwrap();
    }
    assert_replaced(&fixture, "&", &[], &[]);
}

#[test]
fn of_two_words_that_no_project_has_together_the_rarer_is_found() {
    let mut names = vec!["Church"; 5];
    names.extend(["Rome", "Some church", "Garden in Rome", "Nome", "Romer"]);
    let fixture = Fixture::named(&names);
    let page = fixture.reader.search(&request("church in Rome")).unwrap();
    let relaxation = page.relaxation().unwrap();
    assert_eq!(ordinals(&page), [5, 7]);
    assert_eq!((relaxation.kind, relaxation.replacements.len()), (RelaxationKind::Any, 0));
    assert_eq!(relaxation.matched_words, ["Rome"]);
    assert_eq!(relaxation.unmatched_words, ["church"]);
    // A word that no project has is not passed over.
    assert_replaced(&fixture, "church zumthor", &[], &[]);
}
