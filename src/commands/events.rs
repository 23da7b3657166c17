//! `loggia events`: follows the log, shows one event or the last, verifies the hash chain.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use cli_output::{Output, count};
use event_log::witness::{self, KnownHead};
use event_log::{EventLog, Head};
use schemas::ids::Position;

use super::curate::line;
use crate::cli::EventsCommand;
use crate::config::Config;
use crate::store;

/// The number of events that are read at once.
const PAGE: usize = 500;

pub async fn run(config: &Config, command: &EventsCommand, output: Output) -> Result<ExitCode> {
    let store = store::open_read_only(config).await?;
    match command {
        EventsCommand::Tail { from, no_follow } => tail(config, &store, *from, !no_follow, output).await,
        EventsCommand::Show { position } => show(&store, Position(*position), output).await,
        EventsCommand::Head => head(&store, output).await,
        EventsCommand::Verify { against } => verify(config, &store, against.as_deref(), output).await,
    }
}

async fn tail(
    config: &Config,
    store: &EventLog,
    from: Option<u64>,
    follow: bool,
    output: Output,
) -> Result<ExitCode> {
    let mut after = match from {
        Some(from) => Position(from.saturating_sub(1)),
        None => store.head().await?.position,
    };
    loop {
        let page = store.read_all(after, PAGE).await?;
        for event in &page {
            output.answer(event, || line(event))?;
            after = event.position;
        }
        if !output.has_reader() {
            return Ok(ExitCode::SUCCESS);
        }
        if page.is_empty() {
            if !follow {
                return Ok(ExitCode::SUCCESS);
            }
            tokio::select! {
                arrived = store.wait_beyond(after) => { arrived?; }
                failed = store::keep_updated(config) => { failed?; }
                _ = tokio::signal::ctrl_c() => return Ok(ExitCode::SUCCESS),
            }
        }
    }
}

async fn show(store: &EventLog, position: Position, output: Output) -> Result<ExitCode> {
    let before = Position(position.0.saturating_sub(1));
    let Some(event) = store.read_all(before, 1).await?.into_iter().find(|event| event.position == position)
    else {
        let head = store.head().await?.position;
        return Ok(
            output.not_done(&format!("there is no event at {position}; the log goes from 1 to {head}"))
        );
    };
    let whole = serde_json::to_value(&event)?;
    output.answer(&event, || format!("{whole:#}"))?;
    Ok(ExitCode::SUCCESS)
}

async fn head(store: &EventLog, output: Output) -> Result<ExitCode> {
    let Head { position, hash } = store.head().await?;
    let before = Position(position.0.saturating_sub(1));
    let time = store.read_all(before, 1).await?.pop().map(|event| event.time);
    let head = KnownHead { store: Some(store.store_id().to_string()), position, hash, time };
    output.answer(&head, || head.to_string())?;
    Ok(ExitCode::SUCCESS)
}

async fn verify(
    config: &Config,
    store: &EventLog,
    against: Option<&Path>,
    output: Output,
) -> Result<ExitCode> {
    // A file that cannot be compared with is reported before the whole log is read.
    let known = against.map(witness::read).transpose()?;
    let bar = output.progress(store.head().await?.position.0, "verifying");
    let outcome = store::verify(config, |at| bar.set_position(at.0)).await;
    bar.finish_and_clear();
    let outcome = match (outcome?, known, against) {
        (Ok(verified), Some(known), Some(file)) => match witness::compare(store, &known, file).await? {
            None => Ok(verified),
            Some(damage) => Err(damage),
        },
        (outcome, ..) => outcome,
    };
    match outcome {
        Ok(verified) => {
            output.answer(&verified, || {
                let last = format!(
                    "{} events, the hash chain is intact; the last hash is {}",
                    count(verified.events),
                    verified.hash
                );
                match against {
                    None => last,
                    Some(file) => format!("{last}; it agrees with {}", file.display()),
                }
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(damage) => {
            output.answer(&damage, || damage.to_string())?;
            Ok(ExitCode::from(3))
        }
    }
}
