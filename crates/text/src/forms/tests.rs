use proptest::prelude::*;

use super::*;

#[test]
fn singular_and_plural_are_forms_of_each_other() {
    for (one, other) in [
        ("library", "libraries"),
        ("house", "houses"),
        ("bench", "benches"),
        ("glass", "glasses"),
        ("lens", "lenses"),
        ("bus", "buses"),
        ("box", "boxes"),
        ("leaf", "leaves"),
        ("leave", "leaves"),
        ("wolf", "wolves"),
        ("child", "children"),
        ("woman", "women"),
        ("fisherman", "fishermen"),
        ("foot", "feet"),
        ("city", "cities"),
        ("movie", "movies"),
        ("niche", "niches"),
        ("curve", "curves"),
        ("cafe", "cafes"),
        ("cave", "caves"),
        ("shoe", "shoes"),
        ("studio", "studios"),
        ("process", "processes"),
        ("art", "arts"),
        ("casa", "casas"),
        ("maison", "maisons"),
        ("tannerie", "tanneries"),
        ("stair", "stairs"),
        ("key", "keys"),
        ("ox", "oxen"),
        ("soliloquy", "soliloquies"),
        ("shelf", "shelves"),
        ("mouse", "mice"),
        ("tree", "trees"),
        ("lamp", "lamps"),
        ("grandchild", "grandchildren"),
    ] {
        assert!(forms(one).iter().any(|form| form == other), "{one}: {:?}", forms(one));
        assert!(forms(other).iter().any(|form| form == one), "{other}: {:?}", forms(other));
    }
}

#[test]
fn other_words_are_no_forms() {
    for (one, other) in [
        ("news", "new"),
        ("university", "universe"),
        ("building", "build"),
        ("painting", "paint"),
        ("housing", "house"),
        ("public", "publication"),
        ("organ", "organic"),
        ("paris", "pari"),
        ("baris", "bari"),
        ("williams", "william"),
        ("adams", "adam"),
        ("cafe", "caves"),
        ("gas", "ga"),
        ("bus", "bu"),
        ("des", "de"),
        ("its", "it"),
        ("gladys", "glady"),
        ("gallerist", "gallery"),
        ("jeans", "jean"),
        ("omen", "oman"),
        ("suit", "suite"),
        ("office", "officer"),
        ("order", "ordered"),
        ("number", "numerous"),
        ("general", "generate"),
        ("marble", "marbled"),
        ("lukas", "luka"),
        ("sans", "san"),
        ("built", "building"),
        ("weave", "woven"),
        ("architect", "architecture"),
        ("leaf", "leave"),
        ("customs", "custom"),
        ("lives", "live"),
        ("wolves", "wolve"),
    ] {
        assert!(!forms(one).iter().any(|form| form == other), "{one}: {:?}", forms(one));
        assert!(!forms(other).iter().any(|form| form == one), "{other}: {:?}", forms(other));
    }
}

#[test]
fn what_is_no_english_word_has_no_forms() {
    for word in ["", "a", "of", "the", "under", "häuser", "1960s", "g7s", "東", "αβγ", "s"] {
        assert_eq!(forms(word), Vec::<String>::new(), "{word}");
    }
    assert_eq!(forms(&"x".repeat(200)).len(), 1);
}

#[test]
fn a_name_with_an_apostrophe_has_forms() {
    assert_eq!(forms("william"), Vec::<String>::new());
    assert_eq!(forms_of_owner("william"), ["williams"]);
    assert_eq!(forms_of_owner("museum"), ["museums"]);
    // Another name is no form.
    for name in ["france", "lucas", "williams", "thomas"] {
        assert_eq!(forms_of_owner(name), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_tables_are_sorted_and_hold_no_word_twice() {
    assert!(IRREGULAR_BY_SINGULAR.is_sorted_by(|one, other| one < other));
    assert!(IRREGULAR_BY_PLURAL.is_sorted_by(|one, other| one < other));
    assert!(NOT_FORMS.is_sorted_by(|one, other| one < other));
    assert!(GIVEN_NAMES.is_sorted_by(|one, other| one < other));
    let mut swapped: Vec<(&str, &str)> =
        IRREGULAR_BY_SINGULAR.iter().map(|(one, other)| (*other, *one)).collect();
    swapped.sort_unstable();
    assert_eq!(swapped, IRREGULAR_BY_PLURAL);
}

/// Returns words that end as plurals and singulars do.
fn words() -> impl Strategy<Value = String> {
    let ending =
        "(|s|es|ies|y|ys|ch|ches|sh|shes|ss|sses|x|xes|z|zes|us|is|i|u|man|men|child|children|f|ves|o|oes)";
    prop_oneof![
        ("[a-z]{0,6}", ending).prop_map(|(start, end)| start + &end),
        prop::sample::select(IRREGULAR_BY_PLURAL.to_vec()).prop_map(|(plural, _)| plural.to_owned()),
        prop::sample::select(IRREGULAR_BY_PLURAL.to_vec())
            .prop_map(|(plural, _)| plural[..plural.len() - 1].to_owned()),
        prop::sample::select(IRREGULAR_BY_SINGULAR.to_vec()).prop_map(|(singular, _)| singular.to_owned()),
    ]
}

proptest! {
    #[test]
    fn forms_are_symmetric_few_and_other_words(word in words()) {
        let found = forms(&word);
        prop_assert!(found.len() <= 6, "{word}: {found:?}");
        for form in &found {
            prop_assert!(*form != word && !is_stop_word(form) && form.len() > 1, "{word}: {form}");
            prop_assert!(forms(form).contains(&word), "{word} has {form}, which has {:?}", forms(form));
        }
    }
}
