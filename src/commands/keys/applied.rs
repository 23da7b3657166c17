//! Waiting until a running node has applied a change of keys: when the command ends, a new key works and a revoked one does not.

use std::time::Duration;

use anyhow::{Context, Result};
use cli_output::say;
use read::models::POLL;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use schemas::subject;

use crate::config::Config;
use crate::connection;
use crate::data_folder::{DataFolder, Part, Running};

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
mod tests {
    use futures::StreamExt;
    use kit::nats::Nats;
    use serde_json::json;

    use super::*;
    use settings::Sources;

    /// Starts a node that has this model, one position further at each request.
    async fn node(nats: &Nats, model: &'static str) -> Running {
        let client = nats.client().await;
        let mut requests = client.subscribe(subject::control("node", "status")).await.unwrap();
        client.flush().await.unwrap();
        tokio::spawn(async move {
            let mut position = 0;
            while let Some(request) = requests.next().await {
                position += 1;
                let status = json!([{"name": model, "generation": "1", "position": position, "lag": 0,
                    "heartbeat": null, "parked": [], "skipped": 0, "bytes": 0}]);
                client.publish(request.reply.unwrap(), status.to_string().into()).await.unwrap();
            }
        });
        Running { pid: 1, nats_url: nats.url(), node: "node".into() }
    }

    #[tokio::test]
    async fn the_wait_ends_when_the_keys_are_at_the_position() {
        let Some(nats) = Nats::start().await else { return };
        let (config, node) = (Config::read(&Sources::default()).unwrap(), node(&nats, MODEL).await);
        assert!(reached(&config, &node, Position(4)).await.unwrap());
        let error =
            reached(&config, &Running { node: "nobody".into(), ..node }, Position(4)).await.unwrap_err();
        assert!(error.to_string().starts_with("it does not answer"), "{error:#}");
    }

    #[tokio::test]
    async fn a_node_without_keys_is_not_waited_for() {
        let Some(nats) = Nats::start().await else { return };
        let (config, node) = (Config::read(&Sources::default()).unwrap(), node(&nats, "search").await);
        assert!(!reached(&config, &node, Position(4)).await.unwrap());
    }
}
