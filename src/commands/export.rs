//! `loggia export`: the catalog as import records, one per line, in the order of their slugs.

mod pictures;

use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::Result;
use cli_output::{Output, count, say};
use futures::TryStreamExt;
use write::service::{ExportedVectors, export};

use crate::config::Config;
use crate::store;
use pictures::Pictures;

/// The number of lines that are written at once.
const LINES: usize = 500;

/// Writes every listed project to standard output, and pictures that records name as files to `pictures`, if given.
pub async fn run(
    config: &Config,
    vectors: bool,
    pictures: Option<&Path>,
    output: Output,
) -> Result<ExitCode> {
    let store = store::open_read_only(config).await?;
    let vectors = if vectors { ExportedVectors::All } else { ExportedVectors::Supplied };
    let mut pictures = pictures.map(|folder| Pictures::new(config, folder)).transpose()?;
    let bar = output.progress(0, "records");
    let mut projects = pin!(export(&store, vectors).try_ready_chunks(LINES));
    while let Some(chunk) = projects.try_next().await? {
        let mut lines = Vec::with_capacity(chunk.len());
        for project in chunk {
            if let Some(pictures) = &mut pictures {
                for (source, id) in project.pictures {
                    pictures.write(&source, id)?;
                }
            }
            lines.push(project.line);
        }
        output.lines(&lines)?;
        bar.inc(lines.len() as u64);
        if pictures.is_none() && !output.has_reader() {
            break;
        }
    }
    bar.finish_and_clear();
    let Some(Pictures { written, omitted, .. }) = pictures else { return Ok(ExitCode::SUCCESS) };
    say(&format!("{} pictures written, {} not", count(written), count(omitted)));
    Ok(if omitted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
