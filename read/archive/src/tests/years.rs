//! The orders of years, ranges of days of selection, and what counts say beside the values that they show.

use lexical::OrdinalSet;

use super::*;

/// A project with a year, a day of publication and a day of selection, as far as they are recorded.
fn dated(number: u64, year: Option<&str>, published: Option<&str>, chosen: Option<&str>) -> NumberedEvent {
    let record = json!({
        "name": "X", "category": "art", "year": year, "published": published,
        "provenance": {"curated_by": "Ada", "selected": chosen},
    });
    selected(number, &format!("p{number:03}"), serde_json::from_value(record).unwrap())
}

/// Returns the ordinals of all projects in an order, read in pages whose cursors are passed as text.
fn walked(archive: &Archive, filters: &Filters, order: &Order, limit: usize) -> Vec<u64> {
    let listing = archive.reader.listing();
    let set = listing.select(filters);
    let selection = Selection { set: &set, fingerprint: filters.fingerprint() };
    let (mut all, mut after) = (Vec::new(), None::<String>);
    loop {
        let cursor = after.map(|text| text.parse().unwrap());
        let page = listing.in_order(selection, order, limit, cursor).unwrap();
        all.extend(page.ordinals);
        after = page.next.map(|cursor| cursor.to_string());
        if after.is_none() {
            return all;
        }
    }
}

#[tokio::test]
async fn years_are_in_order_with_unknown_ones_last_and_ties_as_in_newest() {
    let archive = Archive::of(&[
        dated(1, Some("2005"), Some("2020-03-01"), None),
        dated(2, None, Some("2020-05-01"), None),
        dated(3, Some("1889"), None, None),
        dated(4, Some("2005"), Some("2020-04-01"), None),
        dated(5, None, Some("1969-01-01"), None),
        dated(6, Some("2005"), Some("2020-03-01"), None),
        dated(7, Some("9999"), None, None),
        dated(8, Some("0001"), None, None),
    ])
    .await;
    let all = Filters::default();
    for limit in [1, 2, 50] {
        let by = |order| walked(&archive, &all, &order, limit);
        assert_eq!(by(Order::YearAscending), [8, 3, 4, 6, 1, 7, 2, 5]);
        assert_eq!(by(Order::YearDescending), [7, 4, 6, 1, 3, 8, 2, 5]);
    }
    let listing = archive.reader.listing();
    let set = listing.select(&all);
    let selection = Selection { set: &set, fingerprint: all.fingerprint() };
    let next = listing.in_order(selection, &Order::YearAscending, 2, None).unwrap().next;
    for other in [Order::YearDescending, Order::Newest, Order::Name] {
        assert!(listing.in_order(selection, &other, 2, next.clone()).is_err(), "{other:?}");
    }
}

#[tokio::test]
async fn without_years_both_orders_are_that_of_the_newest() {
    let days = [Some("2020-03-01"), None, Some("2021-01-01"), Some("2020-03-01"), None];
    let events: Vec<NumberedEvent> =
        (1..).zip(days).map(|(number, published)| dated(number, None, published, None)).collect();
    let archive = Archive::of(&events).await;
    let newest = walked(&archive, &Filters::default(), &Order::Newest, 2);
    assert_eq!(newest, [3, 4, 1, 5, 2]);
    for order in [Order::YearAscending, Order::YearDescending] {
        assert_eq!(walked(&archive, &Filters::default(), &order, 2), newest);
    }
}

#[tokio::test]
async fn both_ends_of_a_range_of_days_of_selection_are_in_it() {
    let days = [Some("2020-12-31"), Some("2021-01-01"), None, Some("2021-12-31"), Some("1969-12-31")];
    let events: Vec<NumberedEvent> =
        (1..).zip(days).map(|(number, day)| dated(number, None, Some("2021-06-01"), day)).collect();
    let mut archive = Archive::of(&events).await;
    let found = |archive: &Archive, from: Option<&str>, to: Option<&str>| {
        let day = |day: Option<&str>| day.map(|day| day.parse().unwrap());
        let filters = Filters { selected_from: day(from), selected_to: day(to), ..Filters::default() };
        archive.reader.listing().select(&filters).iter().collect::<Vec<u64>>()
    };
    assert_eq!(found(&archive, Some("2021-01-01"), Some("2021-12-31")), [2, 4]);
    assert_eq!(found(&archive, Some("2021-01-01"), None), [2, 4]);
    assert_eq!(found(&archive, None, Some("2020-12-31")), [1, 5]);
    assert_eq!(found(&archive, None, Some("9999-12-31")), [1, 2, 4, 5], "one without a day never matches");
    assert_eq!(found(&archive, Some("-009999-01-01"), None), [1, 2, 4, 5]);
    assert_eq!(found(&archive, Some("2022-01-01"), None), Vec::<u64>::new());
    // A revision moves the day, and a new reader finds the same.
    let (_, Event::ProjectSelected(moved)) = dated(1, None, None, Some("2021-05-01")) else { unreachable!() };
    archive.apply(&[revised(1, moved.record)]).await;
    assert_eq!(found(&archive, Some("2021-01-01"), Some("2021-12-31")), [1, 2, 4]);
    archive.reader = archive.reopened().await;
    assert_eq!(found(&archive, Some("2021-01-01"), Some("2021-12-31")), [1, 2, 4]);
}

#[tokio::test]
async fn the_filters_by_day_of_selection_are_in_the_fingerprint() {
    let day = "2021-01-01".parse().ok();
    let from = Filters { selected_from: day, ..Filters::default() };
    let to = Filters { selected_to: day, ..Filters::default() };
    let since = Filters { added_since: day, ..Filters::default() };
    let all = [Filters::default(), from, to, since].map(|filters| filters.fingerprint());
    assert_eq!(all.into_iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
}

#[tokio::test]
async fn counts_say_how_many_values_there_are_and_how_many_projects_have_none() {
    let mut events: Vec<NumberedEvent> =
        (1..=25).map(|number| dated(number, Some(&format!("{}", 1_900 + number)), None, None)).collect();
    events.extend((26..=28).map(|number| dated(number, None, None, None)));
    events.push(with_text(29, Dimension::Mood, "the, of a"));
    events.push(with_text(30, Dimension::Mood, "calm and quiet, calms"));
    let archive = Archive::of(&events).await;
    let listing = archive.reader.listing();
    let totals = |set: &OrdinalSet, facet| {
        let counts = listing.facet(set, facet);
        (counts.values.len(), counts.distinct, counts.unrecorded)
    };
    let all = listing.select(&Filters::default());
    assert_eq!(totals(&all, Facet::Year), (MAX_FACET_VALUES, 25, 5));
    assert_eq!(totals(&all, Facet::Category), (1, 1, 0));
    assert_eq!(totals(&all, Facet::Curator), (1, 1, 2));
    assert_eq!(totals(&all, Facet::City), (0, 0, 30));
    // Words that restrict nothing are no values.
    assert_eq!(totals(&all, Facet::Taste(Dimension::Mood)), (2, 2, 29));
    let range = Filters { year_from: "1905".parse().ok(), ..Filters::default() };
    assert_eq!(range.without(Facet::Year), range, "a range applies to its own facet");
    assert_eq!(totals(&listing.select(&range), Facet::Year), (MAX_FACET_VALUES, 21, 0));
}
