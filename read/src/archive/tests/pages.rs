//! Any history, held against a list that is looked through: answers, pages while projects come and go, and cursors.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::naive::{Act, Asked, Naive, acts, asked, written};
use super::*;

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

async fn carry_out(archive: &mut Archive, naive: &mut Naive, acts: &[Act]) {
    let events: Vec<Happened> = acts.iter().filter_map(|act| naive.act(act)).collect();
    archive.apply(&events).await;
}

/// The question with its texts, in the shape of the naive one.
fn with_request<T>(asked: &Asked, limit: usize, ask: impl FnOnce(TasteRequest<'_>) -> T) -> T {
    let texts: Vec<Option<String>> = asked.taste.iter().map(|text| text.as_ref().map(written)).collect();
    let mut request = TasteRequest { category: asked.category, limit, ..TasteRequest::default() };
    request.asked.iter_mut().zip(&texts).for_each(|(place, text)| *place = text.as_deref());
    ask(request)
}

fn ask(reader: &ArchiveReader, asked: &Asked, limit: usize, after: Option<&str>) -> TastePage {
    let after = after.map(|text| text.parse().unwrap());
    with_request(asked, limit, |request| reader.now().by_taste(&TasteRequest { after, ..request })).unwrap()
}

/// The same cursor makes the same page in readers of the same content, however they cut it into blocks.
fn agree(one: &ArchiveReader, other: &ArchiveReader, asked: &Asked) {
    assert_eq!(ask(one, asked, 5, None), ask(other, asked, 5, None));
    let (one, other) = (one.now(), other.now());
    for category in [None, Some(Category::Art)] {
        assert_eq!(one.newest(category, 5, None), other.newest(category, 5, None));
        assert_eq!(one.terms(None, category, 100), other.terms(None, category, 100));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_follow_the_order_while_projects_come_and_go(
        first in acts(160),
        between in proptest::collection::vec(acts(12), 30),
        asked in asked(),
        limit in 1..9_usize,
    ) {
        run(async {
            let (mut archive, mut naive) = (Archive::new().await, Naive::default());
            carry_out(&mut archive, &mut naive, &first).await;
            let (mut after, mut last) = (None::<String>, None);
            for changes in between {
                let hits = naive.by_taste(&asked);
                let page = ask(&archive.reader, &asked, limit, after.as_deref());
                let left: Vec<_> = hits.iter().filter(|(rank, _)| last.as_ref().is_none_or(|last| rank > last)).collect();
                let expected: Vec<Hit> = left.iter().take(limit).map(|(_, hit)| *hit).collect();
                assert_eq!((page.hits, page.total), (expected, hits.len() as u64));
                assert_eq!(page.next.is_some(), left.len() > limit);
                let Some(next) = page.next else { break };
                (after, last) = (Some(next.to_string()), Some(left[limit - 1].0.clone()));
                carry_out(&mut archive, &mut naive, &changes).await;
            }
        });
    }

    #[test]
    fn the_newest_follow_the_order_and_a_refreshed_reader_is_a_fresh_one(
        first in acts(160),
        between in proptest::collection::vec(acts(30), 4),
        asked in asked(),
    ) {
        run(async {
            let (mut archive, mut naive) = (Archive::new().await, Naive::default());
            carry_out(&mut archive, &mut naive, &first).await;
            for changes in between {
                carry_out(&mut archive, &mut naive, &changes).await;
                agree(&archive.reader, &archive.reopened().await, &asked);
                for category in [None, asked.category] {
                    let day = |made: &naive::Made| made.facts.day.or(made.facts.selected).unwrap_or(made.added);
                    let mut expected: Vec<(Reverse<i32>, Reverse<u64>)> = naive
                        .listed(category)
                        .map(|made| (Reverse(day(made)), Reverse(made.ordinal)))
                        .collect();
                    expected.sort();
                    assert_eq!(walk(&archive.reader, category), expected.iter().map(|made| made.1.0).collect::<Vec<_>>());
                    assert_eq!(archive.reader.now().listed(category), expected.len() as u64);
                }
                for (dimension, text) in Dimension::ALL.into_iter().zip(&asked.taste) {
                    let alone = text.as_ref().map(|text| archive.found(dimension, &written(text)).1);
                    let expected = text.as_ref().map(|text| {
                        let holds = |at: usize, made: &naive::Made| naive::holds(&made.facts.taste[at], text);
                        naive.listed(None).filter(|made| holds(dimension as usize, made)).count() as u64
                    });
                    assert_eq!(alone, expected, "{dimension}");
                }
            }
        });
    }
}

/// All newest by pages of three.
fn walk(reader: &ArchiveReader, category: Option<Category>) -> Vec<u64> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = reader.now().newest(category, 3, after).unwrap();
        all.extend(page.ordinals);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

#[tokio::test]
async fn cursors_of_other_questions_and_altered_ones_are_refused() {
    let events: Vec<Happened> = (1..9).map(|number| saying(number, Dimension::Mood, "calm oak")).collect();
    let archive = Archive::of(&events).await;
    let page = |request: TasteRequest<'_>| archive.reader.now().by_taste(&request);
    let first = page(TasteRequest { limit: 3, ..asking(&[(Dimension::Mood, "calm, oaks")]) }).unwrap();
    let cursor = first.next.unwrap();
    let text = cursor.to_string();
    assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
    let after = |request| TasteRequest { after: Some(cursor.clone()), ..request };
    let same = page(after(asking(&[(Dimension::Mood, "OAK calm")]))).unwrap();
    assert_eq!(same.hits.iter().map(|hit| hit.ordinal).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    let refusal = "The cursor does not belong to this question: it was given with the results of other arguments. \
                   Leave it out to start from the first page.";
    let others = [
        asking(&[(Dimension::Mood, "calm")]),
        asking(&[(Dimension::Light, "calm oak")]),
        TasteRequest { category: Some(Category::Art), ..asking(&[(Dimension::Mood, "calm oak")]) },
    ];
    for other in others {
        assert_eq!(page(after(other)).unwrap_err().to_string(), refusal);
    }
    assert_eq!(archive.reader.now().newest(None, 3, Some(cursor)).unwrap_err().to_string(), refusal);
    let newest = archive.reader.now().newest(None, 3, None).unwrap().next;
    assert!(archive.reader.now().newest(Some(Category::Art), 3, newest.clone()).is_err());
    assert!(archive.reader.now().newest(None, 3, newest).is_ok());
    let cut = "The cursor does not belong to this question: it was cut or altered on its way. Leave it out to start \
               from the first page.";
    for end in 0..text.len() {
        assert_eq!(text[..end].parse::<Cursor>().unwrap_err().to_string(), cut);
    }
    for garbled in ["AAAA", "=", "ä", &"A".repeat(201)] {
        assert_eq!(garbled.parse::<Cursor>().unwrap_err().to_string(), cut);
    }
}
