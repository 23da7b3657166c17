//! What matches, and in which order.

use super::*;

#[tokio::test]
async fn words_are_folded_and_lose_their_english_endings() {
    let texts = [
        "Concrete, brushed steel",
        "Béton brut",
        "Stacked concretes and glass",
        "O'Keeffe's bones, l'été",
        "東京の木材, 京都",
        "5㎡ of Straße",
    ];
    let events: Vec<NumberedEvent> =
        (1..).zip(texts).map(|(number, text)| with_text(number, Dimension::Material, text)).collect();
    let archive = Archive::of(&events).await;
    for (query, expected) in [
        ("concretes", vec![1, 3]),
        ("CONCRETE", vec![1, 3]),
        ("brush", vec![1]),
        ("beton", vec![2]),
        ("be\u{301}ton", vec![2]),
        ("concrete glass", vec![3]),
        ("concrete brut", vec![]),
        ("and", vec![3]),
        ("okeeffes", vec![4]),
        ("keeffe", vec![4]),
        ("été", vec![4]),
        ("東京", vec![5]),
        ("京", vec![5]),
        ("京都 木材", vec![5]),
        ("京東", vec![]),
        ("都京", vec![]),
        ("東京木", vec![]),
        ("5m2 strasse", vec![6]),
        ("conc", vec![]),
    ] {
        assert_eq!(
            archive.found(Dimension::Material, query),
            (expected.clone(), expected.len() as u64),
            "{query}"
        );
        assert_eq!(archive.found(Dimension::Light, query), (vec![], 0), "{query} in another dimension");
    }
}

#[tokio::test]
async fn any_text_is_a_valid_query_and_the_answer_describes_each_dimension() {
    let archive =
        Archive::of(&[with_text(1, Dimension::Mood, "calm"), with_text(2, Dimension::Light, "dim")]).await;
    let many = (0..17).map(|n| format!("w{n} ")).collect::<String>();
    let request = taste_request(&[
        (Dimension::Subject, &many),
        (Dimension::Mood, "calm, calming, Calm"),
        (Dimension::Light, "\u{0}…—'"),
        (Dimension::Color, ""),
        (Dimension::Material, "unheard"),
    ]);
    let page = archive.reader.listing().by_taste(&request).unwrap();
    let matches = |dimension, words, is_truncated, projects| DimensionMatches {
        dimension,
        words,
        is_truncated,
        projects,
    };
    let expected = TastePage {
        hits: vec![Hit { ordinal: 1, matched: [Dimension::Mood].into_iter().collect() }],
        total: 1,
        by_matched: vec![1, 0, 0, 0, 0],
        next: None,
        dimensions: vec![
            matches(Dimension::Material, 1, false, 0),
            matches(Dimension::Light, 0, false, 0),
            matches(Dimension::Color, 0, false, 0),
            matches(Dimension::Mood, 1, false, 1),
            matches(Dimension::Subject, 16, true, 0),
        ],
    };
    assert_eq!(page, expected);
    let all =
        archive.reader.listing().by_taste(&TasteRequest { matching: MatchMode::All, ..request }).unwrap();
    assert_eq!(all, TastePage { hits: vec![], total: 0, ..expected });
    let nothing = TastePage { hits: vec![], total: 0, by_matched: vec![], next: None, dimensions: vec![] };
    for matching in [MatchMode::Any, MatchMode::All] {
        let request = TasteRequest { matching, ..taste_request(&[]) };
        assert_eq!(archive.reader.listing().by_taste(&request).unwrap(), nothing);
        assert_eq!(archive.reader.listing().matching_taste(&request).len(), 0);
    }
}

#[tokio::test]
async fn more_dimensions_come_first_then_the_newest_then_the_slug() {
    use Dimension::{Light, Material, Mood};
    let (both, one) = (&[(Material, "oak"), (Mood, "calm")], &[(Mood, "calm")]);
    let archive = Archive::of(&[
        selected(1, "z", record(Category::Art, Some("2020-01-02"), one)),
        selected(2, "y", record(Category::Art, None, both)),
        selected(3, "x", record(Category::Design, Some("1969-12-31"), both)),
        selected(4, "w", record(Category::Art, Some("2020-01-02"), one)),
        selected(5, "v", record(Category::Art, Some("2024-06-30"), &[(Light, "oak calm")])),
        selected(6, "u", record(Category::Art, None, one)),
    ])
    .await;
    let request = taste_request(&[(Mood, "calm"), (Material, "oak"), (Light, "dim")]);
    let page = archive.reader.listing().by_taste(&request).unwrap();
    let hits: Vec<(u64, Vec<Dimension>)> =
        page.hits.iter().map(|hit| (hit.ordinal, hit.matched.iter().collect())).collect();
    let two = vec![Material, Mood];
    assert_eq!(hits, [(3, two.clone()), (2, two), (4, vec![Mood]), (1, vec![Mood]), (6, vec![Mood])]);
    let of_art = TasteRequest { category: Some(Category::Art), ..request };
    let page = archive.reader.listing().by_taste(&of_art).unwrap();
    let projects: Vec<u64> = page.dimensions.iter().map(|dimension| dimension.projects).collect();
    assert_eq!((page.total, projects), (4, vec![1, 0, 4]));
}

#[tokio::test]
async fn all_requested_dimensions_may_be_required_and_it_is_counted_what_that_leaves_out() {
    use Dimension::{Light, Material, Mood, Subject};
    let archive = Archive::of(&[
        selected(1, "a", record(Category::Art, None, &[(Material, "oak"), (Mood, "calm")])),
        selected(2, "b", record(Category::Art, None, &[(Material, "oak"), (Light, "dusk"), (Mood, "calm")])),
        selected(3, "c", record(Category::Design, None, &[(Light, "dusk")])),
        selected(
            4,
            "d",
            record(Category::Art, Some("2020-01-02"), &[(Light, "dusk"), (Material, "pine, oak")]),
        ),
    ])
    .await;
    let listing = archive.reader.listing();
    let found = |taste: &[(Dimension, &str)], category, matching| {
        let request = TasteRequest { matching, category, ..taste_request(taste) };
        let page = listing.by_taste(&request).unwrap();
        let set = listing.matching_taste(&request);
        let selected = listing.select(&Filters::of_category(category));
        let within = Some(Selection { set: &selected, fingerprint: 1 });
        let by_name = TasteRequest { category: None, within, ..request };
        let ordered = listing.by_taste_in_order(&by_name, &Order::Newest).unwrap();
        assert_eq!((ordered.total, &ordered.by_matched), (page.total, &page.by_matched));
        assert_eq!((set.len(), page.hits.len() as u64), (page.total, page.total));
        assert!(page.hits.iter().all(|hit| set.contains(hit.ordinal) && ordered.hits.contains(hit)));
        (page.hits.iter().map(|hit| hit.ordinal).collect::<Vec<_>>(), page.by_matched)
    };
    let three = [(Material, "oak"), (Light, "dusk"), (Mood, "calm")];
    assert_eq!(found(&three, None, MatchMode::Any), (vec![2, 4, 1, 3], vec![1, 2, 1]));
    assert_eq!(found(&three, None, MatchMode::All), (vec![2], vec![1, 2, 1]));
    assert_eq!(found(&three, Some(Category::Design), MatchMode::All), (vec![], vec![1, 0, 0]));
    let two = [(Material, "oak"), (Light, "dusk")];
    assert_eq!(found(&two, None, MatchMode::All), (vec![4, 2], vec![2, 2]));
    let four = [(Material, "oak"), (Light, "dusk"), (Mood, "calm"), (Subject, "library")];
    assert_eq!(found(&four, None, MatchMode::All), (vec![], vec![1, 2, 1, 0]));
    assert_eq!(found(&[(Mood, "calm")], None, MatchMode::All), (vec![1, 2], vec![2]));
}

#[test]
fn a_mode_has_a_name() {
    let parsed = ["any", " ALL", "", "most"].map(MatchMode::parse);
    assert_eq!(parsed, [Some(MatchMode::Any), Some(MatchMode::All), None, None]);
    assert_eq!((MatchMode::default(), MatchMode::NAMES[0]), (MatchMode::Any, "any"));
}

#[tokio::test]
async fn withdrawn_projects_are_not_listed_and_a_renamed_one_is_listed_once() {
    let mut archive =
        Archive::of(&[with_text(1, Dimension::Mood, "calm"), with_text(2, Dimension::Mood, "calm")]).await;
    archive.apply(&[withdrawn(1)]).await;
    assert_eq!(archive.found(Dimension::Mood, "calm"), (vec![2], 1));
    assert_eq!(
        (archive.reader.listing().listed(None), archive.reader.listing().random(None, u64::MAX)),
        (1, Some(2))
    );
    archive.apply(&[renamed(2, "zz"), restored(1)]).await;
    assert_eq!(archive.found(Dimension::Mood, "calm"), (vec![1, 2], 2));
    archive.apply(&[renamed(2, "aa")]).await;
    assert_eq!(archive.reader.listing().newest(None, 9, None).unwrap().ordinals, [2, 1]);
    archive.apply(&[revised(2, record(Category::Design, Some("2001-01-01"), &[]))]).await;
    assert_eq!(archive.found(Dimension::Mood, "calm"), (vec![1], 1));
    assert_eq!(archive.reader.listing().newest(Some(Category::Design), 9, None).unwrap().ordinals, [2]);
    archive.apply(&[withdrawn(1), withdrawn(2)]).await;
    let empty = NewestPage { ordinals: vec![], total: 0, next: None };
    assert_eq!(archive.reader.listing().newest(None, 9, None).unwrap(), empty);
    assert_eq!(archive.reader.listing().random(None, 0), None);
}

#[tokio::test]
async fn a_commit_without_changed_projects_keeps_the_snapshot() {
    let mut archive = Archive::of(&[with_text(1, Dimension::Mood, "calm")]).await;
    let before = archive.reader.snapshot();
    archive.apply(&[]).await;
    assert!(std::sync::Arc::ptr_eq(&before, &archive.reader.snapshot()));
    assert_eq!(archive.reader.checkpoint().await.unwrap(), *archive.writer.checkpoint());
}

#[test]
fn the_phrases_of_a_text_stand_where_they_are_written() {
    let phrases = |text: &'static str| -> Vec<&str> {
        stemming::phrases(text).into_iter().map(|range| &text[range]).collect()
    };
    assert_eq!(phrases(" Pale grey, moss green; (honey)."), ["Pale grey", "moss green", "honey"]);
    assert_eq!(phrases("dusk / Col·legi • L’été"), ["dusk", "Col·legi", "L’été"]);
    assert_eq!(phrases("خشب، حجر"), ["خشب", "حجر"]);
    assert_eq!(phrases(", –, "), [""; 0]);
    let sentence = "it is lit by one long window in the north and by nothing else at all, dusk";
    assert_eq!(phrases(sentence), ["dusk"], "a sentence is none");
    proptest::proptest!(|(text in ".{0,40}")| {
        let found = stemming::phrases(&text);
        let mut taste = schemas::taste::Taste::default();
        taste.set(Dimension::Mood, Some(text.clone()));
        let stored = stemming::stored_words(&taste);
        let stored: Vec<&str> = stemming::stored_phrases(&stored).map(|(_, phrase)| phrase).collect();
        for range in found {
            let form = stemming::phrase_form(&text[range]);
            proptest::prop_assert!(stored.contains(&form.as_str()), "{form} in {stored:?}");
        }
    });
}

#[test]
fn stored_pieces_have_the_words_of_their_text() {
    use text::{fold, pieces};
    proptest::proptest!(|(text in ".{0,40}")| {
        let apart: Vec<String> = pieces(&text).map(fold).filter(|words| !words.is_empty()).collect();
        proptest::prop_assert_eq!(apart.join(" "), fold(&text));
        let mut taste = schemas::taste::Taste::default();
        taste.set(Dimension::Mood, Some(text.clone()));
        let stored = stemming::stored_words(&taste);
        let again: Vec<String> =
            stemming::stored_pieces(&stored).map(|(_, piece)| fold(piece)).filter(|words| !words.is_empty()).collect();
        let mut distinct = again.join(" ").split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut expected = fold(&text).split(' ').map(str::to_owned).collect::<Vec<_>>();
        distinct.sort();
        distinct.dedup();
        expected.sort();
        expected.dedup();
        proptest::prop_assert_eq!(distinct, expected);
    });
}
