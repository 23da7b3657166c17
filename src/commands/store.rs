//! `loggia store`: copies a log from one store to another, and shows or moves its keeper.

mod keeper;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use cli_output::{Output, count, say};
use event_log::LogLocation;
use event_log::copy::{CopiedLog, CopyError, copy, missing};
use serde::Serialize;

use super::curate::line;
use crate::cli::StoreCommand;
use crate::config::Config;

#[derive(Serialize)]
struct Copied {
    /// The number of events that the second store lacked.
    events: u64,
    /// The last position, in both stores.
    position: u64,
    hash: String,
    seconds: f64,
}

pub async fn run(config: &Config, command: &StoreCommand, output: Output) -> Result<ExitCode> {
    match command {
        StoreCommand::Copy { from, to, dry_run } => {
            let from = place(from).context("FROM cannot be used")?;
            let to = place(to).context("TO cannot be used")?;
            let outcome = match dry_run {
                true => show_missing(&from, &to, output).await,
                false => copy_log(&from, &to, output).await,
            };
            status(outcome)
        }
        StoreCommand::Keeper { r#move, leave_behind } => {
            keeper::run(config, *r#move, *leave_behind, output).await
        }
    }
}

/// Copies the missing events.
async fn copy_log(from: &LogLocation, to: &LogLocation, output: Output) -> Result<()> {
    let began = Instant::now();
    let bar = output.progress(0, "copying");
    let copied = copy(from, to, |at, end| {
        bar.set_length(end.0);
        bar.set_position(at.0);
    })
    .await;
    bar.finish_and_clear();
    let CopiedLog { events, head } = copied?;
    let done = Copied {
        events,
        position: head.position.0,
        hash: head.hash.to_string(),
        seconds: (began.elapsed().as_secs_f64() * 1e3).round() / 1e3,
    };
    let first = head.position.0 - events + 1;
    Ok(output.answer(&done, || {
        let which = match events {
            0 => String::new(),
            _ => format!(" (positions {} to {})", count(first), count(done.position)),
        };
        format!(
            "{} events{which} copied from {from} to {to}; both end at {} with the hash {}",
            count(events),
            count(done.position),
            done.hash
        )
    })?)
}

/// Prints every event that would be copied.
async fn show_missing(from: &LogLocation, to: &LogLocation, output: Output) -> Result<()> {
    let mut printed = Ok(());
    let lacking = missing(from, to, |event| {
        if printed.is_ok() {
            printed = output.answer(event, || line(event));
        }
    })
    .await?;
    printed?;
    if !output.is_json() {
        say(&format!("{} events of {from} are not in {to}; nothing was written", count(lacking.events)));
    }
    Ok(())
}

/// Returns exit status 3 for logs that differ, apart from other failures.
fn status(outcome: Result<()>) -> Result<ExitCode> {
    match outcome {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if matches!(error.downcast_ref(), Some(CopyError::Different(_))) => {
            say(&format!("loggia: {error}"));
            Ok(ExitCode::from(3))
        }
        Err(error) => Err(error),
    }
}

/// Parses a place here and not in the command line, whose error message would show the password in the text.
fn place(text: &str) -> Result<LogLocation> {
    text.parse().map_err(anyhow::Error::msg)
}
