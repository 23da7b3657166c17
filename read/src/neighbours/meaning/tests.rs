#[cfg(feature = "apply")]
mod of_events;

use std::collections::BTreeMap;

use super::*;

const FLOOR: Floor = Floor { least: 0.1, of_best: 0.5 };

/// Numbers from -1 to 1, the same for the same seed.
pub(super) fn numbers(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..DIMENSIONS).map(|_| next()).collect()
}

fn meaning(seed: u64) -> Meaning {
    Meaning::new(&numbers(seed)).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// An index, and the seeds of what it contains.
#[derive(Default)]
struct Fixture {
    index: MeaningIndex,
    writer: MeaningWriter,
    expected: BTreeMap<u32, u64>,
}

impl Fixture {
    fn set(&mut self, ordinal: u32, seed: u64) {
        self.writer.set(ordinal, &meaning(seed));
        self.expected.insert(ordinal, seed);
    }

    fn remove(&mut self, ordinal: u32) {
        self.writer.remove(ordinal);
        self.expected.remove(&ordinal);
    }

    /// Returns all scores that are not negative.
    fn all(&self, query: &[f32]) -> BTreeMap<u64, f32> {
        let found = self.index.near(query, Floor { least: 0.0, of_best: 0.0 });
        found.iter().map(|near| (near.ordinal, near.score)).collect()
    }

    /// Compares what is near with all cosines in double precision.
    fn check(&self, query: &[f32]) {
        self.writer.publish(&self.index);
        assert_eq!(
            (self.index.len(), self.index.is_empty()),
            (self.expected.len(), self.expected.is_empty())
        );
        // What is not on the side of the query is on that of its opposite.
        let opposite: Vec<f32> = query.iter().map(|number| -number).collect();
        let [mut found, others] = [query, &opposite].map(|query| self.all(query));
        found.extend(others.into_iter().map(|(ordinal, score)| (ordinal, -score)));
        assert_eq!(found.len(), self.expected.len());
        for (ordinal, seed) in &self.expected {
            let (found, exact) = (f64::from(found[&u64::from(*ordinal)]), cosine(query, &numbers(*seed)));
            assert!((found - exact).abs() < 0.002, "{ordinal}: {found} is not {exact}");
        }
        let best = found.values().copied().fold(f32::MIN, f32::max);
        let mut near = self.index.near(query, FLOOR);
        near.sort_by_key(|near| near.ordinal);
        let expected = found.into_iter().filter(|(_, score)| *score >= FLOOR.least.max(FLOOR.of_best * best));
        let expected: Vec<Near> = expected.map(|(ordinal, score)| Near { ordinal, score }).collect();
        assert_eq!(near, expected);
    }
}

#[test]
fn what_is_near_agrees_with_the_cosines_of_all() {
    let mut fixture = Fixture::default();
    fixture.check(&numbers(1));
    // Several blocks, on either side of the number from which threads share the work.
    for ordinal in 0..2_500 {
        fixture.set(3 * ordinal, u64::from(ordinal) + 1);
    }
    fixture.check(&numbers(77));
    fixture.check(&numbers(100_000));
}

#[test]
fn projects_change_and_leave() {
    let mut fixture = Fixture::default();
    for ordinal in 0..1_100 {
        fixture.set(ordinal, u64::from(ordinal) + 1);
    }
    let before = fixture.index.blocks.load_full();
    fixture.set(7, 5_000);
    fixture.set(7, 5_001);
    fixture.remove(0);
    fixture.remove(0);
    fixture.remove(1_099);
    fixture.check(&numbers(5_001));
    assert!(before.is_empty(), "readers keep what they began with");
    (1..1_098).for_each(|ordinal| fixture.remove(ordinal));
    fixture.check(&numbers(3));
    fixture.remove(1_098);
    fixture.check(&numbers(3));
    fixture.set(1, 9);
    fixture.check(&numbers(9));
}

#[test]
fn a_meaning_that_did_not_change_copies_nothing() {
    let mut fixture = Fixture::default();
    fixture.set(1, 1);
    fixture.check(&numbers(1));
    let before = fixture.index.blocks.load_full();
    fixture.set(1, 1);
    fixture.writer.publish(&fixture.index);
    assert!(Arc::ptr_eq(&before[0], &fixture.index.blocks.load_full()[0]));
    fixture.set(1, 2);
    fixture.writer.publish(&fixture.index);
    assert!(!Arc::ptr_eq(&before[0], &fixture.index.blocks.load_full()[0]));
}

#[test]
fn many_threads_find_what_one_finds() {
    let mut fixture = Fixture::default();
    for ordinal in 0..u32::try_from(SKETCHES_FROM).unwrap() + 5_000 {
        fixture.writer.set(ordinal, &meaning(u64::from(ordinal % 50) + 1));
    }
    fixture.writer.publish(&fixture.index);
    let found = fixture.index.near(&numbers(8), Floor { least: 0.99, of_best: 0.0 });
    let ordinals: Vec<u64> = found.iter().map(|near| near.ordinal).collect();
    assert_eq!(ordinals, (7..55_000).step_by(50).collect::<Vec<_>>());
    assert!(found.iter().all(|near| near.score.to_bits() == found[0].score.to_bits()));
}

/// Meanings in groups: the direction of a group, and less of their own.
fn in_a_group(seed: u64) -> Vec<f32> {
    let own = numbers(seed + 1_000);
    numbers(seed % 400 + 1).iter().zip(own).map(|(of_group, own)| of_group + 1.2 * own).collect()
}

#[test]
fn of_many_sketches_keep_the_nearest_and_nearly_all_that_is_near() {
    let size = u32::try_from(SKETCHES_FROM).unwrap() + 10_000;
    let mut fixture = Fixture::default();
    for ordinal in 0..size {
        fixture.writer.set(ordinal, &Meaning::new(&in_a_group(u64::from(ordinal))).unwrap());
    }
    fixture.writer.publish(&fixture.index);
    let (mut near_in_all, mut near) = (0, 0);
    for seed in 0..20 {
        let query = in_a_group(1_000_000 + 7 * seed);
        let mut all = fixture.index.near_in_all(&query, FLOOR);
        let mut found = fixture.index.near(&query, FLOOR);
        for list in [&mut all, &mut found] {
            list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.ordinal.cmp(&b.ordinal)));
        }
        assert_eq!(found[..10], all[..10], "seed {seed}");
        let is_sorted = found.windows(2).all(|pair| pair[0] != pair[1]);
        assert!(
            is_sorted && found.iter().all(|near| all.contains(near)),
            "seed {seed}: something is not near"
        );
        near_in_all += all.len();
        near += found.len();
    }
    assert!(near * 100 >= near_in_all * 80, "{near} of {near_in_all}");
}

#[test]
fn a_query_without_a_direction_finds_nothing() {
    let mut fixture = Fixture::default();
    fixture.set(1, 1);
    fixture.writer.publish(&fixture.index);
    for query in [vec![], vec![0.0; DIMENSIONS], vec![f32::NAN; DIMENSIONS], vec![1.0; DIMENSIONS + 1]] {
        assert_eq!(fixture.index.near(&query, FLOOR), []);
    }
}

#[test]
fn a_meaning_is_the_last_half_of_a_vector_of_its_text_model() {
    let words = vec![0.5; DIMENSIONS];
    let stored =
        |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
    let whole = [words.clone(), numbers(5).iter().map(|number| number * 0.3).collect()].concat();
    let names = ["loggia-1+potion", "loggia-1+network+potion"];
    assert_eq!(
        names.map(|name| meaning_of("potion", name, &stored(&whole))),
        [(); 2].map(|()| Some(meaning(5)))
    );
    let bytes: Vec<u8> = whole.iter().map(|number| ((number * 100.0) as i8).cast_unsigned()).collect();
    let expected: Vec<f32> = whole[DIMENSIONS..].iter().map(|number| (number * 100.0).trunc()).collect();
    assert_eq!(meaning_of("potion", names[0], &bytes), Meaning::new(&expected));
    for name in ["loggia-1", "potions", "loggia-1+potion-2", ""] {
        assert_eq!(meaning_of("potion", name, &stored(&whole)), None, "{name}");
    }
    let without = [words.clone(), vec![0.0; DIMENSIONS]].concat();
    for stored in [stored(&without), stored(&words), vec![0; WITH_WORDS], Vec::new()] {
        assert_eq!(meaning_of("potion", names[0], &stored), None);
    }
}
