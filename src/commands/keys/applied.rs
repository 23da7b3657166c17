//! Waiting until the keys of a running node know what was done: a new key works, and a revoked one does not, once the
//! command has answered.

use std::time::Duration;

use anyhow::{Context, Result};
use read::models::POLL;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use schemas::subject;

use crate::config::Config;
use crate::data_folder::{DataFolder, Part, Running};
use crate::output::say;
use crate::session;

/// The read model that the API looks keys up in.
const MODEL: &str = "keys";

/// How long the node may take. What is done stays done, so that waiting longer would only hide a problem.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before asking again.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits for the node that runs on this data folder, if one does. A node that does not get there is told of on
/// standard error: the command itself is done.
pub(super) async fn wait(config: &Config, position: Position) {
    let Some(node) = DataFolder::new(&config.data).running(Part::Project) else { return };
    if position == Position::START {
        return;
    }
    let late = match tokio::time::timeout(PATIENCE, reached(config, &node, position)).await {
        Ok(Ok(true)) => return,
        Ok(Ok(false)) => "it has no read model of keys".to_owned(),
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => format!("it is not there after {} seconds; `loggia status` shows it", PATIENCE.as_secs()),
    };
    say(&format!(
        "this is in the log at position {position}, but the running node may not know it yet: {late}"
    ));
}

/// Waits until the node's keys are at a position and its API has looked since; false where it has none.
async fn reached(config: &Config, node: &Running, position: Position) -> Result<bool> {
    let client = session::connect(config, &node.nats_url).await?;
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
