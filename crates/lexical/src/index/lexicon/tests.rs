use proptest::prelude::*;

use super::distance::Signature;
use super::*;

fn lexicon(words: &[(&str, u32)]) -> Lexicon {
    let mut update = Lexicon::default().update();
    words.iter().for_each(|&(word, count)| update.add(word, i64::from(count)));
    update.finish()
}

fn words(found: &[SimilarWord<'_>]) -> Vec<(String, u32)> {
    found.iter().map(|found| (found.word.to_owned(), found.distance)).collect()
}

/// The textbook recursion of the edit distance with transpositions: the oracle of the fast one.
fn edits(a: &[char], b: &[char]) -> u32 {
    let mut table = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j as u32,
                (_, 0) => i as u32,
                _ => {
                    let substituted = table[i - 1][j - 1] + u32::from(a[i - 1] != b[j - 1]);
                    let mut least = substituted.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    table[a.len()][b.len()]
}

#[test]
fn the_nearest_words_come_by_frequency() {
    let lexicon = lexicon(&[
        ("museum", 40),
        ("mueseum", 1),
        ("musem", 2),
        ("museums", 9),
        ("mausoleum", 3),
        ("house", 7),
    ]);
    let expect = |found: &[SimilarWord<'_>], expected: &[(&str, u32)]| {
        let expected: Vec<(String, u32)> =
            expected.iter().map(|(word, edits)| ((*word).to_owned(), *edits)).collect();
        assert_eq!(words(found), expected);
    };
    expect(&lexicon.nearest("musuem", 2, 10), &[("museum", 1), ("musem", 1)]);
    expect(&lexicon.nearest("musuem", 2, 1), &[("museum", 1)]);
    expect(&lexicon.nearest("mishums", 2, 10), &[("museums", 2)]);
    expect(&lexicon.nearest("mishums", 1, 10), &[]);
    expect(&lexicon.nearest("museum", 1, 10), &[("museums", 1), ("musem", 1), ("mueseum", 1)]);
}

#[test]
fn completions_are_the_most_frequent_longer_words() {
    let lexicon = lexicon(&[("art", 5), ("artist", 2), ("arts", 9), ("ark", 1)]);
    let found = lexicon.completions("art", 10);
    assert_eq!(
        found.iter().map(|found| (found.word, found.document_frequency)).collect::<Vec<_>>(),
        [("arts", 9), ("artist", 2)]
    );
    assert_eq!(lexicon.completions("art", 1).len(), 1);
    assert_eq!(lexicon.completions("x", 10).len(), 0);
}

proptest! {
    #[test]
    fn nearest_finds_what_a_scan_finds(
        known in prop::collection::btree_set("[a-cé]{1,9}", 1..60),
        typed in "[a-cé]{1,9}",
        max_edits in 1_u32..3,
    ) {
        let known: Vec<(&str, u32)> = known.iter().map(|word| (word.as_str(), 1)).collect();
        let letters: Vec<char> = typed.chars().collect();
        let mut expected: Vec<(String, u32)> = Vec::new();
        for (word, _) in &known {
            let distance = edits(&letters, &word.chars().collect::<Vec<_>>());
            let typed = EditDistance::new(&typed, max_edits);
            prop_assert!(distance > 1 || typed.may_be_one_edit(Signature::of(word)));
            prop_assert!(distance > 2 || typed.excess_letters::<2>(Signature::of(word)) == 0);
            if (1..=max_edits).contains(&distance) {
                expected.push(((*word).to_owned(), distance));
            }
        }
        let nearest = expected.iter().map(|(_, distance)| *distance).min();
        expected.retain(|(_, distance)| Some(*distance) == nearest);
        expected.sort_by_key(|(word, distance)| (*distance, word.clone()));
        prop_assert_eq!(words(&lexicon(&known).nearest(&typed, max_edits, usize::MAX)), expected);
    }

    #[test]
    fn many_updates_count_like_one(changes in prop::collection::vec(prop::collection::vec(("[a-d]{1,4}", 1_i64..4), 1..300), 1..12)) {
        let mut lexicon = Lexicon::default();
        let mut expected: HashMap<&str, i64> = HashMap::new();
        for (round, words) in changes.iter().enumerate() {
            let mut update = lexicon.update();
            for (word, count) in words {
                // Every other round subtracts, down to 0.
                let count_so_far = expected.entry(word).or_default();
                let by = if round % 2 == 1 { -(*count).min(*count_so_far) } else { *count };
                *count_so_far += by;
                update.add(word, by);
            }
            lexicon = update.finish();
        }
        for (word, count) in &expected {
            prop_assert_eq!(i64::from(lexicon.document_frequency(word)), *count, "{}", word);
        }
        let listed: i64 = ('a'..='d').flat_map(|letter| lexicon.completions(&letter.to_string(), usize::MAX)).map(|found| i64::from(found.document_frequency)).sum();
        prop_assert_eq!(listed, expected.iter().filter(|(word, _)| word.len() > 1).map(|(_, count)| *count).sum::<i64>());
    }
}
