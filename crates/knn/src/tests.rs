//! Lists against those of comparing all pairs, after any insertions and removals.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;

const K: usize = 5;

/// The vector of a side.
#[derive(Debug, Clone, PartialEq)]
enum Numbers {
    Floats(Vec<f32>),
    Bytes(Vec<i8>),
}

/// The vectors of a row: an encoder and a vector for each side.
type Sides = [Option<(usize, Numbers)>; 2];

fn layout(sides: &Sides) -> Layout {
    let encoding = |side: &Option<(usize, Numbers)>| {
        side.as_ref().map(|(model, numbers)| match numbers {
            Numbers::Floats(n) => Encoding { model: *model, dimensions: n.len(), is_quantized: false },
            Numbers::Bytes(n) => Encoding { model: *model, dimensions: n.len(), is_quantized: true },
        })
    };
    Layout { visual: encoding(&sides[0]), semantic: encoding(&sides[1]) }
}

fn row(sides: &Sides) -> Row<'_> {
    let vector = |side: usize| {
        sides[side].as_ref().map(|(_, numbers)| match numbers {
            Numbers::Floats(numbers) => Side::Floats(numbers),
            Numbers::Bytes(numbers) => Side::Bytes(Quantized::new(numbers)),
        })
    };
    Row { layout: layout(sides), visual: vector(0), semantic: vector(1) }
}

fn space(rows: &BTreeMap<u32, Sides>) -> VectorSpace {
    let mut space = VectorSpace::new(K);
    rows.iter().for_each(|(id, sides)| space.insert(*id, row(sides)));
    space
}

/// The list of a row by comparing it with all others.
fn expected(rows: &BTreeMap<u32, Sides>, id: u32) -> Vec<Rank> {
    let others = rows.iter().filter(|(other, _)| **other != id);
    let ranked = others
        .filter_map(|(other, sides)| Some(Rank { score: row(&rows[&id]).score(row(sides))?, id: *other }));
    let mut list: Vec<Rank> = ranked.collect();
    list.sort_unstable();
    list.truncate(K);
    list
}

/// The lists of rows of bytes, from the whole numbers alone.
#[test]
fn lists_of_quantized_rows_follow_from_their_whole_numbers() {
    let numbers = |id: u32, n: u32| i64::from((id * id * 7 + id * 31 + n * n * id + n * 97) % 255) - 127;
    let rows: BTreeMap<u32, Sides> = (1..600)
        .map(|id| {
            let side =
                |from, to| Some((0, Numbers::Bytes((from..to).map(|n| numbers(id, n) as i8).collect())));
            (id, [side(0, 67), side(67, 100)])
        })
        .collect();
    let dot = |a: u32, b: u32, side: std::ops::Range<u32>| -> i64 {
        side.map(|n| numbers(a, n) * numbers(b, n)).sum()
    };
    let cosine = |a: u32, b: u32, side: std::ops::Range<u32>| {
        let squares = dot(a, a, side.clone()) * dot(b, b, side.clone());
        (dot(a, b, side) as f64 / (squares as f64).sqrt()) as f32
    };
    let found = space(&rows).nearest_of_all(&AtomicBool::new(false)).unwrap();
    assert_eq!(found.len(), rows.len());
    for (id, list) in found {
        let others = rows.keys().filter(|other| **other != id);
        let score = |other| (cosine(id, other, 0..67) + cosine(id, other, 67..100)) / 2.0;
        let mut expected: Vec<Rank> = others.map(|other| Rank { score: score(*other), id: *other }).collect();
        expected.sort_unstable();
        assert_eq!(list, expected[..K], "{id}");
    }
}

fn lists(rows: &BTreeMap<u32, Sides>) -> BTreeMap<u32, Vec<Rank>> {
    rows.keys().map(|id| (*id, expected(rows, *id))).collect()
}

/// Few different vectors, so that scores are often equal; two encoders with vectors of floats and two of bytes, and rows of one side or
/// two.
fn sides() -> impl Strategy<Value = Sides> {
    let side = |dimensions: usize| {
        (0..4_usize, proptest::collection::vec(0..3_i8, dimensions)).prop_map(|(model, values)| {
            let values = values.iter().map(|n| 2 * n - 1);
            let numbers = match model {
                0 | 1 => Numbers::Floats(unit(&values.map(f32::from).collect::<Vec<_>>())),
                _ => Numbers::Bytes(values.map(|n| 21 * n).collect()),
            };
            (model, numbers)
        })
    };
    prop_oneof![
        (side(3), side(2)).prop_map(|(visual, semantic)| [Some(visual), Some(semantic)]),
        side(3).prop_map(|visual| [Some(visual), None]),
        side(2).prop_map(|semantic| [None, Some(semantic)]),
    ]
}

proptest! {
    #[test]
    fn all_lists_are_those_of_comparing_all_pairs(rows in proptest::collection::btree_map(0..2_000_u32, sides(), 0..60)) {
        let found = space(&rows).nearest_of_all(&AtomicBool::new(false)).unwrap();
        prop_assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), lists(&rows));
    }

    #[test]
    fn repaired_lists_are_those_of_comparing_all_pairs(
        rows in proptest::collection::btree_map(0..100_u32, sides(), 1..40),
        removed in proptest::collection::btree_set(0..100_u32, 0..6),
        added in proptest::collection::btree_map(100..120_u32, sides(), 0..6),
    ) {
        let mut space = space(&rows);
        let before = lists(&rows);
        let threshold = |list: &[Rank]| if list.len() < K { Rank::LAST } else { list[K - 1] };
        before.iter().for_each(|(id, list)| space.set_threshold(*id, threshold(list)));

        let removed: Vec<u32> = removed.into_iter().filter(|id| rows.contains_key(id)).collect();
        let listing = space.rows_listing(&removed);
        for (id, list) in before.iter().filter(|(id, _)| !removed.contains(id)) {
            prop_assert_eq!(listing.contains(id), list.iter().any(|rank| removed.contains(&rank.id)), "{}", id);
        }
        let mut after = rows.clone();
        for id in &removed {
            space.remove(*id);
            after.remove(id);
        }
        after.extend(added.clone());
        added.iter().for_each(|(id, sides)| space.insert(*id, row(sides)));

        let new: HashSet<u32> = added.keys().copied().collect();
        let short = listing.iter().filter(|id| after.contains_key(id)).chain(&new);
        let some = space.subset(short);
        let found = space.nearest_of_some(&some, &new, &AtomicBool::new(false)).unwrap();
        let mut repaired = before;
        repaired.retain(|id, _| after.contains_key(id));
        for (id, additions) in found.additions {
            let list = repaired.entry(id).or_default();
            list.extend(additions);
            list.sort_unstable();
            list.truncate(K);
        }
        repaired.extend(found.lists);
        prop_assert_eq!(repaired, lists(&after));
    }
}

#[test]
fn a_stopped_search_has_no_result() {
    let rows = (0..10).map(|id| (id, [Some((0, Numbers::Floats(unit(&[1.0, id as f32])))), None])).collect();
    assert_eq!(space(&rows).nearest_of_all(&AtomicBool::new(true)), None);
}

/// A graph is built of 400 rows in 12 clusters, then rows are removed and added.
#[test]
fn a_graph_and_the_rows_added_since_find_nearly_all() {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let mut clustered = |id: u32| {
        let values: Vec<f32> =
            (0..12).map(|at| if id % 12 == at { 1.0 + random() } else { random() }).collect();
        let bytes = values.iter().map(|n| (n * 80.0) as i8).collect();
        [Some((0, Numbers::Floats(unit(&values)))), Some((0, Numbers::Bytes(bytes)))]
    };
    let mut rows: BTreeMap<u32, Sides> = (0..400).map(|id| (id, clustered(id))).collect();
    let mut space = space(&rows);
    space.build_graphs(400);
    for id in 0..40 {
        space.remove(id * 7);
        rows.remove(&(id * 7));
        let sides = clustered(id);
        space.insert(1_000 + id, row(&sides));
        rows.insert(1_000 + id, sides);
    }
    let found: BTreeMap<_, _> = space.nearest_of_all(&AtomicBool::new(false)).unwrap().into_iter().collect();
    let hits = |(id, list): (&u32, &Vec<Rank>)| list.iter().filter(|rank| found[id].contains(rank)).count();
    let expected = lists(&rows);
    let (found, all): (usize, usize) =
        (expected.iter().map(hits).sum(), expected.values().map(Vec::len).sum());
    assert!(found * 100 >= all * 98, "{found} of {all}");
}

/// The lists of 560 rows in 28 clusters by sketches, and changes of rows that the search has reordered.
#[test]
fn sketches_find_nearly_all_and_rows_stay_what_they_are() {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let mut vector = || (0..1_030).map(|_| random()).collect::<Vec<f32>>();
    let centres: Vec<Vec<f32>> = (0..28).map(|_| vector()).collect();
    let mut clustered = |id: u32| {
        let centre = centres[id as usize % 28].iter().zip(vector());
        let numbers: Vec<f32> = centre.map(|(centre, noise)| centre + 0.7 * noise).collect();
        let (visual, semantic) = numbers.split_at(700);
        let bytes = visual.iter().map(|n| (n * 140.0) as i8).collect();
        [Some((0, Numbers::Bytes(bytes))), Some((0, Numbers::Floats(unit(semantic))))]
    };
    let mut rows: BTreeMap<u32, Sides> = (0..560).map(|id| (id, clustered(id))).collect();
    let mut space = space(&rows);
    space.sketch_from(500);
    let found: BTreeMap<_, _> = space.nearest_of_all(&AtomicBool::new(false)).unwrap().into_iter().collect();
    let expected = lists(&rows);
    let missed = expected.iter().filter(|(id, list)| found[*id] != **list).count();
    assert!(missed <= 2 && found.len() == expected.len(), "{missed} of {} lists", expected.len());
    for id in 550..570 {
        let sides = clustered(id + 7);
        [id - 300, id].into_iter().for_each(|old| space.remove(old));
        space.insert(id, row(&sides));
        rows.remove(&(id - 300));
        rows.insert(id, sides);
    }
    for (id, sides) in &rows {
        assert_eq!(space.row(*id).unwrap().cosines(row(sides)), row(sides).cosines(row(sides)), "{id}");
    }
}
