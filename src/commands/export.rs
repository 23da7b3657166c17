//! `loggia export`: the catalog as import records, one per line, or as a table, in the order of their slugs.

mod pictures;

use std::io::IsTerminal;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::Result;
use cli_output::{Output, Usage, count, say};
use event_log::EventLog;
use futures::TryStreamExt;
use import_file::{ExportTable, ExportWorkbook, FilledColumns};
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
        (ExportFormat::Csv | ExportFormat::Xlsx, Some(asked)) => Some(asked),
        (ExportFormat::Csv | ExportFormat::Xlsx, None) => Some(all_columns(&store).await?),
    };
    let mut form = match table {
        None => Form::Lines,
        Some(table) if args.format == ExportFormat::Xlsx => {
            Form::Workbook(Box::new(ExportWorkbook::new(table)?))
        }
        Some(table) => Form::Table(table),
    };
    let vectors = if args.with_vectors { ExportedVectors::All } else { ExportedVectors::Supplied };
    let mut pictures = args.pictures.as_deref().map(|folder| Pictures::new(config, folder)).transpose()?;
    if let Form::Table(table) = &form {
        output.line(&table.head())?;
    }
    let bar = output.progress(0, "records");
    let mut projects = pin!(export(&store, vectors).try_ready_chunks(LINES));
    while let Some(chunk) = projects.try_next().await? {
        bar.inc(chunk.len() as u64);
        let mut lines = Vec::with_capacity(chunk.len());
        for project in chunk {
            if let Some(pictures) = &mut pictures {
                for (source, id) in project.pictures {
                    pictures.write(&source, id)?;
                }
            }
            match &mut form {
                Form::Lines => lines.push(project.line),
                Form::Table(table) => lines.push(table.row(&project.line)?),
                Form::Workbook(workbook) => workbook.add(&project.line)?,
            }
        }
        output.lines(&lines)?;
        if pictures.is_none() && !output.has_reader() {
            break;
        }
    }
    if let Form::Workbook(workbook) = form {
        workbook.write(std::io::stdout())?;
    }
    bar.finish_and_clear();
    let Some(Pictures { written, omitted, .. }) = pictures else { return Ok(ExitCode::SUCCESS) };
    say(&format!("{} pictures written, {} not", count(written), count(omitted)));
    Ok(if omitted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What records are written as.
enum Form {
    Lines,
    Table(ExportTable),
    Workbook(Box<ExportWorkbook>),
}

/// Checks that the arguments are about the same format.
fn check(args: &ExportArgs) -> Result<(), Usage> {
    match args.format {
        ExportFormat::Csv | ExportFormat::Xlsx if args.with_vectors => {
            Err(Usage("a table has no vectors; leave out --with-vectors, or export NDJSON"))
        }
        ExportFormat::Ndjson if !args.columns.is_empty() => {
            Err(Usage("--columns are those of a table; add --format csv"))
        }
        ExportFormat::Xlsx if std::io::stdout().is_terminal() => {
            Err(Usage("a workbook cannot be shown on a terminal; add > sheet.xlsx"))
        }
        ExportFormat::Csv | ExportFormat::Xlsx | ExportFormat::Ndjson => Ok(()),
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
