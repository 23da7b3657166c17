//! `loggia export`: the catalog as import records, one a line, in the order of their slugs.

use std::pin::pin;

use anyhow::Result;
use futures::TryStreamExt;
use write::service::{ExportedVectors, export};

use crate::config::Config;
use crate::output::Output;
use crate::session;

/// Lines written at once.
const LINES: usize = 500;

/// Writes every listed project to standard output.
pub async fn run(config: &Config, vectors: bool, output: Output) -> Result<()> {
    let store = session::open_store_read_only(config).await?;
    let vectors = if vectors { ExportedVectors::All } else { ExportedVectors::Brought };
    let bar = output.progress(0, "records");
    let mut lines = pin!(export(&store, vectors).try_ready_chunks(LINES));
    while let Some(chunk) = lines.try_next().await? {
        output.lines(&chunk)?;
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(())
}
