//! `loggia store copy`: brings a log from one store into another.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use write::event_store::LogPlace;
use write::event_store::copy::{CopyError, copy};

use crate::cli::StoreCommand;
use crate::output::{Output, count, say};

/// What was brought over.
#[derive(Serialize)]
struct Done {
    /// How many events were missing there.
    events: u64,
    /// Where the log ends, in both.
    position: u64,
    hash: String,
    seconds: f64,
}

/// Brings a log over, or says where the two differ.
pub async fn run(command: &StoreCommand, output: Output) -> Result<ExitCode> {
    let StoreCommand::Copy { from, to } = command;
    let (from, to) = (place(from).context("FROM cannot be used")?, place(to).context("TO cannot be used")?);
    let began = Instant::now();
    let bar = output.progress(0, "copying");
    let copied = copy(&from, &to, |at, end| {
        bar.set_length(end.0);
        bar.set_position(at.0);
    })
    .await;
    bar.finish_and_clear();
    match copied {
        Ok(copied) => {
            let done = Done {
                events: copied.events,
                position: copied.head.position.0,
                hash: copied.head.hash.to_string(),
                seconds: (began.elapsed().as_secs_f64() * 1e3).round() / 1e3,
            };
            output.answer(&done, || {
                format!(
                    "{} events copied from {} to {}; both end at {} with the hash {}",
                    count(done.events),
                    from,
                    to,
                    count(done.position),
                    done.hash
                )
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(different @ CopyError::Different { .. }) => {
            say(&format!("loggia: {different}"));
            Ok(ExitCode::from(3))
        }
        Err(error) => Err(error.into()),
    }
}

/// Parsed here and not by the command line, whose words for a fault hold the whole text.
fn place(text: &str) -> Result<LogPlace> {
    text.parse().map_err(anyhow::Error::msg)
}
