//! Words with hyphens, and letters with points, as one word.

use std::collections::HashMap;

use super::*;

/// What joined words are made of, what separates them, and what comes between and changes nothing.
const RUNS: &str = "([ab]|[cd]{1,2}|\u{e9}|1|-|-|--|\\.|\\. | |'|\u{b7}|\u{2010}|\u{2014}|東|a{47}){0,12}";

fn joined(text: &str) -> Vec<(String, u32)> {
    let all = all_words(text).into_iter();
    all.filter(|(.., kind)| *kind == Kind::Joined).map(|(word, position, _)| (word, position)).collect()
}

#[test]
fn words_with_hyphens_and_letters_with_points_are_also_one_word() {
    for (text, expected) in [
        ("a re-use of", &[("reuse", 1)][..]),
        ("Saint-Germain-des-Prés", &[("saintgermaindespres", 0)]),
        (
            "half‐light, self\u{2011}made or in\u{2013}between",
            &[("halflight", 0), ("selfmade", 2), ("inbetween", 5)],
        ),
        ("Jean-d'Arc, bird’s-eye, Tz'u-chou", &[("jeandarc", 0), ("birdseye", 2), ("tzuchou", 4)]),
        ("Paral·lel-Col·legi", &[("parallelcollegi", 0)]),
        ("re\u{ad}-\u{200b}use", &[("reuse", 0)]),
        ("S.M.A.K.", &[("smak", 0)]),
        ("S.M.A.K", &[("sma", 0)]),
        ("P. L. Mills", &[("pl", 0)]),
        ("P.\u{a0}L. Mills", &[("pl", 0)]),
        ("by P.L.Mills", &[("pl", 1)]),
        ("A-B.C. D-E", &[("ab", 0), ("bc", 1), ("de", 3)]),
        ("a-b-1, 1-a-b, -a-b-, a-b--c", &[("ab", 0), ("ab", 4), ("ab", 6), ("ab", 8)]),
        ("1960-65, 1960\u{2013}65, T-34-x, A-1, A1-b, A.1.B", &[]),
        ("one - two, one -two, one- two, one--two, -one-, one-\ntwo, one\u{2014}two", &[]),
        ("P.  L., P, L., P.\nL., J.-P. K", &[]),
        ("rock-'n'-roll", &[]),
        ("東-京, 東.京., 東-a", &[]),
        ("", &[]),
    ] {
        let found = joined(text);
        let found: Vec<(&str, u32)> =
            found.iter().map(|(word, position)| (word.as_str(), *position)).collect();
        assert_eq!(found, expected, "{text}");
    }
    assert_eq!(joined(&"-".repeat(200)), []);
    assert_eq!(joined(&"a-".repeat(200)), []);
    assert_eq!(fold("re-use S.M.A.K."), "re use s m a k");
}

#[test]
fn a_joined_word_comes_after_its_last_word() {
    let order = |text: &str| {
        let all = all_words(text).into_iter();
        all.map(|(word, position, _)| format!("{word}@{position}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order("re-use now"), "re@0 use@1 reuse@0 now@2");
    assert_eq!(order("P. L. Mills"), "p@0 l@1 pl@0 mills@2");
    assert_eq!(order("Jean-d'Arc"), "jean@0 darc@1 d@1 arc@1 jeandarc@0");
    assert_eq!(order("a-b-1"), "a@0 b@1 ab@0 1@2");
    assert_eq!(order("P. L. M, a-東"), "p@0 l@1 pl@0 m@2 a@3 東@4");
    assert_eq!(order("re-use東"), "re@0 use@1 reuse@0 東@2");
}

#[test]
fn a_joined_word_that_is_too_long_is_left_out() {
    assert_eq!(joined(&format!("{}-b", "a".repeat(MAX_WORD_LENGTH - 1))).len(), 1);
    assert_eq!(joined(&format!("{}-b", "a".repeat(MAX_WORD_LENGTH))), []);
    // Its folded form counts, not what is written.
    assert_eq!(joined(&format!("{}-b", "é".repeat(MAX_WORD_LENGTH - 1))).len(), 1);
    assert_eq!(joined(&format!("{}-б", "ж".repeat(MAX_WORD_LENGTH / 2))), []);
}

proptest! {
    #[test]
    fn a_joined_word_is_all_of_its_words_and_comes_after_them(text in RUNS) {
        let mut before: Vec<(String, u32)> = Vec::new();
        for (word, position, kind) in all_words(&text) {
            match kind {
                Kind::Whole => before.push((word, position)),
                Kind::Joined => {
                    let run = before.iter().filter(|(_, other)| *other >= position);
                    let run: Vec<&str> = run.map(|(word, _)| word.as_str()).collect();
                    prop_assert!(run.len() > 1 && run.concat() == word, "{run:?}, {word}");
                }
                _ => {}
            }
        }
    }

    #[test]
    fn all_runs_are_joined_and_no_others(text in "([ab]|[cd]{1,2}|1|-|-|--|\\.|\\. | |/|\u{e9}|a{47}){0,12}") {
        let mut found = joined(&text);
        found.sort();
        prop_assert_eq!(found, naive_joined(&text));
    }

    #[test]
    fn the_words_are_the_same_with_and_without_normalisation(text in RUNS) {
        let letters = |text: &str, with: &str| text.replace('a', &format!("a{with}")).replace('c', &format!("c{with}"));
        let plain = all_words(&text);
        prop_assert_eq!(&plain, &all_words(&letters(&text, "\u{ad}")));
        prop_assert_eq!(&plain, &all_words(&letters(&text, "\u{301}")));
        prop_assert_eq!(&plain, &all_words(&text.replace('-', "\u{ff0d}").replace('.', "\u{ff0e}")));
    }

    #[test]
    fn the_positions_of_a_word_ascend(text in RUNS) {
        // Posting lists need that.
        let mut last: HashMap<String, u32> = HashMap::new();
        for (word, position, _) in all_words(&text) {
            let before = last.insert(word.clone(), position);
            prop_assert!(before.is_none_or(|before| before <= position), "{word}");
        }
    }

    #[test]
    fn other_words_are_as_without_joined_ones(text in RUNS) {
        // No run is joined where two separators stand for one.
        let apart = text.replace(['-', '\u{2010}'], "--").replace('.', "..");
        let mut plain = all_words(&text);
        plain.retain(|(.., kind)| *kind != Kind::Joined);
        prop_assert_eq!(&plain, &all_words(&apart));
        prop_assert_eq!(fold(&text), fold(&apart));
    }

    #[test]
    fn a_visitor_can_stop_at_any_word(text in RUNS) {
        let all = all_words(&text);
        for most in 1..=all.len() {
            let mut seen = Vec::new();
            let flow = words(&text, &mut |word| {
                seen.push((word.text.to_owned(), word.position, word.kind));
                if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            prop_assert!(flow.is_break());
            prop_assert_eq!(&seen[..], &all[..most]);
        }
    }
}

/// Returns the joined words of a text of letters, digits, hyphens, points, blanks and slashes, sorted.
fn naive_joined(text: &str) -> Vec<(String, u32)> {
    let mut runs: Vec<(String, u32, usize)> = Vec::new();
    let mut position = 0;
    for written in text.split(|letter: char| !letter.is_alphanumeric() && letter != '-') {
        let mut run = (String::new(), position, 0);
        for word in written.split('-') {
            if word.is_empty() || word.contains('1') {
                runs.push(std::mem::take(&mut run));
            } else {
                run = (run.0 + &fold(word), if run.2 == 0 { position } else { run.1 }, run.2 + 1);
            }
            position += u32::from(!word.is_empty());
        }
        runs.push(run);
    }
    let letters: Vec<char> = text.chars().collect();
    let at = |at: usize| letters.get(at).copied().unwrap_or('/');
    let mut start = 0;
    while start < letters.len() {
        let before: String = letters[..start].iter().collect();
        let first = fold(&before).split_whitespace().count() as u32;
        let (mut run, mut end) = ((String::new(), first, 0), start);
        let follows_word = before.ends_with(char::is_alphanumeric);
        while !follows_word && at(end).is_alphabetic() && at(end + 1) == '.' {
            run = (run.0 + &fold(&at(end).to_string()), first, run.2 + 1);
            end += if at(end + 2) == ' ' { 3 } else { 2 };
        }
        start = end.max(start + 1);
        runs.push(run);
    }
    let is_joined = |(word, _, words): &(String, u32, usize)| *words > 1 && word.len() <= MAX_WORD_LENGTH;
    let mut found: Vec<(String, u32)> =
        runs.into_iter().filter(is_joined).map(|(word, position, _)| (word, position)).collect();
    found.sort();
    found
}
