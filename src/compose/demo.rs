//! Imports the demo catalog, with the same commands as any import.

use anyhow::{Result, bail};
use demo::{ACTOR, DEMO_SEED, DEMO_SIZE, catalog};
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions, LineResult};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use write::service::CommandDispatcher;

/// The number of records in one command.
const BATCH: usize = 200;

/// Imports the demo catalog. Records that are in the catalog already are not changed.
pub async fn import(commands: &CommandDispatcher, clock: &Clock, stop: &CancellationToken) -> Result<()> {
    let lines: Vec<ImportLine> = (1..)
        .zip(catalog(DEMO_SEED, DEMO_SIZE))
        .map(|(number, record)| ImportLine::new(number, Value::Object(record).to_string()))
        .collect();
    let correlation = clock.command_id();
    let mut new = 0;
    for batch in lines.chunks(BATCH) {
        if stop.is_cancelled() {
            bail!("stopped after {new} new projects");
        }
        let message = CommandMessage {
            id: clock.command_id(),
            actor: ACTOR.parse()?,
            correlation,
            command: Command::Import { lines: batch.to_vec(), options: ImportOptions::default() },
            not_after: None,
        };
        match commands.execute(message).await {
            CommandReply::Imported { lines, .. } => {
                for outcome in lines {
                    match outcome.result {
                        LineResult::New { .. } => new += 1,
                        LineResult::Changed { .. } | LineResult::Same { .. } => {}
                        LineResult::Rejected { faults } => bail!("record {}: {faults:?}", outcome.number),
                    }
                }
            }
            CommandReply::Failed(refusal) => bail!(refusal.detail),
            _ => bail!("the reply to an import is of another kind"),
        }
    }
    tracing::info!(new, "the demo catalog is imported");
    Ok(())
}
