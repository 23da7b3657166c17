//! The most used words, and suggestions for unused ones.

use proptest::prelude::*;

use super::super::vocabulary::RecountPolicy;
use super::naive::{Naive, changes};
use super::*;

fn term(term: &str, projects: u64) -> Term {
    Term { term: term.into(), projects }
}

#[tokio::test]
async fn a_term_is_its_most_frequent_form_and_counts_projects() {
    let mut archive = Archive::of(&[
        with_text(1, Dimension::Mood, "Béton and the light of lights"),
        with_text(2, Dimension::Mood, "béton, Lights"),
        with_text(3, Dimension::Mood, "beton; lights & lighting"),
        with_text(4, Dimension::Light, "O'Keeffe, 東京"),
        selected(5, "e", record(Category::Design, None, &[(Dimension::Mood, "zinc, ash")])),
    ])
    .await;
    let terms = |archive: &Archive, dimension, category, limit| {
        let found = archive.reader.listing().terms(TermKind::Word, Some(dimension), category, limit);
        assert_eq!(found.len(), 1);
        (found[0].terms.clone(), found[0].distinct)
    };
    let all = vec![term("béton", 3), term("lights", 3), term("ash", 1), term("zinc", 1)];
    assert_eq!(terms(&archive, Dimension::Mood, None, 9), (all.clone(), 4));
    assert_eq!(terms(&archive, Dimension::Mood, None, 3), (all[..3].to_vec(), 4));
    assert_eq!(terms(&archive, Dimension::Mood, None, 0), (vec![], 4));
    let of_design = vec![term("ash", 1), term("zinc", 1)];
    assert_eq!(terms(&archive, Dimension::Mood, Some(Category::Design), 9), (of_design, 2));
    let of_light = ["keeffe", "o'keeffe", "京", "東", "東京"].map(|one| term(one, 1)).to_vec();
    assert_eq!(terms(&archive, Dimension::Light, None, 9), (of_light, 5));
    let dimensions: Vec<Dimension> = archive
        .reader
        .listing()
        .terms(TermKind::Word, None, None, 9)
        .iter()
        .map(|terms| terms.dimension)
        .collect();
    assert_eq!(dimensions, Dimension::ALL);
    archive.apply(&[withdrawn(1), withdrawn(2)]).await;
    let left = vec![term("ash", 1), term("beton", 1), term("lighting", 1), term("zinc", 1)];
    assert_eq!(terms(&archive, Dimension::Mood, None, 9), (left, 4));
}

#[tokio::test]
async fn a_phrase_is_what_stands_between_marks() {
    let mut archive = Archive::of(&[
        with_text(1, Dimension::Light, "North light, even; soft"),
        with_text(2, Dimension::Light, "north  light · EVEN"),
        with_text(3, Dimension::Light, "even north, light"),
        with_text(4, Dimension::Light, "東京, north-light"),
        with_text(5, Dimension::Light, &format!("{} which is a sentence", "so long a text ".repeat(4))),
    ])
    .await;
    let phrases = |archive: &Archive| {
        let found = archive.reader.listing().terms(TermKind::Phrase, Some(Dimension::Light), None, 9);
        found[0].terms.clone()
    };
    let all = [("north light", 3), ("even", 2), ("even north", 1), ("light", 1), ("soft", 1), ("東京", 1)];
    assert_eq!(phrases(&archive), all.map(|(phrase, projects)| term(phrase, projects)));
    let found = |archive: &Archive, text: &str| {
        let page = archive.reader.listing().by_taste(&taste_request(&[(Dimension::Light, text)])).unwrap();
        page.hits.iter().map(|hit| hit.ordinal).collect::<Vec<_>>()
    };
    assert_eq!(found(&archive, "north light").len(), 4, "the words, wherever they stand");
    assert_eq!(found(&archive, "\"North Light\"").len(), 3);
    assert_eq!(found(&archive, " “even” ").len(), 2);
    assert_eq!(found(&archive, "\"東京\"").len(), 1);
    assert!(found(&archive, "\"light even\"").is_empty() && found(&archive, "\"\"").is_empty());
    archive.apply(&[withdrawn(1)]).await;
    assert_eq!(phrases(&archive)[0], term("north light", 2));
}

#[tokio::test]
async fn commas_of_any_script_are_between_phrases() {
    let archive = Archive::of(&[
        with_text(1, Dimension::Mood, "north light、calm"),
        with_text(2, Dimension::Mood, "north light，calm"),
        with_text(3, Dimension::Mood, "calm؛ north light"),
    ])
    .await;
    let found = archive.reader.listing().terms(TermKind::Phrase, Some(Dimension::Mood), None, 9);
    assert_eq!(found[0].terms, [term("calm", 3), term("north light", 3)]);
}

#[tokio::test]
async fn a_middle_dot_between_letters_joins_them() {
    let archive = Archive::of(&[
        with_text(1, Dimension::Mood, "Paral·lel lines · calm·"),
        with_text(2, Dimension::Mood, "paral\u{2027}lel lines; calm"),
        with_text(3, Dimension::Mood, "parallel"),
    ])
    .await;
    let terms = |kind| {
        let found = archive.reader.listing().terms(kind, Some(Dimension::Mood), None, 9);
        found[0].terms.clone()
    };
    let phrases = [("calm", 2), ("paral·lel lines", 2), ("parallel", 1)];
    assert_eq!(terms(TermKind::Phrase), phrases.map(|(phrase, projects)| term(phrase, projects)));
    // Each term is said in its most frequent form.
    let words = [("paral·lel", 3), ("calm", 2), ("lel", 2), ("lines", 2), ("paral", 2)];
    assert_eq!(terms(TermKind::Word), words.map(|(word, projects)| term(word, projects)));
    for text in ["paral·lel", "parallel", "PARAL’LEL"] {
        assert_eq!(archive.found(Dimension::Mood, text).1, 3, "{text}");
    }
    assert_eq!(archive.found(Dimension::Mood, "\"Paral·lel lines\"").1, 2);
}

/// Returns the words of all pages, which have two each, and the number that each page says there are.
fn paged(
    archive: &Archive,
    (kind, dimension): (TermKind, Dimension),
    category: Option<Category>,
    starts_with: &str,
) -> (Vec<Term>, u64) {
    let (mut all, mut after, mut pages) = (Vec::new(), None::<String>, Vec::new());
    loop {
        let after_last = after.as_deref().map(|text| text.parse().unwrap());
        let request = TermsRequest { dimension, kind, category, starts_with, limit: 2, after: after_last };
        let TermsPage { terms, next } = archive.reader.listing().terms_page(request).unwrap();
        assert!(next.is_none() || terms.terms.len() == 2, "{terms:?}");
        pages.push(terms.distinct);
        all.extend(terms.terms);
        after = next.map(|cursor| cursor.to_string());
        if after.is_none() {
            pages.dedup();
            assert_eq!(pages.len(), 1);
            return (all, pages[0]);
        }
    }
}

#[tokio::test]
async fn words_are_listed_by_their_beginning_and_page_by_page() {
    let long = "x".repeat(130);
    let archive = Archive::of(&[
        with_text(1, Dimension::Mood, "béton brut, bright, brass"),
        with_text(2, Dimension::Mood, &format!("Béton, brick, bread, {long}")),
        with_text(3, Dimension::Light, "brown"),
    ])
    .await;
    let (all, distinct) = paged(&archive, (TermKind::Word, Dimension::Mood), None, "");
    let expected = [
        ("béton", 2),
        ("brass", 1),
        ("bread", 1),
        ("brick", 1),
        ("bright", 1),
        ("brut", 1),
        (long.as_str(), 1),
    ];
    assert_eq!((all, distinct), (expected.map(|(word, count)| term(word, count)).to_vec(), 7));
    let (found, distinct) = paged(&archive, (TermKind::Word, Dimension::Mood), None, " BR");
    assert_eq!(
        (found, distinct),
        (expected[1..6].iter().map(|(word, count)| term(word, *count)).collect(), 5)
    );
    assert_eq!(paged(&archive, (TermKind::Word, Dimension::Mood), None, "BETO"), (vec![term("béton", 2)], 1));
    for nothing in ["brown", "***", "bri ck"] {
        assert_eq!(
            paged(&archive, (TermKind::Word, Dimension::Mood), None, nothing),
            (vec![], 0),
            "{nothing}"
        );
    }
    assert_eq!(paged(&archive, (TermKind::Word, Dimension::Mood), Some(Category::Design), ""), (vec![], 0));
    let request = |dimension, starts_with, after| TermsRequest {
        kind: TermKind::Word,
        dimension,
        category: None,
        starts_with,
        limit: 2,
        after,
    };
    let next = archive.reader.listing().terms_page(request(Dimension::Mood, "", None)).unwrap().next;
    assert!(next.as_ref().is_some_and(|cursor| cursor.to_string().len() <= 200));
    for other in [request(Dimension::Light, "", next.clone()), request(Dimension::Mood, "b", next)] {
        assert!(archive.reader.listing().terms_page(other).is_err());
    }
}

#[tokio::test]
async fn similar_words_are_suggested_for_an_unused_word() {
    let archive = Archive::of(&[
        with_text(1, Dimension::Material, "travertine, concrete"),
        with_text(2, Dimension::Material, "Concrete; brick"),
        with_text(3, Dimension::Material, "bricolage, bone, béton brut"),
        with_text(4, Dimension::Mood, "concret"),
    ])
    .await;
    let near = |text, limit| archive.reader.listing().nearest_terms(Dimension::Material, text, limit);
    assert_eq!(near("travartin", 5), [term("travertine", 1)]);
    assert_eq!(near("cnocrete", 5), [term("concrete", 2)]);
    assert_eq!(near("BÉTTON", 5), [term("béton", 1)]);
    assert_eq!(near("bric", 5), [term("brick", 1), term("bricolage", 1)]);
    assert_eq!(near("bric", 1), [term("brick", 1)]);
    assert_eq!(near("concretes bricks", 5), [], "both are used");
    assert_eq!(near("brick bronze", 5), [term("bone", 1)]);
    assert_eq!(near("qqqqq qqqqq wwwww travartin", 5), [term("travertine", 1)], "a word twice is one");
    assert_eq!(near("brick concrete bone qqqqq travartin", 5), [term("travertine", 1)]);
    assert_eq!(near("qqqqq wwwww eeeee travartin", 5), [], "only three words are looked up");
    assert_eq!(near("", 5), []);
    assert_eq!(near("木", 5), []);
}

#[tokio::test]
async fn words_of_a_large_archive_are_counted_at_intervals_and_never_by_a_query() {
    let mut archive = Archive::of(&[with_text(1, Dimension::Mood, "calm")]).await;
    let of_mood = |archive: &Archive, category| {
        archive.reader.listing().terms(TermKind::Word, Some(Dimension::Mood), category, 9)[0].terms.clone()
    };
    assert_eq!(of_mood(&archive, Some(Category::Art)), of_mood(&archive, None));
    archive.reader = archive.reader.with_recount(RecountPolicy { always_up_to: 0, interval: u32::MAX });
    archive.apply(&[with_text(2, Dimension::Mood, "calm")]).await;
    assert_eq!(archive.found(Dimension::Mood, "calm"), (vec![1, 2], 2));
    assert_eq!(of_mood(&archive, None), [term("calm", 1)]);
    archive.reader = archive.reader.with_recount(RecountPolicy { always_up_to: 0, interval: 0 });
    archive.reader.refresh().await.unwrap();
    for category in [None, Some(Category::Art)] {
        assert_eq!(of_mood(&archive, category), [term("calm", 2)], "without another commit");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_term_counts_what_a_query_for_it_finds(changes in changes(120)) {
        let test = async {
            let (mut archive, mut naive) = (Archive::new().await, Naive::default());
            let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| naive.apply(change)).collect();
            archive.apply(&events).await;
            let kinds = [TermKind::Word, TermKind::Phrase];
            for (category, kind) in [None, Some(Category::Art)].into_iter().flat_map(|one| kinds.map(|kind| (one, kind))) {
                for DimensionTerms { dimension, terms, distinct } in archive.reader.listing().terms(kind, None, category, 1_000) {
                    assert_eq!(terms.len() as u64, distinct);
                    assert_eq!(paged(&archive, (kind, dimension), category, ""), (terms.clone(), distinct));
                    assert!(terms.is_sorted_by_key(|one| (std::cmp::Reverse(one.projects), one.term.clone())));
                    for Term { term, projects } in terms {
                        let text = if kind == TermKind::Phrase { format!("\"{term}\"") } else { term.clone() };
                        let request = TasteRequest { category, ..taste_request(&[(dimension, &text)]) };
                        let page = archive.reader.listing().by_taste(&request).unwrap();
                        assert_eq!((page.total, page.dimensions[0].words), (projects, 1), "{text} in {dimension}");
                        assert!(projects > 0);
                    }
                }
            }
        };
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }
}

#[tokio::test]
async fn words_that_no_project_uses_any_more_are_dropped() {
    let mut archive =
        Archive::of(&[with_text(1, Dimension::Material, "oak"), with_text(2, Dimension::Material, "zinc")])
            .await;
    archive.reader = archive.reader.with_spare_words(8);
    for number in 0..60 {
        let said = format!("typo{number}");
        archive.apply(&[revised(1, record(Category::Art, None, &[(Dimension::Material, &said)]))]).await;
        assert_eq!(archive.found(Dimension::Material, &said), (vec![1], 1));
        let words = archive.reader.snapshot().dictionary.forms();
        assert!(words <= 2 * 2 + 8 + 1, "{words} after {number}");
    }
    assert_eq!(archive.found(Dimension::Material, "typo1"), (vec![], 0));
    assert_eq!(archive.found(Dimension::Material, "zinc"), (vec![2], 1));
}
