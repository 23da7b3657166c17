//! The neighbour table: how long building it takes, its recall, and how soon an added project is in it.

use std::time::Instant;

use anyhow::{Context, Result};
use bench::Figure;
use bench::searching::median;
use bench::vectors::ClusteredVectors;
use daemon::resources::ProcessUsage;
use read::checkpoint::Checkpoint;
use read::neighbours::{NeighboursReader, NeighboursWriter, recall};
use schemas::event::{Event, ProjectSelected, VectorsRecorded};
use schemas::ids::{Position, ProjectId};
use schemas::vector::Vector;

/// The number of projects in one commit, as in a replay.
const BATCH: usize = 2_500;
/// The number of projects that are added one by one.
const MORE: usize = 20;
/// The number of projects whose lists are compared with an exact search.
const SAMPLE: usize = 200;

/// Builds the table of `size` projects with random vectors, in this process.
pub async fn table(size: usize) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let mut vectors = ClusteredVectors::new(size, 7);
    let mut writer = NeighboursWriter::open(folder.path()).await?;
    writer.prepare_replay();
    let began = Instant::now();
    for start in (0..size).step_by(BATCH) {
        add(&mut writer, start..(start + BATCH).min(size), &mut vectors).await?;
    }
    writer.finish_lists().await?;
    let built = began.elapsed().as_secs_f64();
    let peak = ProcessUsage::measure().peak_resident_bytes;
    let memory = peak.context("memory is read from /proc, which Linux has")? as f64 / 1e6;
    let reader = NeighboursReader::open(folder.path()).await?;
    let mut seen = Vec::new();
    for number in size..size + MORE {
        let began = Instant::now();
        add(&mut writer, number..number + 1, &mut vectors).await?;
        reader.refresh().await?;
        seen.push(began.elapsed().as_secs_f64() * 1e3);
    }
    writer.close().await?;
    let recalled = recall(folder.path(), SAMPLE, 10).await?;
    let small = size <= 2_600;
    let (seconds, share) = if small { (5.0, 0.98) } else { (300.0, 0.95) };
    let name = format!("neighbours of {size} projects from nothing");
    Ok(vec![
        Figure::new(name, built, "s").at_most_in(size, seconds),
        Figure::new("most memory while they are made", memory, "MB").at_most(2_000.0),
        Figure::new(format!("recall@10 of {} lists", recalled.projects), recalled.share, "").at_least(share),
        Figure::new("one more project is in all lists", median(seen), "ms").at_most(500.0),
    ])
}

/// Selects projects and records their vectors in one commit.
async fn add(
    writer: &mut NeighboursWriter,
    numbers: std::ops::Range<usize>,
    vectors: &mut ClusteredVectors,
) -> Result<()> {
    let ids: Vec<ProjectId> =
        numbers.map(|number| format!("{number:026}").parse()).collect::<Result<_, _>>()?;
    writer.load(ids.iter().copied()).await?;
    let mut position = writer.checkpoint().position;
    for id in ids {
        for event in [selected()?, recorded(vectors)?] {
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

fn recorded(vectors: &mut ClusteredVectors) -> Result<Event> {
    let [visual, semantic] = vectors.next_pair();
    Ok(Event::VectorsRecorded(VectorsRecorded {
        model: "bench".into(),
        visual: Some(Vector::new(visual)?),
        semantic: Some(Vector::new(semantic)?),
        computed: None,
    }))
}
