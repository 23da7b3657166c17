//! The neighbour table: how long building it takes, its recall, and how soon an added project is in it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use daemon::resources::ProcessUsage;
use read::checkpoint::Checkpoint;
use read::neighbours::{NeighboursReader, NeighboursWriter, recall};
use schemas::event::{Event, ProjectSelected, VectorsRecorded};
use schemas::ids::{Position, ProjectId};
use schemas::vector::Vector;

use crate::Figure;
use crate::searching::median;
use crate::vectors::{ClusteredVectors, OF_ENCODERS};

/// The number of projects in one commit, as in a replay.
pub(crate) const BATCH: usize = 2_500;
/// The number of projects that are added one by one.
const MORE: usize = 20;
/// The number of projects whose lists are compared with an exact search.
const SAMPLE: usize = 200;

/// The vectors of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Of 256 + 256 floats, as imports may bring them.
    Floats,
    /// Those of the encoders with weights.
    OfEncoders,
}

/// Builds the tables of `size` projects with random vectors, in this process.
///
/// # Errors
///
/// If a table cannot be written to a temporary folder, or the memory of this process cannot be read.
pub async fn measure(size: usize) -> Result<Vec<Figure>> {
    // The second one needs more memory, of which only the greatest value so far is known.
    let mut figures = measure_shape(size, Shape::Floats).await?;
    figures.extend(measure_shape(size, Shape::OfEncoders).await?);
    Ok(figures)
}

async fn measure_shape(size: usize, shape: Shape) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let (mut vectors, name) = match shape {
        Shape::Floats => (ClusteredVectors::new(size, 7), "256 + 256 floats".to_owned()),
        Shape::OfEncoders => {
            let [visual, semantic] = OF_ENCODERS;
            (ClusteredVectors::of_encoders(size, 7), format!("{visual} + {semantic} bytes"))
        }
    };
    let mut writer = NeighboursWriter::open(folder.path()).await?;
    writer.prepare_replay();
    let mut built = Duration::ZERO;
    for start in (0..size).step_by(BATCH) {
        let numbers = start..(start + BATCH).min(size);
        // Making them up is not counted.
        let mut events = recorded(&mut vectors, shape, numbers.len())?.into_iter();
        let began = Instant::now();
        add(&mut writer, numbers, || events.next().context("one event for each project")).await?;
        built += began.elapsed();
    }
    let began = Instant::now();
    writer.finish_lists().await?;
    let built = (built + began.elapsed()).as_secs_f64();
    let peak = ProcessUsage::measure().peak_resident_bytes;
    let memory = peak.context("memory is read from /proc, which Linux has")? as f64 / 1e6;
    let reader = NeighboursReader::open(folder.path()).await?;
    let mut seen = Vec::new();
    for number in size..size + MORE {
        let mut events = recorded(&mut vectors, shape, 1)?.into_iter();
        let began = Instant::now();
        add(&mut writer, number..number + 1, || events.next().context("one event")).await?;
        reader.refresh().await?;
        seen.push(began.elapsed().as_secs_f64() * 1e3);
    }
    writer.close().await?;
    let recalled = recall(folder.path(), SAMPLE, 10).await?;
    let seconds = if size <= 2_600 { 5.0 } else { 60.0 };
    let title = |what: &str| format!("{what} ({name})");
    let (lists, share) = (title(&format!("recall@10 of {} lists", recalled.projects)), recalled.share);
    Ok(vec![
        Figure::new(title(&format!("neighbours of {size} projects from nothing")), built, "s")
            .at_most_in(size, seconds),
        Figure::new(title("most memory while they are made"), memory, "MB").at_most(2_000.0),
        Figure::new(lists, share, "").at_least(1.0),
        Figure::new(title("one more project is in all lists"), median(seen), "ms").at_most(500.0),
    ])
}

/// Selects projects and records their vectors, one event each, in one commit.
pub(crate) async fn add(
    writer: &mut NeighboursWriter,
    numbers: std::ops::Range<usize>,
    mut recorded: impl FnMut() -> Result<Event>,
) -> Result<()> {
    let ids: Vec<ProjectId> =
        numbers.map(|number| format!("{number:026}").parse()).collect::<Result<_, _>>()?;
    writer.load(ids.iter().copied()).await?;
    let mut position = writer.checkpoint().position;
    for id in ids {
        for event in [selected()?, recorded()?] {
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

/// Returns events with the vectors of the next projects.
fn recorded(vectors: &mut ClusteredVectors, shape: Shape, count: usize) -> Result<Vec<Event>> {
    let vector = |numbers: Vec<f32>| match shape {
        Shape::Floats => Vector::new(numbers),
        Shape::OfEncoders => Vector::quantized(&numbers),
    };
    let mut event = || {
        let [visual, semantic] = vectors.next_pair();
        Ok(Event::VectorsRecorded(VectorsRecorded {
            model: "bench".into(),
            visual: Some(vector(visual)?),
            semantic: Some(vector(semantic)?),
            computed: None,
        }))
    };
    (0..count).map(|_| event()).collect()
}
