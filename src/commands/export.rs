//! `loggia export`: the catalog as import records, one per line, or as a table, in the order of their slugs.

mod pictures;

use std::pin::pin;
use std::process::ExitCode;

use anyhow::Result;
use cli_output::{Output, Usage, count, say};
use event_log::EventLog;
use futures::TryStreamExt;
use import_file::{ExportTable, FilledColumns};
use write::service::{ExportedVectors, export};

use crate::cli::{ExportArgs, ExportFormat};
use crate::config::Config;
use crate::store;
use pictures::Pictures;

/// The number of lines that are written at once.
const LINES: usize = 500;

/// Writes every listed project to standard output, and pictures that records name as files to a folder, if one is given.
pub async fn run(config: &Config, args: &ExportArgs, output: Output) -> Result<ExitCode> {
    check(args)?;
    let asked = match &args.columns[..] {
        [] => None,
        columns => Some(ExportTable::of(columns)?),
    };
    let store = store::open_read_only(config).await?;
    let table = match (args.format, asked) {
        (ExportFormat::Ndjson, _) => None,
        (ExportFormat::Csv, Some(asked)) => Some(asked),
        (ExportFormat::Csv, None) => Some(all_columns(&store).await?),
    };
    let vectors = if args.with_vectors { ExportedVectors::All } else { ExportedVectors::Supplied };
    let mut pictures = args.pictures.as_deref().map(|folder| Pictures::new(config, folder)).transpose()?;
    if let Some(table) = &table {
        output.line(&table.head())?;
    }
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
            lines.push(match &table {
                Some(table) => table.row(&project.line)?,
                None => project.line,
            });
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

/// Checks that the arguments are about the same format.
fn check(args: &ExportArgs) -> Result<(), Usage> {
    match args.format {
        ExportFormat::Csv if args.with_vectors => {
            Err(Usage("a table has no vectors; leave out --with-vectors, or export NDJSON"))
        }
        ExportFormat::Ndjson if !args.columns.is_empty() => {
            Err(Usage("--columns are those of a table; add --format csv"))
        }
        ExportFormat::Csv | ExportFormat::Ndjson => Ok(()),
    }
}

/// Returns a table with all columns that a record of the log fills. It takes a pass of its own over the log.
async fn all_columns(log: &EventLog) -> Result<ExportTable> {
    let mut filled = FilledColumns::default();
    let mut projects = pin!(export(log, ExportedVectors::Supplied));
    while let Some(project) = projects.try_next().await? {
        filled.add(&project.line)?;
    }
    Ok(filled.into_table())
}
