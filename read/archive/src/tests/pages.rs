//! Any history, compared with the reference implementation: answers, pages while projects are added and removed, and cursors.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::naive::{Change, Naive, Query, changes, query, written};
use super::*;

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

async fn apply(archive: &mut Archive, naive: &mut Naive, changes: &[Change]) {
    let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| naive.apply(change)).collect();
    archive.apply(&events).await;
}

/// Calls `send` with the request of a query.
fn with_request<T>(query: &Query, limit: usize, send: impl FnOnce(TasteRequest<'_>) -> T) -> T {
    let texts: Vec<Vec<String>> =
        query.taste.iter().map(|texts| texts.iter().map(written).collect()).collect();
    let Query { category, matching, .. } = *query;
    let mut request = TasteRequest { category, matching, limit, ..TasteRequest::default() };
    request.taste.iter_mut().zip(&texts).for_each(|(place, text)| {
        *place = text.iter().map(String::as_str).collect();
    });
    send(request)
}

fn taste_page(reader: &ArchiveReader, query: &Query, limit: usize, after: Option<&str>) -> TastePage {
    let after = after.map(|text| text.parse().unwrap());
    with_request(query, limit, |request| reader.listing().by_taste(&TasteRequest { after, ..request }))
        .unwrap()
}

/// Asserts that readers of the same content give the same pages, whatever their block size.
fn assert_agree(one: &ArchiveReader, other: &ArchiveReader, query: &Query) {
    assert_eq!(taste_page(one, query, 5, None), taste_page(other, query, 5, None));
    let (one, other) = (one.listing(), other.listing());
    for category in [None, Some(Category::Art)] {
        assert_eq!(one.newest(category, 5, None), other.newest(category, 5, None));
        for kind in [TermKind::Word, TermKind::Phrase] {
            assert_eq!(one.terms(kind, None, category, 100), other.terms(kind, None, category, 100));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_follow_the_order_while_projects_are_added_and_removed(
        first in changes(160),
        between in proptest::collection::vec(changes(12), 30),
        query in query(),
        limit in 1..9_usize,
    ) {
        run(async {
            let (mut archive, mut naive) = (Archive::new().await, Naive::default());
            apply(&mut archive, &mut naive, &first).await;
            let (mut after, mut last) = (None::<String>, None);
            for changes in between {
                let (hits, by_matched) = naive.by_taste(&query);
                let page = taste_page(&archive.reader, &query, limit, after.as_deref());
                let left: Vec<_> = hits.iter().filter(|(rank, _)| last.as_ref().is_none_or(|last| rank > last)).collect();
                let expected: Vec<Hit> = left.iter().take(limit).map(|(_, hit)| *hit).collect();
                assert_eq!((page.hits, page.total, page.by_matched), (expected, hits.len() as u64, by_matched));
                assert_eq!(page.next.is_some(), left.len() > limit);
                let Some(next) = page.next else { break };
                (after, last) = (Some(next.to_string()), Some(left[limit - 1].0.clone()));
                apply(&mut archive, &mut naive, &changes).await;
            }
        });
    }

    #[test]
    fn the_newest_follow_the_order_and_a_refreshed_reader_is_a_fresh_one(
        first in changes(160),
        between in proptest::collection::vec(changes(30), 4),
        query in query(),
    ) {
        run(async {
            let (mut archive, mut naive) = (Archive::new().await, Naive::default());
            apply(&mut archive, &mut naive, &first).await;
            for changes in between {
                apply(&mut archive, &mut naive, &changes).await;
                assert_agree(&archive.reader, &archive.reopened().await, &query);
                for category in [None, query.category] {
                    let day = |project: &naive::Project| project.facts.day.or(project.facts.selected).unwrap_or(project.added);
                    let mut expected: Vec<(Reverse<i32>, Reverse<u64>)> = naive
                        .listed(category)
                        .map(|project| (Reverse(day(project)), Reverse(project.ordinal)))
                        .collect();
                    expected.sort();
                    assert_eq!(walk(&archive.reader, category), expected.iter().map(|project| project.1.0).collect::<Vec<_>>());
                    assert_eq!(archive.reader.listing().listed(category), expected.len() as u64);
                }
                let page = taste_page(&archive.reader, &Query { category: None, ..query.clone() }, 1, None);
                let counted: Vec<(Dimension, u64)> = page.dimensions.iter().map(|one| (one.dimension, one.projects)).collect();
                let requested = Dimension::ALL.into_iter().zip(&query.taste).filter(|(_, texts)| !texts.is_empty());
                let expected: Vec<(Dimension, u64)> = requested
                    .map(|(dimension, texts)| {
                        let text = |project: &naive::Project| project.facts.taste[dimension as usize].clone();
                        let holds = |project: &&naive::Project| texts.iter().any(|one| naive::matches(&text(project), one));
                        (dimension, naive.listed(None).filter(holds).count() as u64)
                    })
                    .collect();
                assert_eq!(counted, expected);
            }
        });
    }
}

/// Returns all newest projects, read in pages of three.
fn walk(reader: &ArchiveReader, category: Option<Category>) -> Vec<u64> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = reader.listing().newest(category, 3, after).unwrap();
        all.extend(page.ordinals);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

#[tokio::test]
async fn cursors_of_other_queries_and_altered_ones_are_rejected() {
    let events: Vec<NumberedEvent> =
        (1..9).map(|number| with_text(number, Dimension::Mood, "calm oak")).collect();
    let archive = Archive::of(&events).await;
    let page = |request: TasteRequest<'_>| archive.reader.listing().by_taste(&request);
    let first = page(TasteRequest { limit: 3, ..taste_request(&[(Dimension::Mood, "calm, oaks")]) }).unwrap();
    let cursor = first.next.unwrap();
    let text = cursor.to_string();
    assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
    let after = |request| TasteRequest { after: Some(cursor.clone()), ..request };
    let same = page(after(taste_request(&[(Dimension::Mood, "OAK calm")]))).unwrap();
    assert_eq!(same.hits.iter().map(|hit| hit.ordinal).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    let refusal = "The cursor does not belong to this query: it was given with the results of other arguments. \
                   Leave it out to start from the first page.";
    let others = [
        taste_request(&[(Dimension::Mood, "calm")]),
        taste_request(&[(Dimension::Light, "calm oak")]),
        TasteRequest { category: Some(Category::Art), ..taste_request(&[(Dimension::Mood, "calm oak")]) },
        TasteRequest { matching: MatchMode::All, ..taste_request(&[(Dimension::Mood, "calm oak")]) },
    ];
    for other in others {
        assert_eq!(page(after(other)).unwrap_err().to_string(), refusal);
    }
    assert_eq!(archive.reader.listing().newest(None, 3, Some(cursor)).unwrap_err().to_string(), refusal);
    let newest = archive.reader.listing().newest(None, 3, None).unwrap().next;
    assert!(archive.reader.listing().newest(Some(Category::Art), 3, newest.clone()).is_err());
    assert!(archive.reader.listing().newest(None, 3, newest).is_ok());
    let cut = "The cursor does not belong to this query: it was cut or altered on its way. Leave it out to start \
               from the first page.";
    for end in 0..text.len() {
        assert_eq!(text[..end].parse::<Cursor>().unwrap_err().to_string(), cut);
    }
    for garbled in ["AAAA", "=", "ä", &"A".repeat(6_705)] {
        assert_eq!(garbled.parse::<Cursor>().unwrap_err().to_string(), cut);
    }
}
