use read::search::Replaced;

use super::*;

fn nothing() -> Forgiven {
    Forgiven {
        how: Approximation::Nothing,
        exact: 0,
        missing: Vec::new(),
        replaced: Vec::new(),
        held: Vec::new(),
        left_out: Vec::new(),
        did_you_mean: None,
    }
}

fn replaced(pairs: &[(&str, &str)]) -> Vec<read::search::Replaced> {
    pairs.iter().map(|(from, to)| Replaced { from: (*from).into(), to: (*to).into() }).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn what_was_forgiven_is_said_in_sentences() {
    let suggestion = |query: &str, total| Some(Suggestion { query: query.into(), total });
    for (forgiven, said) in [
        (Forgiven { missing: words(&["Tadao", "Ando"]), ..nothing() }, "No project has “Tadao” or “Ando”."),
        (
            Forgiven { did_you_mean: suggestion("brick library", 7), ..nothing() },
            "No project has all of these words, or enough of them. Did you mean “brick library”? It finds 7 projects.",
        ),
        (
            Forgiven {
                how: Approximation::Mended,
                missing: words(&["musuem"]),
                replaced: replaced(&[("musuem", "museum")]),
                did_you_mean: suggestion("museum", 1),
                ..nothing()
            },
            "No project has all of these words as they were typed. Shown are projects with “museum” instead of “musuem”.",
        ),
        (
            Forgiven { how: Approximation::Mended, ..nothing() },
            "No project has these words as a phrase. Shown are projects that have them apart.",
        ),
        (
            Forgiven {
                how: Approximation::Most,
                held: words(&["school", "Finland"]),
                left_out: words(&["timber"]),
                did_you_mean: suggestion("school Finland", 1),
                ..nothing()
            },
            "No project has all of these words. Shown are projects with “school” and “Finland”. None of them has \
             “timber”. Did you mean “school Finland”? It finds 1 project.",
        ),
        (
            Forgiven {
                how: Approximation::Completed,
                replaced: replaced(&[("lib", "library"), ("lib", "librarian")]),
                ..nothing()
            },
            "No project has all of these words. Shown are projects in which “lib” begins a longer word: “library” or \
             “librarian”.",
        ),
        (
            Forgiven { how: Approximation::Completed, exact: 3, ..nothing() },
            "3 projects have all of these words and come first. After them come projects in which the last word begins a \
             longer one.",
        ),
        (
            Forgiven { how: Approximation::NoWords, ..nothing() },
            "The text has no word that could be looked for.",
        ),
    ] {
        assert_eq!(sentences(&forgiven).join(" "), said);
    }
}
