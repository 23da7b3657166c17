//! One project at random.

use super::*;

/// Returns random numbers: SplitMix64 from a fixed seed.
fn draws(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    })
}

/// Returns the chi-square statistic of the numbers of draws of each project.
fn chi_square(archive: &Archive, category: Option<Category>, expected: &[u64], seed: u64) -> f64 {
    const EACH: usize = 200;
    let mut drawn = vec![0_u32; 1_000];
    for draw in draws(seed).take(EACH * expected.len()) {
        drawn[archive.reader.listing().random(category, draw).unwrap() as usize] += 1;
    }
    let of_expected: u32 = expected.iter().map(|ordinal| drawn[*ordinal as usize]).sum();
    assert_eq!(of_expected as usize, EACH * expected.len(), "no other is drawn");
    let square = |ordinal: &u64| (f64::from(drawn[*ordinal as usize]) - EACH as f64).powi(2) / EACH as f64;
    expected.iter().map(square).sum()
}

#[tokio::test]
async fn every_project_is_drawn_equally_often() {
    let category = |number: u64| if number.is_multiple_of(3) { Category::Art } else { Category::Design };
    let mut archive = Archive::of(&[]).await;
    let project = |number| selected(number, &format!("p{number}"), record(category(number), None, &[]));
    archive.apply(&(1..=240).map(project).collect::<Vec<_>>()).await;
    archive.apply(&(1..=240).filter(|n| n % 10 == 0).map(withdrawn).collect::<Vec<_>>()).await;
    let listed: Vec<u64> = (1..=240).filter(|n| n % 10 != 0).collect();
    let of_art: Vec<u64> = listed.iter().copied().filter(|n| n % 3 == 0).collect();
    assert_eq!((listed.len(), of_art.len()), (216, 72));
    // The 99.9th percentiles of the distributions with 215 and 71 degrees of freedom.
    let (all, art) =
        (chi_square(&archive, None, &listed, 11), chi_square(&archive, Some(Category::Art), &of_art, 12));
    assert!(all < 285.0 && art < 113.0, "{all} {art}");
    assert_eq!(archive.reader.listing().random(Some(Category::Interiors), 7), None);
    let ends = [0, u64::MAX].map(|draw| archive.reader.listing().random(None, draw));
    assert_eq!(ends, [Some(1), Some(99)], "p1 is the first slug, and p99 the last");
}
