//! What is found, in which order, and what is no error.

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
fn characters_of_a_run_must_follow_each_other() {
    let fixture = Fixture::named(&["東京駅", "京東 mall", "京都 house", "ガラスの家", "한옥 마을"]);
    assert_eq!(fixture.find("東京"), [0]);
    assert_eq!(fixture.find("京").len(), 3);
    assert_eq!(fixture.find("京都 house"), [2]);
    assert_eq!(fixture.find("ｶﾞﾗｽ"), [3]);
    assert_eq!(fixture.find("한옥"), [4]);
}

#[test]
fn exact_matches_come_first_then_longer_words() {
    let fixture = Fixture::named(&["Artisan bakery", "The art house", "Artists' colony", "Cart"]);
    assert_eq!(fixture.find("art"), [1, 0, 2]);
    let scores = fixture.scores("art");
    assert!(scores[0] >= 1.0 && scores[1] < 1.0 && scores[1] > 0.0, "{scores:?}");
    assert_eq!(fixture.find("house art"), [1]);
    assert_eq!(fixture.find("house ar"), [1]);
}

#[test]
fn typos_are_forgiven_where_nothing_is_exact() {
    let fixture = Fixture::named(&["Concrete museum", "Timber house", "Horse stable", "Mausoleum 1939"]);
    for (text, found) in [
        ("musuem", vec![0]), // a swap
        ("nuseum", vec![0]), // the first letter
        ("concrte muzeum", vec![0]),
        ("kconcretee", vec![0]), // two, in a long word
        ("tinber house", vec![1]),
        ("timber horse", vec![1]), // both are words, but of no one project
        ("1938", vec![]),          // figures are not guessed
    ] {
        assert_eq!(fixture.find(text), found, "{text}");
    }
    assert_eq!(fixture.find("house"), [1], "an exact match is not polluted");
}

#[test]
fn most_of_the_words_are_better_than_nothing_and_half_of_them_are_not() {
    let fixture = Fixture::named(&["Stone tower by the sea", "Glass tower", "Stone bridge sea"]);
    assert_eq!(fixture.find("stone tower xylophone"), [0]);
    assert_eq!(fixture.find("a stone tower xylophone"), [0], "short words count for nothing");
    for text in ["stone tower xylophone qwertz", "tower xylophone", "xylophone", "sea xylophone"] {
        assert_eq!(fixture.find(text), Vec::<u64>::new(), "{text}");
    }
}

#[test]
fn what_is_written_without_spaces_is_left_out_by_no_one() {
    let fixture = Fixture::named(&["東京 stone tower", "京東 stone tower", "Stone tower"]);
    assert_eq!(fixture.find("東京 stone tower xylophone"), [0]);
    assert_eq!(fixture.find("東京駅 stone tower"), Vec::<u64>::new());
}

#[test]
fn frequent_words_carry_nothing_and_nothing_is_mended_towards_them() {
    let mut names = vec!["House and garden"; 20];
    names.extend(["Timber stable", "Sandstone gate"]);
    let fixture = Fixture::named(&names);
    assert_eq!(fixture.find("house and garden").len(), 20, "as it stands");
    let forgiven = |text: &str| {
        let page = fixture.reader.search(&request(text)).unwrap();
        let forgiven = page.forgiven().unwrap().clone();
        (page.total(), forgiven.did_you_mean.map(|suggestion| (suggestion.query, suggestion.total)))
    };
    for (text, suggested) in [
        ("housse", "house"),
        ("xyzzy house", "house"),
        ("timber garden", "timber"),
        ("gardenn house", "garden house"),
    ] {
        let finds = if suggested == "timber" { 1 } else { 20 };
        assert_eq!(
            forgiven(text),
            (if text.starts_with("timber") { 1 } else { 0 }, Some((suggested.to_owned(), finds))),
            "{text}"
        );
    }
    assert_eq!(forgiven("anda"), (0, None), "three letters are nothing to mend towards");
}

#[test]
fn name_outweighs_intro_and_ties_go_to_the_newest() {
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
fn the_category_filters_exactly_and_is_a_word_too() {
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
fn near_slugs_are_misspelt_or_share_words() {
    let names = ["Villa Savoye", "Villa Tugendhat", "Farnsworth House", "Tower"];
    let projects: Vec<Project> = (0..)
        .zip(names)
        .map(|(ordinal, name)| Project {
            slug: text::fold(name).replace(' ', "-"),
            ..Project::named(ordinal, name)
        })
        .collect();
    let fixture = Fixture::of(&projects);
    let near = |slug: &str| fixture.reader.near_slugs(slug, 3).unwrap();
    assert_eq!(near("vila-savoy"), ["villa-savoye"]);
    assert_eq!(near("villa-savoye")[..], ["villa-tugendhat"][..0]);
    assert_eq!(near("house-by-farnsworth"), ["farnsworth-house"]);
    assert_eq!(near("tugendhat"), ["villa-tugendhat"]);
    assert_eq!(near(&"x".repeat(5_000)), Vec::<String>::new());
    assert_eq!(near(""), Vec::<String>::new());
}
