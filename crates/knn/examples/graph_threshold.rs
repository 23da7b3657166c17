//! Measures from which number of rows on a graph is worthwhile: builds the lists of N rows by comparing all pairs and by a
//! graph, and reports time, processor time of all threads, recall@10 and peak memory. Rows are clustered, of D dimensions,
//! with one or two sides.
//!
//! ```sh
//! cargo run --release -p knn --example graph_threshold -- 20000 256 2
//! ```
//!
//! A fourth argument `graph` skips what takes hours at a million rows, the lists of all of them: only the lists of the 200 rows whose
//! recall is measured are searched by the graph.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints its results")]

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use knn::{Encoding, Layout, Lists, Rank, Row, Side, VectorSpace, unit};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// The length of a list.
const K: usize = 64;
/// The mean number of rows in a cluster.
const CLUSTER: u32 = 100;
/// The distance of rows within a cluster, as a share of the distance between clusters.
const SPREAD: f32 = 0.7;
/// The rows whose recall is measured.
const SAMPLE: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (rows, dimensions, sides) = (number(20_000), number(256), number(2));
    let graph_only = arguments.next().is_some_and(|word| word == "graph");
    let (mut space, rows) = (VectorSpace::new(K), u32::try_from(rows).unwrap());
    let mut data = Data::new(rows, dimensions, sides);
    (0..rows).for_each(|id| data.insert(&mut space, id));
    println!("{rows} rows, {sides} sides of {dimensions} dimensions, {} MB", peak());

    if !graph_only {
        report(&mut space, "all pairs", |space, stop| space.nearest_of_all(stop));
    }
    let timer = Timer::start();
    space.build_graphs(0);
    println!("graph: {} to build, {} MB", timer.elapsed(), peak());
    if !graph_only {
        report(&mut space, "graph, all rows", |space, stop| space.nearest_of_all(stop));
    }
    let some = space.subset(&sample(&space));
    let search_some = |space: &mut VectorSpace, stop: &AtomicBool| {
        Some(space.nearest_of_some(&some, &HashSet::new(), stop)?.lists)
    };
    report(&mut space, &format!("graph, {SAMPLE} rows"), search_some);
}

/// Searches lists and prints what that took, and their recall.
fn report(
    space: &mut VectorSpace,
    what: &str,
    search: impl Fn(&mut VectorSpace, &AtomicBool) -> Option<Lists>,
) {
    let timer = Timer::start();
    let lists = search(space, &AtomicBool::new(false)).unwrap();
    println!("{what}: {} to search, {} MB, recall@10 {:.4}", timer.elapsed(), peak(), recall(space, &lists));
}

/// Measures wall-clock time and processor time.
struct Timer {
    began: Instant,
    processor: f64,
}

impl Timer {
    fn start() -> Timer {
        Timer { began: Instant::now(), processor: processor() }
    }

    /// Returns both times since the start, as text.
    fn elapsed(&self) -> String {
        format!("{:.1} s ({:.1} of CPU)", self.began.elapsed().as_secs_f64(), processor() - self.processor)
    }
}

/// Returns the seconds of processor time that this process has used; 0 where the system does not tell.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    // User and system time, in hundredths of a second (proc(5)).
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
    ticks.iter().sum::<f64>() / 100.0
}

/// Returns the share of the true ten nearest that the lists of a sample contain.
fn recall(space: &VectorSpace, lists: &Lists) -> f64 {
    let lists: HashMap<u32, &Vec<Rank>> = lists.iter().map(|(id, list)| (*id, list)).collect();
    let (mut found, mut all) = (0, 0);
    for id in sample(space) {
        let others = space.ids().filter(|other| *other != id);
        let mut nearest: Vec<Rank> = others.filter_map(|other| space.rank(id, other)).collect();
        nearest.sort_unstable();
        nearest.truncate(10);
        found += nearest.iter().filter(|rank| lists[&id].contains(rank)).count();
        all += nearest.len();
    }
    found as f64 / all as f64
}

/// Returns the rows whose recall is measured.
fn sample(space: &VectorSpace) -> Vec<u32> {
    let step = space.len().div_ceil(SAMPLE).max(1);
    (0..u32::try_from(space.len()).unwrap()).step_by(step).collect()
}

/// Clusters and the rows in them.
struct Data {
    random: TestRng,
    centres: Vec<Vec<f32>>,
    dimensions: usize,
    sides: usize,
}

impl Data {
    fn new(rows: u32, dimensions: usize, sides: usize) -> Data {
        let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let clusters = (rows / CLUSTER).max(1);
        let centres = (0..clusters).map(|_| direction(&mut random, dimensions * sides)).collect();
        Data { random, centres, dimensions, sides }
    }

    fn insert(&mut self, space: &mut VectorSpace, id: u32) {
        let centre = &self.centres[self.random.next_u32() as usize % self.centres.len()];
        let noise = direction(&mut self.random, centre.len());
        let values: Vec<f32> =
            centre.iter().zip(noise).map(|(centre, noise)| centre + noise * SPREAD).collect();
        let (visual, semantic) = values.split_at(self.dimensions);
        let encoding = Some(Encoding { model: 0, dimensions: self.dimensions, is_quantized: false });
        let (visual, semantic) = (unit(visual), (self.sides == 2).then(|| unit(semantic)));
        let layout = Layout { visual: encoding, semantic: encoding.filter(|_| self.sides == 2) };
        let semantic = semantic.as_deref().map(Side::Floats);
        space.insert(id, Row { layout, visual: Some(Side::Floats(&visual)), semantic });
    }
}

fn direction(random: &mut TestRng, dimensions: usize) -> Vec<f32> {
    // The sum of four uniform numbers is close enough to a normal distribution.
    let mut uniform = || random.next_u32() as f32 / u32::MAX as f32 - 0.5;
    let values: Vec<f32> = (0..dimensions).map(|_| uniform() + uniform() + uniform() + uniform()).collect();
    unit(&values)
}

/// Returns the peak memory of this process in MB; 0 where the system does not provide it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1_000
}
