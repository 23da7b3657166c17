//! Filters, facets and orders, compared with a list of records that is scanned.

mod scanned;

use lexical::OrdinalSet;
use proptest::prelude::*;
use schemas::picture::Colour;

use super::*;
use scanned::{
    Change, Entry, Project, Scanned, WORDS, Wanted, changes, expected_facet, expected_order,
    expected_unrecorded, wanted,
};

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

fn ordinals(set: &OrdinalSet) -> Vec<u64> {
    (0..10_000).filter(|ordinal| set.contains(*ordinal)).collect()
}

/// Asserts that a reader selects, counts and sorts as a scan of the model does.
fn assert_agrees(reader: &ArchiveReader, model: &Scanned, wanted: &Wanted, limit: usize) {
    let (listing, filters) = (reader.listing(), wanted.filters());
    let expected = model.matching(wanted);
    let set = listing.select(&filters);
    let mut all: Vec<u64> = expected.iter().map(|project| project.ordinal).collect();
    all.sort_unstable();
    assert_eq!(ordinals(&set), all, "{filters:?}");
    for counts in Facet::ALL.map(|facet| listing.facet(&set, facet)) {
        // The form of a word depends on the projects that are not counted, too.
        let shown = |value: String| if value == "oaks" { "oak".to_owned() } else { value };
        let found: Vec<(String, u64)> =
            counts.values.into_iter().map(|one| (shown(one.value), one.count)).collect();
        let known = expected_facet(&expected, counts.facet);
        let totals = (known.len() as u64, expected_unrecorded(&expected, counts.facet));
        assert_eq!(found, known, "{:?} {filters:?}", counts.facet);
        assert_eq!((counts.distinct, counts.unrecorded), totals, "{:?} {filters:?}", counts.facet);
    }
    let one_by_one = Facet::ALL.map(|facet| listing.facet(&set, facet));
    assert_eq!(listing.facets(&set, &Facet::ALL), one_by_one);
    let all = listing.select(&Filters::default());
    for facet in Facet::ALL {
        assert_eq!(listing.facet_of_all(facet), &listing.facet(&all, facet), "{facet:?}");
    }
    let selection = Selection { set: &set, fingerprint: filters.fingerprint() };
    let orders = [Order::Newest, Order::Oldest, Order::Name, Order::YearAscending, Order::YearDescending];
    for order in orders {
        let (mut walked, mut after) = (Vec::new(), None::<String>);
        loop {
            let cursor = after.as_deref().map(|text| text.parse().unwrap());
            let page = listing.in_order(selection, &order, limit, cursor).unwrap();
            assert_eq!(page.total, expected.len() as u64);
            walked.extend(page.ordinals);
            after = page.next.map(|cursor| cursor.to_string());
            if after.is_none() {
                break;
            }
        }
        assert_eq!(walked, expected_order(&expected, &order), "{order:?}");
    }
    let request = taste_request(&[(Dimension::Material, "oaks")]);
    let within = TasteRequest { within: Some(selection), ..request.clone() };
    let with_oak: Vec<&Project> =
        expected.into_iter().filter(|project| WORDS[project.entry.words].1.contains(&"oak")).collect();
    let page = listing.by_taste(&within).unwrap();
    let mut hits: Vec<u64> = page.hits.iter().map(|hit| hit.ordinal).collect();
    hits.sort_unstable();
    let mut oak: Vec<u64> = with_oak.iter().map(|project| project.ordinal).collect();
    oak.sort_unstable();
    assert_eq!(
        (hits, page.total, page.dimensions[0].projects),
        (oak.clone(), oak.len() as u64, oak.len() as u64)
    );
    assert_eq!(page.by_matched, [oak.len() as u64]);
    assert_eq!(ordinals(&listing.matching_taste(&within)), oak);
    let page = listing.by_taste_in_order(&within, &Order::Name).unwrap();
    let hits: Vec<u64> = page.hits.iter().map(|hit| hit.ordinal).collect();
    assert_eq!((hits, page.total), (expected_order(&with_oak, &Order::Name), oak.len() as u64));
    assert!(page.hits.iter().all(|hit| hit.matched.contains(Dimension::Material)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn filters_facets_and_orders_are_those_of_a_scan(
        rounds in proptest::collection::vec((changes(120), wanted()), 1..5),
        limit in 1..12_usize,
    ) {
        run(async {
            let (mut archive, mut model) = (Archive::new().await, Scanned::default());
            for (changes, wanted) in rounds {
                let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| model.apply(change)).collect();
                archive.apply(&events).await;
                assert_agrees(&archive.reader, &model, &wanted, limit);
                assert_agrees(&archive.reopened().await, &model, &wanted, limit);
            }
        });
    }
}

#[tokio::test]
async fn the_whole_name_decides_also_when_its_project_is_gone_from_the_next_page() {
    let name = |end: u32| {
        let place = "日本".repeat(250);
        let text = format!("Sheet of the drawings of a house in {place}, {} {end}", "x".repeat(60));
        serde_json::from_value(json!({"name": text, "category": "art"})).unwrap()
    };
    // Position 1 has the last name, and so on.
    let events: Vec<NumberedEvent> =
        (1..=6).map(|number| selected(number, &format!("p{number}"), name(23_811 - number as u32))).collect();
    let mut archive = Archive::of(&events).await;
    let (order, mut seen, mut after) = (Order::Name, Vec::<u64>::new(), None);
    loop {
        let listing = archive.reader.listing();
        let set = listing.select(&Filters::default());
        let selection = Selection { set: &set, fingerprint: Filters::default().fingerprint() };
        let page = listing.in_order(selection, &order, 1, after.clone()).unwrap();
        let other = archive.reopened().await.listing().in_order(selection, &order, 1, after).unwrap();
        assert_eq!(page, other, "a cursor is equal on every node");
        seen.extend(&page.ordinals);
        let Some(next) = page.next else { break };
        let text = next.to_string();
        assert!(text.len() > 200 && text.parse::<Cursor>().is_ok_and(|read| read == next), "{text}");
        after = Some(next);
        if seen == [6, 5] {
            archive.apply(&[withdrawn(5), withdrawn(6)]).await;
        }
    }
    assert_eq!(seen, [6, 5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn the_nearest_colour_comes_first_and_a_facet_ignores_its_own_filter() {
    let mut archive = Archive::new().await;
    let mut model = Scanned::default();
    let entry = |city, names_picture| Entry {
        name: 1,
        category: Category::Art,
        city: Some(city),
        studio: None,
        curator: None,
        year: Some(1999),
        published: None,
        selected: None,
        thumbnail: false,
        names_picture,
        words: 0,
    };
    let changes = [
        Change::Record(1, entry(0, true)),
        Change::Attach(1, vec![3, 2]),
        Change::Record(2, entry(2, true)),
        Change::Attach(2, vec![0]),
        Change::Record(3, entry(1, true)),
        Change::Attach(3, vec![5]),
        Change::Record(4, entry(2, false)),
        Change::Attach(4, vec![0]),
        Change::Record(5, entry(4, true)),
        Change::Attach(5, vec![4, 1]),
    ];
    let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| model.apply(change)).collect();
    archive.apply(&events).await;
    let listing = archive.reader.listing();
    let filters = Filters { colours: vec![Colour([200, 30, 30])], ..Filters::default() };
    let set = listing.select(&filters);
    let order = Order::Nearest(filters.colours.clone());
    let selection = Selection { set: &set, fingerprint: filters.fingerprint() };
    let first = listing.in_order(selection, &order, 2, None).unwrap();
    // Positions 3, 9 and 1: the same red, one nearly so, and one further away.
    assert_eq!((first.ordinals, first.total), (vec![3, 9], 3));
    let rest = listing.in_order(selection, &order, 2, first.next.clone()).unwrap();
    assert_eq!((rest.ordinals, rest.next), (vec![1], None));
    let other = Selection { fingerprint: Filters::default().fingerprint(), ..selection };
    assert!(listing.in_order(other, &order, 2, first.next.clone()).is_err());
    assert!(listing.in_order(selection, &Order::Newest, 2, first.next).is_err());

    let filters =
        Filters { cities: vec!["zürich".into()], year_from: Some("1999".parse().unwrap()), ..filters };
    assert!(filters.restricts(Facet::City) && !filters.restricts(Facet::Studio));
    assert!(!filters.restricts(Facet::Year), "a range applies to its own facet");
    let others = listing.select(&filters.without(Facet::City));
    let counts = listing.facet(&others, Facet::City);
    let values: Vec<(&str, u64)> = counts.values.iter().map(|one| (one.value.as_str(), one.count)).collect();
    assert_eq!(values, [("Köln, Germany", 1), ("Ulm, Germany", 1), ("Zürich", 1)]);
    let same = Filters { cities: vec!["ZURICH".into(), "Zürich".into()], ..filters.clone() };
    assert_eq!(same.fingerprint(), filters.fingerprint());
    assert_ne!(filters.without(Facet::City).fingerprint(), filters.fingerprint());
}

#[test]
fn facets_and_filters_have_names() {
    let names = Facet::ALL.map(Facet::as_str).join(",");
    assert_eq!(names, "category,city,studio,curator,year,material,light,color,mood,composition,subject");
    assert!(Facet::ALL.into_iter().all(|facet| Facet::parse(&facet.as_str().to_uppercase()) == Some(facet)));
    assert_eq!(Facet::parse("shape"), None);
    assert_eq!(Filters::of_category(Some(Category::Art)).only_category(), Some(Some(Category::Art)));
    assert_eq!(Filters::default().only_category(), Some(None));
    assert_eq!(Filters { has_picture: true, ..Filters::default() }.only_category(), None);
}
