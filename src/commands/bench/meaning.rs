//! Search by meaning: its cost on the demo catalog, the plain comparison in this process and, with `--records`, what it finds in a catalog
//! of the records of a file alone.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use bench::Figure;
use bench::server::Server;
use bench::vectors::ClusteredVectors;
use bench::{filling, meaning};
use cli_output::{count, say};
use embeddings::TextModel;
use read::neighbours::meaning::Floor;
use read::neighbours::{NeighboursReader, NeighboursWriter};
use schemas::event::{Event, VectorsRecorded};
use schemas::vector::Vector;

use super::{Report, similar};
use crate::cli::{BenchArgs, BenchSuite};
use crate::compose;
use crate::config::{Config, Vectors};

/// The number of queries that are compared with all meanings.
const QUERIES: usize = 500;
/// As in searches.
const FLOOR: Floor = Floor { least: 0.2, of_best: 0.5 };

/// Fails if there is nothing with which texts can be searched by meaning, before anything is measured.
pub async fn check_weights(config: &Config) -> Result<()> {
    if config.media.vectors != Vectors::Auto {
        bail!("searches by meaning are measured with vectors = \"auto\"; the settings have another value");
    }
    let folder = compose::weights_folder(config);
    let shown = folder.display().to_string();
    let model = tokio::task::spawn_blocking(move || TextModel::open(&folder)).await??;
    if model.is_none() {
        bail!(
            "{shown} has no weights for texts, without which nothing is searched by meaning: run bin/setup, or `loggia models fetch DIR` \
             (docs/models.md), or name another folder with --weights"
        );
    }
    Ok(())
}

/// Measures the costs on the catalog of this server, and what is found in one of its own if there are records.
pub async fn measure(config: &Config, server: &Server, args: &BenchArgs, report: &mut Report) -> Result<()> {
    if let Err(reason) = check_weights(config).await {
        if args.suites.contains(&BenchSuite::Meaning) {
            return Err(reason);
        }
        say(&format!("searches by meaning are left out: {reason}"));
        return Ok(());
    }
    report.add(vec![scan(args.size).await?])?;
    filling::wait_until_embedded(server, args.size).await?;
    report.add(meaning::cost(server, args.size).await?)?;
    let Some(file) = &args.records else {
        say("what is found by meaning is measured with --records FILE");
        return Ok(());
    };
    let mut server = filling::start_and_import(super::new_server(config)?, file).await?;
    filling::wait_until_all_have_meanings(&server).await?;
    let found = meaning::measure(&server, args.seed).await;
    let found = found.with_context(|| format!("{} cannot be measured", file.display()))?;
    server.stop().await?;
    report.add(found.figures())?;
    found.misses().iter().for_each(|miss| say(miss));
    if found.lacking > 0 {
        let lacking = count(found.lacking as u64);
        say(&format!(
            "the judged questions are about other records, of which {lacking} are not there; they are left out"
        ));
    }
    Ok(())
}

/// Measures how long the comparison of a query with the meanings of `size` projects takes, in this process and with random vectors.
async fn scan(size: usize) -> Result<Figure> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let mut vectors = ClusteredVectors::new(size, 7);
    let mut writer = NeighboursWriter::open(folder.path()).await?;
    // Their lists are not made.
    writer.prepare_replay();
    for start in (0..size).step_by(similar::BATCH) {
        let numbers = start..(start + similar::BATCH).min(size);
        similar::add(&mut writer, numbers, || recorded(&mut vectors)).await?;
    }
    let reader = NeighboursReader::open_with_meanings(folder.path(), Some(TextModel::NAME.into())).await?;
    let meanings = reader.meanings().context("the neighbours were opened without meanings")?;
    if meanings.len() != size {
        bail!("of {size} projects {} have a meaning", meanings.len());
    }
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|_| vectors.next_pair()[1].clone()).collect();
    let began = Instant::now();
    let found: usize = queries.iter().map(|query| meanings.near(query, FLOOR).len()).sum();
    let each = began.elapsed().as_secs_f64() * 1e6 / QUERIES as f64;
    if found == 0 {
        bail!("nothing was near to any of {QUERIES} queries");
    }
    writer.close().await?;
    Ok(Figure::new(format!("a query against {size} meanings, in this process"), each, "µs"))
}

/// Returns a semantic vector of words and a meaning.
fn recorded(vectors: &mut ClusteredVectors) -> Result<Event> {
    Ok(Event::VectorsRecorded(VectorsRecorded {
        model: format!("bench+{}", TextModel::NAME),
        visual: None,
        semantic: Some(Vector::quantized(&vectors.next_pair().concat())?),
        computed: None,
    }))
}
