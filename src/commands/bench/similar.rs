//! Similarity: how long the neighbour table takes to make, its recall, and how soon one more project is in it.

use std::time::Instant;

use anyhow::{Context, Result};
use bench::Figure;
use bench::searching::median;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use read::checkpoint::Checkpoint;
use read::neighbours::{NeighboursReader, NeighboursWriter, recall};
use schemas::event::{Event, ProjectSelected, VectorsRecorded};
use schemas::ids::{Position, ProjectId};
use schemas::vector::Vector;

/// Events in one commit, as in a replay.
const BATCH: usize = 2_500;
/// Numbers in each of the two vectors.
const DIMENSIONS: usize = 256;
/// Projects that look or read alike, on the average.
const CLUSTER: usize = 100;
/// How far apart those are, against how far apart clusters are.
const SPREAD: f32 = 0.7;
/// Projects that come one by one.
const MORE: usize = 20;
/// Projects whose lists are held against an exact search.
const SAMPLE: usize = 200;

/// Makes the table of so many projects with given vectors, in this process.
pub async fn table(size: usize) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let mut data = Data::new(size, 7);
    let mut writer = NeighboursWriter::open(folder.path()).await?;
    writer.prepare_replay();
    let began = Instant::now();
    for start in (0..size).step_by(BATCH) {
        add(&mut writer, start..(start + BATCH).min(size), &mut data).await?;
    }
    writer.finish_lists().await?;
    let made = began.elapsed().as_secs_f64();
    let memory = peak()? as f64 / 1e6;
    let reader = NeighboursReader::open(folder.path()).await?;
    let mut seen = Vec::new();
    for number in size..size + MORE {
        let began = Instant::now();
        add(&mut writer, number..number + 1, &mut data).await?;
        reader.refresh().await?;
        seen.push(began.elapsed().as_secs_f64() * 1e3);
    }
    writer.close().await?;
    let recalled = recall(folder.path(), SAMPLE, 10).await?;
    let small = size <= 2_600;
    let (seconds, share) = if small { (5.0, 0.98) } else { (300.0, 0.95) };
    let name = format!("neighbours of {size} projects from nothing");
    Ok(vec![
        Figure::new(name, made, "s").at_most_in(size, seconds),
        Figure::new("most memory while they are made", memory, "MB").at_most(2_000.0),
        Figure::new(format!("recall@10 of {} lists", recalled.projects), recalled.share, "").at_least(share),
        Figure::new("one more project stands in all lists", median(seen), "ms").at_most(500.0),
    ])
}

/// Selects projects and records their vectors in one commit.
async fn add(writer: &mut NeighboursWriter, numbers: std::ops::Range<usize>, data: &mut Data) -> Result<()> {
    let ids: Vec<ProjectId> =
        numbers.map(|number| format!("{number:026}").parse()).collect::<Result<_, _>>()?;
    writer.load(ids.iter().copied()).await?;
    let mut position = writer.checkpoint().position;
    for id in ids {
        for event in [selected()?, data.recorded()?] {
            position = position.next();
            writer.apply(id, &event, position)?;
        }
    }
    let checkpoint = Checkpoint { position: Position(position.0), ..writer.checkpoint().clone() };
    Ok(writer.commit(checkpoint).await?)
}

fn selected() -> Result<Event> {
    let record = serde_json::from_str(r#"{"name": "X", "category": "art"}"#)?;
    Ok(Event::ProjectSelected(ProjectSelected { slug: "x".parse()?, record, id: None }))
}

/// Draws vectors around centres.
struct Data {
    random: StdRng,
    centres: Vec<[Vec<f32>; 2]>,
}

impl Data {
    fn new(projects: usize, seed: u64) -> Data {
        let mut random = StdRng::seed_from_u64(seed);
        let clusters = (projects / CLUSTER).max(1);
        let centres = (0..clusters).map(|_| [normal(&mut random), normal(&mut random)]).collect();
        Data { random, centres }
    }

    fn recorded(&mut self) -> Result<Event> {
        let centre = self.random.random_range(0..self.centres.len());
        let mut side = |side: usize| {
            let noise = normal(&mut self.random);
            let around = self.centres[centre][side].iter().zip(noise).map(|(c, n)| c + SPREAD * n);
            Vector::new(around.collect()).map(Some)
        };
        let (visual, semantic) = (side(0)?, side(1)?);
        Ok(Event::VectorsRecorded(VectorsRecorded {
            model: "bench".into(),
            visual,
            semantic,
            computed: None,
        }))
    }
}

/// Numbers that are normally distributed, nearly: sums of four even ones.
fn normal(random: &mut StdRng) -> Vec<f32> {
    (0..DIMENSIONS).map(|_| (0..4).map(|_| random.random::<f32>() - 0.5).sum()).collect()
}

/// The most memory this process has had, in bytes.
fn peak() -> Result<u64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("memory is read from /proc, which Linux has")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).context("the kernel tells no peak")?;
    let kilobytes: u64 = line.split_whitespace().nth(1).context("the kernel tells no peak")?.parse()?;
    Ok(kilobytes * 1_024)
}
