//! Waiting until a running node has applied a change of keys: when the command ends, a new key works and a revoked one does not.

use std::time::Duration;

use anyhow::{Context, Result};
use cli_output::say;
use data_folder::{DataFolder, Part, Running};
use read::models::POLL;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use schemas::subject;

use crate::config::Config;
use crate::connection;

/// The read model that the API looks keys up in.
const MODEL: &str = "keys";

/// How long the node may take. The change is recorded in any case, so that waiting longer would only hide a problem.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two requests.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits for the node that runs on this data folder, if one does. If it takes too long, says so on standard error: the command
/// itself is done.
pub(in crate::commands) async fn wait(config: &Config, position: Position) {
    let Some(node) = DataFolder::new(&config.server.data).running(Part::Project) else { return };
    if position == Position::START {
        return;
    }
    let reason = match tokio::time::timeout(TIMEOUT, reached(config, &node, position)).await {
        Ok(Ok(true)) => return,
        Ok(Ok(false)) => "it has no read model of keys".to_owned(),
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => format!(
            "it has not applied it after {} seconds; `loggia status` shows its lag",
            TIMEOUT.as_secs()
        ),
    };
    say(&format!(
        "this is in the log at position {position}, but the running node may not have applied it yet: {reason}"
    ));
}

/// Waits until the keys of the node are at a position and its API has refreshed since. Returns `false` if it has no keys.
async fn reached(config: &Config, node: &Running, position: Position) -> Result<bool> {
    let client = connection::connect_to_nats(config, &node.nats_url).await?;
    loop {
        let request = client.request(subject::control(&node.node, "status"), "".into());
        let answer = request.await.context("it does not answer")?;
        let status: Vec<ProjectionStatus> = serde_json::from_slice(&answer.payload)?;
        match status.iter().find(|model| model.name == MODEL) {
            None => return Ok(false),
            Some(keys) if keys.position >= position => {
                tokio::time::sleep(2 * POLL).await;
                return Ok(true);
            }
            Some(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the task ends with its test")]
mod tests;
