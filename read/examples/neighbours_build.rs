//! How long it takes to make the lists of N projects (20,000 unless told), how true they are, and how fast one more
//! project is seen: clustered vectors of 256 semantic dimensions, and of 256 visual ones where two sides are asked for. Three
//! more numbers are the seed, from how many projects on a graph is used, and the number of sides (2 unless told).
//!
//! ```sh
//! cargo run --release -p read --features apply --example neighbours_build -- 20000
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example speaks to whoever runs it")]

use std::time::Instant;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use read::checkpoint::Checkpoint;
use read::neighbours::{NeighboursReader, NeighboursWriter, recall};
use schemas::event::{Event, ProjectSelected, VectorsRecorded};
use schemas::ids::{Position, ProjectId};
use schemas::vector::Vector;

/// Events in one commit, as in a replay.
const BATCH: u64 = 2_500;
/// Numbers in each of the two vectors.
const DIMENSIONS: usize = 256;
/// Projects that look or read alike, on the average.
const CLUSTER: u64 = 100;
/// How far apart those are, against how far apart clusters are.
const SPREAD: f32 = 0.7;

#[tokio::main]
async fn main() {
    let projects: u64 = std::env::args().nth(1).map_or(20_000, |text| text.parse().unwrap());
    let seed: u64 = std::env::args().nth(2).map_or(7, |text| text.parse().unwrap());
    let graph_from: Option<usize> = std::env::args().nth(3).map(|text| text.parse().unwrap());
    let sides: usize = std::env::args().nth(4).map_or(2, |text| text.parse().unwrap());
    println!("{projects} projects, seed {seed}, graph from {graph_from:?}, {sides} sides of {DIMENSIONS}");
    let mut data = Data::new(projects, seed, sides == 2);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = match graph_from {
        None => NeighboursWriter::open(folder.path()).await.unwrap(),
        Some(from) => NeighboursWriter::open_with_graph_from(folder.path(), from).await.unwrap(),
    };
    writer.prepare_replay();
    let began = Instant::now();
    for start in (0..projects).step_by(BATCH as usize) {
        apply(&mut writer, start..(start + BATCH).min(projects), &mut data).await;
    }
    println!("{:.1} s to apply the events", began.elapsed().as_secs_f64());
    let began = Instant::now();
    writer.settle().await.unwrap();
    println!("{:.1} s to make all lists", began.elapsed().as_secs_f64());

    let began = Instant::now();
    let reader = NeighboursReader::open(folder.path()).await.unwrap();
    println!("{:.2} s to load them", began.elapsed().as_secs_f64());
    println!("{} MB at the most so far", peak() / 1_000_000);
    query(&reader, projects);

    let (mut times, mut seen_by) = (Vec::new(), 0);
    for number in projects..projects + 20 {
        let began = Instant::now();
        let ordinal = apply(&mut writer, number..number + 1, &mut data).await;
        reader.refresh().await.unwrap();
        let list = reader.of(ordinal).unwrap();
        times.push(began.elapsed());
        let stands = |other| reader.of(other).is_some_and(|of| of.iter().any(|n| n.ordinal == ordinal));
        seen_by += list.iter().filter(|neighbour| stands(neighbour.ordinal)).count();
    }
    times.sort_unstable();
    println!("{:?} median, {:?} at the most until one more project is seen", times[10], times[19]);
    println!("it stands in the lists of {} of its 50 neighbours", seen_by / 20);

    writer.close().await.unwrap();
    let began = Instant::now();
    let writer = NeighboursWriter::open(folder.path()).await.unwrap();
    println!("{:.1} s to open the model again", began.elapsed().as_secs_f64());
    drop(writer);
    for nearest in [10, 50] {
        let found = recall(folder.path(), 200, nearest).await.unwrap();
        println!("recall@{nearest} {:.4}, {} of {} exact", found.share, found.exact, found.projects);
    }
}

/// Selects projects and records their vectors in one commit; gives the ordinal of the last.
async fn apply(writer: &mut NeighboursWriter, numbers: std::ops::Range<u64>, data: &mut Data) -> u64 {
    writer.load(numbers.clone().map(id)).await.unwrap();
    let mut checkpoint: Checkpoint = writer.checkpoint().clone();
    let mut ordinal = Position::START;
    for number in numbers {
        for event in [selected(), data.recorded()] {
            checkpoint.position = checkpoint.position.next();
            writer.apply(id(number), &event, checkpoint.position).unwrap();
            if let Event::ProjectSelected(_) = event {
                ordinal = checkpoint.position;
            }
        }
    }
    writer.commit(checkpoint).await.unwrap();
    ordinal.0
}

fn query(reader: &NeighboursReader, projects: u64) {
    // A stride without a common divisor, so that neighbours in memory do not follow each other.
    let asked: Vec<u64> = (0..projects).map(|n| 1 + 2 * (n * 7_919 % projects)).collect();
    let began = Instant::now();
    let found: usize = asked.iter().filter_map(|ordinal| reader.of(*ordinal)).map(|list| list.len()).sum();
    let each = began.elapsed().as_nanos() as f64 / projects as f64;
    println!("{each:.0} ns a look-up, {found} neighbours");
}

fn id(number: u64) -> ProjectId {
    format!("{number:026}").parse().unwrap()
}

fn selected() -> Event {
    let record = serde_json::from_str(r#"{"name": "X", "category": "art"}"#).unwrap();
    Event::ProjectSelected(ProjectSelected { slug: "x".parse().unwrap(), record, id: None })
}

/// Draws vectors around centres.
struct Data {
    random: TestRng,
    centres: Vec<[Vec<f32>; 2]>,
    has_visual: bool,
}

impl Data {
    fn new(projects: u64, seed: u64, has_visual: bool) -> Data {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let clusters = (projects / CLUSTER).max(1);
        let centres = (0..clusters).map(|_| [normal(&mut random), normal(&mut random)]).collect();
        Data { random, centres, has_visual }
    }

    fn recorded(&mut self) -> Event {
        let centre = (self.random.next_u64() % self.centres.len() as u64) as usize;
        let mut side = |side: usize| {
            let noise = normal(&mut self.random);
            let around = self.centres[centre][side].iter().zip(noise).map(|(c, n)| c + SPREAD * n);
            Some(Vector::new(around.collect()).unwrap())
        };
        let visual = if self.has_visual { side(0) } else { None };
        let semantic = side(1);
        Event::VectorsRecorded(VectorsRecorded { model: "example".into(), visual, semantic, computed: None })
    }
}

/// Numbers that are normally distributed, nearly: sums of four even ones.
fn normal(random: &mut TestRng) -> Vec<f32> {
    let mut even = || random.next_u32() as f32 / u32::MAX as f32 - 0.5;
    (0..DIMENSIONS).map(|_| (0..4).map(|_| even()).sum()).collect()
}

/// The most memory this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
}
