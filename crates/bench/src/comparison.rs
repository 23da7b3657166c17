//! The comparison of a query with all meanings, in this process: how long it takes, and how many of the nearest it finds.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cli_output::count;
use embeddings::TextModel;
use read::neighbours::meaning::{self, Floor, MeaningIndex, Near};
use read::neighbours::{NeighboursReader, NeighboursWriter};
use schemas::event::{Event, VectorsRecorded};
use schemas::vector::Vector;

use crate::vectors::ClusteredVectors;
use crate::{Figure, neighbour_table};

/// The number of queries that are compared with all meanings.
const QUERIES: usize = 500;
/// The number of queries that are made at once.
const THREADS: usize = 4;
/// The number of nearest projects whose share is counted.
const NEAREST: usize = 10;
/// As in searches.
const FLOOR: Floor = Floor { least: 0.2, of_best: 0.5 };

/// Measures what it takes to compare a query with the meanings of `size` projects, in this process and with random vectors of the shape of
/// those of texts, and how many of the nearest are found.
///
/// # Errors
///
/// If the vectors cannot be written to a temporary folder, or a query finds nothing.
pub async fn measure(size: usize) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let mut vectors = ClusteredVectors::of_encoders(size, 7);
    let mut writer = NeighboursWriter::open(folder.path()).await?;
    // Their lists are not made.
    writer.prepare_replay();
    for start in (0..size).step_by(neighbour_table::BATCH) {
        let numbers = start..(start + neighbour_table::BATCH).min(size);
        neighbour_table::add(&mut writer, numbers, || recorded(&mut vectors)).await?;
    }
    let reader = NeighboursReader::open_with_meanings(folder.path(), Some(TextModel::NAME.into())).await?;
    let meanings = reader.meanings().context("the neighbours were opened without meanings")?;
    if meanings.len() != size {
        bail!("of {size} projects {} have a meaning", meanings.len());
    }
    let queries: Vec<Vec<f32>> =
        (0..QUERIES).map(|_| semantic(&mut vectors).split_off(meaning::DIMENSIONS)).collect();
    let figures = compare(meanings, &queries);
    writer.close().await?;
    figures
}

/// Compares queries with all meanings, one after the other and from several threads at once.
fn compare(meanings: &MeaningIndex, queries: &[Vec<f32>]) -> Result<Vec<Figure>> {
    let size = meanings.len();
    let began = Instant::now();
    let found: usize = queries.iter().map(|query| meanings.near(query, FLOOR).len()).sum();
    let each = began.elapsed().as_secs_f64() * 1e6 / queries.len() as f64;
    if found == 0 {
        bail!("nothing was near to any of {} queries", queries.len());
    }
    let timed = |queries: &[Vec<f32>]| -> Vec<f64> {
        let time = |query: &Vec<f32>| {
            let began = Instant::now();
            black_box(meanings.near(query, FLOOR));
            began.elapsed().as_secs_f64() * 1e3
        };
        queries.iter().map(time).collect()
    };
    let mut times: Vec<f64> = thread::scope(|scope| {
        let parts = queries.chunks(queries.len().div_ceil(THREADS));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || timed(part))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    times.sort_by(f64::total_cmp);
    let p99 = times.get(times.len() * 99 / 100).copied().context("no query was answered")?;
    let (mut kept, mut all) = (0, 0);
    for query in queries.iter().take(queries.len() / 5) {
        let nearest = nearest(meanings.near_in_all(query, FLOOR));
        let found = meanings.near(query, FLOOR);
        kept += nearest.iter().filter(|near| found.contains(near)).count();
        all += nearest.len();
    }
    let of = |what: &str| format!("{what} {} meanings, in this process", count(size as u64));
    Ok(vec![
        Figure::new(of("a query against"), each, "µs"),
        Figure::new(of(&format!("p99 of {THREADS} queries at once against")), p99, "ms").at_most(30.0),
        Figure::new(of(&format!("recall@{NEAREST} of")), kept as f64 / all as f64, "share").at_least(0.95),
    ])
}

/// Returns the nearest of what is near.
fn nearest(mut near: Vec<Near>) -> Vec<Near> {
    near.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.ordinal.cmp(&b.ordinal)));
    near.truncate(NEAREST);
    near
}

/// Returns a semantic vector of words and a meaning.
fn recorded(vectors: &mut ClusteredVectors) -> Result<Event> {
    Ok(Event::VectorsRecorded(VectorsRecorded {
        model: format!("bench+{}", TextModel::NAME),
        visual: None,
        semantic: Some(Vector::quantized(&semantic(vectors))?),
        computed: None,
    }))
}

fn semantic(vectors: &mut ClusteredVectors) -> Vec<f32> {
    let [_visual, semantic] = vectors.next_pair();
    semantic
}
