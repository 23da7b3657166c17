//! Lists against those of comparing all pairs, after any insertions and removals.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;

const K: usize = 5;

/// The vectors of a row: an encoder and a unit vector for each side.
type Sides = [Option<(usize, Vec<f32>)>; 2];

fn layout(sides: &Sides) -> Layout {
    let encoding = |side: &Option<(usize, Vec<f32>)>| {
        side.as_ref().map(|(model, v)| Encoding { model: *model, dimensions: v.len() })
    };
    Layout { visual: encoding(&sides[0]), semantic: encoding(&sides[1]) }
}

fn row(sides: &Sides) -> Row<'_> {
    let values = |side: usize| sides[side].as_ref().map(|(_, values)| values.as_slice());
    Row { layout: layout(sides), visual: values(0), semantic: values(1) }
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

fn lists(rows: &BTreeMap<u32, Sides>) -> BTreeMap<u32, Vec<Rank>> {
    rows.keys().map(|id| (*id, expected(rows, *id))).collect()
}

/// Few different vectors, so that scores are often equal; two encoders, and rows of one side or two.
fn sides() -> impl Strategy<Value = Sides> {
    let side = |dimensions: usize| {
        (0..2_usize, proptest::collection::vec(0..3_u8, dimensions)).prop_map(|(model, values)| {
            (model, unit(&values.iter().map(|n| f32::from(*n) + 0.5).collect::<Vec<_>>()))
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
    let rows = (0..10).map(|id| (id, [Some((0, unit(&[1.0, id as f32]))), None])).collect();
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
        [Some((0, unit(&values))), None]
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
