use super::*;

fn nothing() -> Relaxation {
    Relaxation {
        kind: RelaxationKind::NoMatches,
        exact: 0,
        excluded: 0,
        ends_with_letter: false,
        unknown_words: Vec::new(),
        replacements: Vec::new(),
        matched_words: Vec::new(),
        unmatched_words: Vec::new(),
        did_you_mean: None,
    }
}

fn replaced(pairs: &[(&str, &str)]) -> Vec<Replacement> {
    let replacement = |(from, to): &(&str, &str)| Replacement {
        from: (*from).into(),
        to: (*to).into(),
        is_completion: to.starts_with(&from.to_lowercase()),
    };
    pairs.iter().map(replacement).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn assert_said(relaxation: &Relaxation, said: &str) {
    assert_eq!(sentences(relaxation).join(" "), said);
}

#[test]
fn words_in_place_of_typed_ones_are_said() {
    assert_said(
        &Relaxation {
            kind: RelaxationKind::Corrected,
            unknown_words: words(&["hosue", "brik"]),
            replacements: replaced(&[("hosue", "house"), ("brik", "brick")]),
            ..nothing()
        },
        "Shown are projects with “house” instead of “hosue”, “brick” instead of “brik”.",
    );
    assert_said(
        &Relaxation {
            kind: RelaxationKind::Prefix,
            exact: 1,
            replacements: replaced(&[("Haus", "hausmann"), ("bau Haus", "bauhaus")]),
            ..nothing()
        },
        "One project has all of these words. Shown are also projects in which “Haus” begins a longer word: “hausmann”, \
         and projects with “bauhaus” instead of “bau Haus”.",
    );
    assert_said(
        &Relaxation {
            kind: RelaxationKind::Prefix,
            replacements: replaced(&[("redbull", "red bull")]),
            ..nothing()
        },
        "No project has all of these words. Shown are projects with “red bull” instead of “redbull”.",
    );
}

#[test]
fn relaxations_are_described_in_sentences() {
    let suggestion = |query: &str, total| Some(Suggestion { query: query.into(), total });
    for (relaxation, said) in [
        (
            Relaxation { unknown_words: words(&["Tadao", "Ando"]), ..nothing() },
            "No project has “Tadao” or “Ando”.",
        ),
        (
            Relaxation { did_you_mean: suggestion("brick library", 7), ..nothing() },
            "No project has all of these words, or enough of them. Did you mean “brick library”? It finds 7 projects.",
        ),
        (
            Relaxation {
                kind: RelaxationKind::Fuzzy,
                unknown_words: words(&["musuem"]),
                replacements: replaced(&[("musuem", "museum")]),
                did_you_mean: suggestion("museum", 1),
                ..nothing()
            },
            "No project has all of these words as they were typed. Shown are projects with “museum” instead of “musuem”.",
        ),
        (
            Relaxation { kind: RelaxationKind::Fuzzy, ..nothing() },
            "No project has these words as a phrase. Shown are projects that have them apart.",
        ),
        (
            Relaxation {
                kind: RelaxationKind::Any,
                matched_words: words(&["school", "Finland"]),
                unmatched_words: words(&["timber"]),
                did_you_mean: suggestion("school Finland", 1),
                ..nothing()
            },
            "No project has all of these words. Shown are projects with “school” and “Finland”. None of them has \
             “timber”. Did you mean “school Finland”? It finds 1 project.",
        ),
        (
            Relaxation {
                kind: RelaxationKind::Prefix,
                replacements: replaced(&[("lib", "library"), ("lib", "librarian")]),
                ..nothing()
            },
            "No project has all of these words. Shown are projects in which “lib” begins a longer word: “library” or \
             “librarian”.",
        ),
        (
            Relaxation { kind: RelaxationKind::Prefix, exact: 3, ..nothing() },
            "3 projects have all of these words. Shown are also projects in which the last word begins a longer one.",
        ),
        (
            Relaxation {
                kind: RelaxationKind::Prefix,
                exact: 3,
                ends_with_letter: true,
                replacements: replaced(&[("h", "house"), ("h", "hall")]),
                ..nothing()
            },
            "Shown are projects in which “h” begins a word: “house” or “hall”.",
        ),
        (
            Relaxation { kind: RelaxationKind::NoWords, ..nothing() },
            "The text has no word that could be looked for.",
        ),
    ] {
        assert_said(&relaxation, said);
    }
}

#[test]
fn what_a_filter_excludes_is_said() {
    for (excluded, said) in [(1, "1 project has them"), (7, "7 projects have them")] {
        let sentence = "None of the projects that the filters leave has all of these words; without filters";
        assert_said(&Relaxation { excluded, ..nothing() }, &format!("{sentence} {said}."));
    }
}
