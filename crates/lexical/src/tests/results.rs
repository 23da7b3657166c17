//! What is found, in which order, and that every text is legal.

use super::*;

#[test]
fn accents_fold_both_ways() {
    let fixture =
        Fixture::named(&["Haus am Zürichsee Zürich", "Zurich pavilion", "Łódź mill", "Casa em São Paulo"]);
    assert_eq!(fixture.find("zurich"), [1, 0]);
    assert_eq!(fixture.find("ZÜRICH"), [1, 0]);
    assert_eq!(fixture.find("Lodz"), [2]);
    assert_eq!(fixture.find("łódź"), [2]);
    assert_eq!(fixture.find("sao paulo"), [3]);
}

#[test]
fn apostrophes_may_be_typed_in_any_way() {
    let fixture = Fixture::named(&["Georgia O’Keeffe house", "Dell'Arte theatre"]);
    for text in ["o'keeffe", "okeeffe", "O’KEEFFE", "o keeffe", "keeffe", "\"georgia o'keeffe house\""] {
        assert_eq!(fixture.find(text), [0], "{text}");
    }
    assert_eq!(fixture.find("arte"), [1]);
}

#[test]
fn phrases_need_their_order_and_stay_within_a_field() {
    let mut split = Project::named(2, "Art");
    split.studio = Some("Nouveau".to_owned());
    let fixture =
        Fixture::of(&[Project::named(0, "Art Nouveau villa"), Project::named(1, "Nouveau art villa"), split]);
    assert_eq!(fixture.find("art nouveau").len(), 3);
    let exact = fixture.reader.search(&request("\"art nouveau\"")).unwrap();
    assert_eq!(ordinals(&exact), [0]);
    assert_eq!(fixture.find("“nouveau art” villa"), [1]);
    assert_eq!(fixture.find("\"art nouveau").len(), 3, "a quote that is not closed is a space");
}

#[test]
fn characters_of_a_run_are_a_phrase() {
    let fixture = Fixture::named(&["東京駅", "京東 mall", "京都 house", "ガラスの家", "한옥 마을"]);
    assert_eq!(fixture.find("東京"), [0]);
    assert_eq!(fixture.find("京").len(), 3);
    assert_eq!(fixture.find("京都 house"), [2]);
    assert_eq!(fixture.find("ｶﾞﾗｽ"), [3]);
    assert_eq!(fixture.find("한옥"), [4]);
}

#[test]
fn exact_matches_come_before_completions() {
    let fixture = Fixture::named(&["Artisan bakery", "The art house", "Artists' colony", "Cart"]);
    assert_eq!(fixture.find("art"), [1, 0, 2]);
    let scores = fixture.scores("art");
    assert!(scores[0] >= 1.0 && scores[1] < 1.0 && scores[1] > 0.0, "{scores:?}");
    assert_eq!(fixture.find("house art"), [1]);
    assert_eq!(fixture.find("house ar"), [1]);
}

#[test]
fn typos_are_corrected_if_nothing_matches_exactly() {
    let fixture = Fixture::named(&["Concrete museum", "Timber house", "Horse stable", "Mausoleum 1939"]);
    for (text, found) in [
        ("musuem", vec![0]), // a transposition
        ("nuseum", vec![0]), // the first letter
        ("concrte muzeum", vec![0]),
        ("kconcretee", vec![0]), // two typos in a long word
        ("tinber house", vec![1]),
        ("timber horse", vec![1]), // both words occur, but not in one project
        ("1938", vec![]),          // numbers are not corrected
    ] {
        assert_eq!(fixture.find(text), found, "{text}");
    }
    assert_eq!(fixture.find("house"), [1], "fuzzy matches are not added to an exact one");
}

#[test]
fn a_word_in_quotes_is_never_corrected() {
    let fixture = Fixture::named(&["Concrete museum", "Timber house", "Timber hours"]);
    let answer = |text: &str| {
        let page = fixture.reader.search(&request(text)).unwrap();
        let relaxation = page.relaxation().unwrap();
        let suggested = relaxation.did_you_mean.clone().map(|suggestion| suggestion.query);
        (ordinals(&page), relaxation.kind, relaxation.unknown_words.clone(), suggested)
    };
    let unknown = |word: &str| vec![word.to_owned()];
    let meant = |words: &str| Some(words.to_owned());
    assert_eq!(answer("musuem"), (vec![0], RelaxationKind::Corrected, unknown("musuem"), None));
    assert_eq!(answer("\"musuem\""), (vec![], RelaxationKind::NoMatches, unknown("musuem"), meant("museum")));
    assert_eq!(
        answer("“nuseum”"),
        (vec![], RelaxationKind::NoMatches, unknown("nuseum"), meant("museum")),
        "nor in the fuzzy tier"
    );
    assert_eq!(
        answer("timber hosue \"musuem\"").0,
        [1],
        "the other words are corrected still, and most of them are enough"
    );
}

#[test]
fn more_than_half_of_the_words_must_match_and_half_is_too_few() {
    let fixture = Fixture::named(&["Stone tower by the sea", "Glass tower", "Stone bridge sea"]);
    assert_eq!(fixture.find("stone tower xylophone"), [0]);
    assert_eq!(fixture.find("a stone tower xylophone"), [0], "short words are not significant");
    for text in ["stone tower xylophone qwertz", "tower xylophone", "xylophone", "sea xylophone"] {
        assert_eq!(fixture.find(text), Vec::<u64>::new(), "{text}");
    }
}

#[test]
fn characters_of_scripts_without_spaces_are_required() {
    let fixture = Fixture::named(&["東京 stone tower", "京東 stone tower", "Stone tower"]);
    assert_eq!(fixture.find("東京 stone tower xylophone"), [0]);
    assert_eq!(fixture.find("東京駅 stone tower"), Vec::<u64>::new());
}

#[test]
fn frequent_words_are_not_significant_and_words_are_corrected_to_them() {
    let mut names = vec!["House and garden"; 20];
    names.extend(["Timber stable", "Sandstone gate"]);
    let fixture = Fixture::named(&names);
    assert_eq!(fixture.find("house and garden").len(), 20, "exactly");
    let suggested = |text: &str| {
        let page = fixture.reader.search(&request(text)).unwrap();
        let relaxation = page.relaxation().unwrap().clone();
        (page.total(), relaxation.did_you_mean.map(|suggestion| (suggestion.query, suggestion.total)))
    };
    for (text, expected) in [
        ("housse", (20, None)),
        ("gardenn house", (20, None)),
        ("xyzzy house", (0, Some(("house".to_owned(), 20)))),
        ("timber garden", (1, None)),
    ] {
        assert_eq!(suggested(text), expected, "{text}");
    }
    assert_eq!(suggested("anda"), (0, None), "no word is corrected to one of three letters");
}

#[test]
fn what_is_shown_is_not_suggested() {
    let mut names = vec!["House and garden"; 20];
    names.extend([
        "Timber stable",
        "Timber gate",
        "Timber tower",
        "Larch school in Hobart",
        "Oak school in Bergen",
    ]);
    let fixture = Fixture::named(&names);
    let suggested = |request: &SearchRequest<'_>| {
        let page = fixture.reader.search(request).unwrap();
        let suggestion = page.relaxation().unwrap().did_you_mean.clone();
        (page.total(), suggestion.map(|suggestion| (suggestion.query, suggestion.total)), page.next_cursor())
    };
    for (text, expected) in [
        // The three of the rarer word are all that there are.
        ("timber garden", (3, None)),
        ("timber school Hobart", (1, None)),
        // One is shown, and another query finds two.
        ("school 1964", (0, Some(("school".to_owned(), 2)))),
    ] {
        let (total, suggestion, _) = suggested(&request(text));
        assert_eq!((total, suggestion), expected, "{text}");
    }
    // A page that has only some of the results says the same as one with all of them, and so does the next one.
    let mut one = SearchRequest { limit: 1, ..request("timber garden") };
    let (total, suggestion, next) = suggested(&one);
    assert_eq!((total, suggestion), (3, None));
    one.after = next;
    let (total, suggestion, next) = suggested(&one);
    assert_eq!((total, suggestion, next.is_some()), (3, None, true));
}

#[test]
fn the_name_outweighs_the_intro_and_the_newest_comes_first_among_equals() {
    let mut mentioned = Project::named(0, "House");
    mentioned.intro = Some("with a view of the lighthouse".to_owned());
    let day = |ordinal, published| Project { published, ..Project::named(ordinal, "Twin") };
    let fixture = Fixture::of(&[
        mentioned,
        Project::named(1, "Lighthouse"),
        day(2, None),
        day(3, Some(10)),
        day(4, Some(-5)),
        day(5, Some(20_000)),
        day(6, None),
        day(7, Some(10)),
    ]);
    assert_eq!(fixture.find("lighthouse"), [1, 0]);
    assert_eq!(fixture.find("twin"), [5, 3, 7, 4, 2, 6]);
}

#[test]
fn the_category_is_a_filter_and_a_searched_word() {
    let projects: Vec<Project> = random_projects(300, 5);
    let fixture = Fixture::of(&projects);
    for category in CATEGORIES {
        let filtered = SearchRequest { category: Some(category), ..request("stone") };
        let page = fixture.reader.search(&filtered).unwrap();
        let all = projects.iter().filter(|project| project.category == category);
        let expected = all.filter(|project| {
            let fields =
                [Some(&project.name), project.studio.as_ref(), project.city.as_ref(), project.intro.as_ref()];
            fields.into_iter().flatten().any(|field| text::fold(field).split(' ').any(|word| word == "stone"))
        });
        assert_eq!(page.total(), expected.count() as u64);
        assert!(ordinals(&page).iter().all(|&ordinal| projects[ordinal as usize].category == category));
    }
    assert!(fixture.reader.search(&request("architecture")).unwrap().total() > 50);
    let unknown = SearchRequest { category: Some("music"), ..request("stone") };
    assert_eq!(fixture.reader.search(&unknown).unwrap().total(), 0);
}

#[test]
fn any_text_is_legal() {
    let fixture = Fixture::of(&random_projects(50, 6));
    let garbage: String = (0..60_000_u32).filter_map(|number| char::from_u32(number * 17 % 0x3000)).collect();
    for text in [
        "",
        "   ",
        "!!!",
        "\"",
        "\"\"\"",
        "AND OR NOT",
        "a:(^",
        "*",
        "\u{0}",
        "\u{1f}\u{1f}",
        "-",
        "'",
        "\u{1f3e0}",
    ] {
        fixture.reader.search(&request(text)).unwrap();
    }
    for text in ["(".repeat(800), "\"".repeat(60_000), garbage, "東".repeat(60_000), "x".repeat(60_000)] {
        fixture.reader.search(&request(&text)).unwrap();
    }
    assert_eq!(fixture.reader.search(&request("!!!")).unwrap().total(), 0);
    let mut control = Project::named(90, "Control");
    control.studio = Some("sepa\u{1f}rator".to_owned());
    let fixture = Fixture::of(&[control]);
    assert_eq!(fixture.find("sepa rator control"), [0x5a]);
}

#[test]
fn suggested_slugs_are_spelled_alike_or_share_words() {
    let names = ["Villa Savoye", "Villa Tugendhat", "Farnsworth House", "Tower"];
    let projects: Vec<Project> = (0..)
        .zip(names)
        .map(|(ordinal, name)| Project {
            slug: text::fold(name).replace(' ', "-"),
            ..Project::named(ordinal, name)
        })
        .collect();
    let fixture = Fixture::of(&projects);
    let suggest = |slug: &str| fixture.reader.suggest_slugs(slug, 3).unwrap();
    assert_eq!(suggest("vila-savoy"), ["villa-savoye"]);
    assert_eq!(suggest("villa-savoye")[..], ["villa-tugendhat"][..0]);
    assert_eq!(suggest("house-by-farnsworth"), ["farnsworth-house"]);
    assert_eq!(suggest("tugendhat"), ["villa-tugendhat"]);
    assert_eq!(suggest(&"x".repeat(5_000)), Vec::<String>::new());
    assert_eq!(suggest(""), Vec::<String>::new());
}
