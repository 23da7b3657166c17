mod joined;

use proptest::prelude::*;

use super::*;

fn all_words(text: &str) -> Vec<(String, u32, Kind)> {
    let mut found = Vec::new();
    let _ = words(text, &mut |word| {
        found.push((word.text.to_owned(), word.position, word.kind));
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn accents_fold_to_plain_letters() {
    for (text, folded) in [
        ("Zürich", "zurich"),
        ("Łódź", "lodz"),
        ("São Paulo", "sao paulo"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ẞ", "ss"),
        ("Ærø", "aero"),
        ("Đà Nẵng", "da nang"),
        ("İstanbul Diyarbakır", "istanbul diyarbakir"),
        ("Þingvellir", "thingvellir"),
        ("Cafe\u{301}", "cafe"),
        ("Ｆｕｌｌ ｗｉｄｔｈ ①", "full width 1"),
        ("ﬁre™ Ⅷ", "firetm viii"),
        ("Ὀδυσσεύς", "οδυσσευσ"),
        ("Ёлка", "елка"),
        ("T-shirt / 3.14 (2nd)", "t shirt 3 14 2nd"),
        ("snake_case", "snake case"),
        ("naïve\u{ad}ly", "naively"),
        ("हिन्दी", "हिन्दी"),
        ("مُحَمَّد", "محمد"),
        ("مدرسة مصطفى ١٩٤٥", "مدرسه مصطفي 1945"),
        ("کتابخانه‌ی ملی ۱۳۹۰", "كتابخانهي ملي 1390"),
        ("ﻣﺪﺭﺳﺔ", "مدرسه"),
        ("!!! … — \u{1f3e0}", ""),
    ] {
        assert_eq!(fold(text), folded, "{text}");
    }
}

#[test]
fn a_word_with_apostrophes_is_followed_by_its_parts() {
    for text in ["O'Keeffe", "O’Keeffe", "o`keeffe", "O\u{b4}Keeffe", "Oʼkeeffe"] {
        assert_eq!(
            all_words(text),
            [
                ("okeeffe".to_owned(), 0, Kind::Whole),
                ("o".to_owned(), 0, Kind::Part),
                ("keeffe".to_owned(), 0, Kind::Part)
            ],
            "{text}"
        );
    }
    assert_eq!(fold("rock 'n' roll, the artists' house"), "rock n roll the artists house");
    assert_eq!(fold("a''b"), "a b");
}

#[test]
fn characters_of_scripts_without_spaces_are_words() {
    let alone = |text: &str, position, continues| (text.to_owned(), position, Kind::Character { continues });
    assert_eq!(
        all_words("東京 tower駅前"),
        [
            alone("東", 0, false),
            alone("京", 1, true),
            ("tower".to_owned(), 2, Kind::Whole),
            alone("駅", 3, false),
            alone("前", 4, true)
        ]
    );
    assert_eq!(fold("ｶﾞﾗｽの家"), "ガ ラ ス の 家");
    assert_eq!(fold("한옥"), "한 옥");
}

#[test]
fn a_middle_dot_joins_as_an_apostrophe_does() {
    for text in ["Col·legi", "Col\u{2027}legi", "Col\u{387}legi", "Co\u{140}legi"] {
        let found = all_words(text);
        let found: Vec<(&str, Kind)> = found.iter().map(|(word, _, kind)| (word.as_str(), *kind)).collect();
        assert_eq!(found, [("collegi", Kind::Whole), ("col", Kind::Part), ("legi", Kind::Part)], "{text}");
    }
    assert_eq!(fold("house · garden ·north· a··b"), "house garden north a b");
    assert_eq!(pieces("Col·legi · O’Keeffe, ' oak·").collect::<Vec<_>>(), ["Col·legi", "O’Keeffe", "oak·"]);
}

#[test]
fn a_visitor_can_stop() {
    let mut seen = 0;
    let flow = words("one two three", &mut |_| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((flow, seen), (ControlFlow::Break(()), 2));
}

#[test]
fn no_other_character_is_normalised_to_an_invisible_one() {
    let containing = (char::MIN..=char::MAX).filter(|c| c.nfkc().any(is_invisible));
    let missed: Vec<char> = containing.filter(|c| !may_contain_invisible(*c)).collect();
    assert_eq!(missed, Vec::<char>::new());
}

#[test]
fn stop_words_are_sorted_and_include_single_letters() {
    assert!(STOP_WORDS.is_sorted());
    assert_eq!(["the", "s", "oak", "7", "木"].map(is_stop_word), [true, true, false, false, false]);
}

proptest! {
    #[test]
    fn words_have_bounded_lengths_and_consecutive_positions(text in any::<String>()) {
        let mut last = None;
        for (word, position, kind) in all_words(&text) {
            if kind == Kind::Joined {
                prop_assert!(last.is_some_and(|last| position < last), "{word}");
                continue;
            }
            prop_assert!(!word.is_empty() && word.len() <= MAX_WORD_LENGTH);
            prop_assert!(!word.contains(char::is_whitespace) && !word.contains('\''));
            match kind {
                Kind::Part => prop_assert_eq!(Some(position), last),
                _ => prop_assert_eq!(position, last.map_or(0, |last: u32| last + 1)),
            }
            last = Some(position);
        }
    }

    #[test]
    fn the_words_of_the_pieces_are_those_of_the_text(text in prop_oneof![any::<String>(), "[a1\u{e9}\u{b7}' .\u{2010}\u{2011}\u{a0}東\u{ad}]{0,12}"]) {
        let apart: Vec<String> = pieces(&text).map(fold).filter(|words| !words.is_empty()).collect();
        prop_assert_eq!(apart.join(" "), fold(&text));
    }

    #[test]
    fn folding_is_idempotent(
        text in prop_oneof![any::<String>(), "[a\u{e9}\u{915}'`\u{b7}\u{140}\u{ad}\u{200d}\u{640}\u{fe71}\u{8d4}\u{94d}\u{1e5ef}\u{301} ]{0,8}"],
    ) {
        let once = fold(&text);
        prop_assert_eq!(fold(&once), once);
    }

    #[test]
    fn case_and_punctuation_do_not_matter(text in "[A-Za-z0-9 ]{0,40}") {
        prop_assert_eq!(fold(&text.to_uppercase()), fold(&text));
        prop_assert_eq!(fold(&text.replace(' ', " — «")), fold(&text));
    }
}
