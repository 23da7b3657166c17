//! `loggia rebuild`: asks the projection workers of this data folder to replay the log into a new generation, and to swap.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cli_output::{Output, count};
use futures::StreamExt;
use read::models::ModelKind;
use schemas::control::RebuildProgress;
use schemas::subject;
use tokio::time::{Instant, sleep, timeout};

use crate::cli::ModelName;
use crate::compose::with_node;
use crate::config::Config;
use daemon::signals::Signals;

/// How long a worker may send nothing.
const SILENCE: Duration = Duration::from_secs(60);

/// How long the workers of a process that has just started may take until they listen.
const START: Duration = Duration::from_secs(10);

/// Rebuilds the models one after the other, by the running node or by a temporary one.
pub async fn run(
    config: &Config,
    models: &[ModelName],
    output: Output,
    signals: Signals,
) -> Result<ExitCode> {
    let wanted: Vec<&str> = wanted(models).into_iter().map(ModelKind::name).collect();
    // Not until the models have caught up: a damaged model never does, and the rebuild repairs it.
    with_node(config, false, signals, async |client, node| follow(client, node, &wanted, output).await).await
}

/// Returns the models with these names; all if none or `all` is named.
pub fn wanted(names: &[ModelName]) -> Vec<ModelKind> {
    let is_wanted = |model: &ModelKind| {
        names.is_empty()
            || names.iter().any(|name| match name {
                ModelName::All => true,
                ModelName::Catalog => *model == ModelKind::Catalog,
                ModelName::Search => *model == ModelKind::Search,
                ModelName::Neighbours => *model == ModelKind::Neighbours,
                ModelName::Archive => *model == ModelKind::Archive,
                ModelName::Keys => *model == ModelKind::Keys,
                ModelName::Counters => *model == ModelKind::Counters,
            })
    };
    ModelKind::ALL.into_iter().filter(is_wanted).collect()
}

async fn follow(
    client: &async_nats::Client,
    node: &str,
    wanted: &[&str],
    output: Output,
) -> Result<ExitCode> {
    let inbox = client.new_inbox();
    let mut progress = client.subscribe(inbox.clone()).await?;
    let request = serde_json::to_vec(wanted)?;
    let ask = async || {
        client
            .publish_with_reply(subject::control(node, "rebuild"), inbox.clone(), request.clone().into())
            .await
    };
    ask().await?;
    let began = Instant::now();
    let mut bar = output.progress(1, "replaying");
    loop {
        let message = timeout(SILENCE, progress.next()).await;
        let message =
            message.ok().flatten().context("the projection workers do not answer; see their log")?;
        if message.status.is_some() {
            if began.elapsed() < START {
                sleep(Duration::from_millis(200)).await;
                ask().await?;
                continue;
            }
            bail!(
                "no projection workers are running for this data folder; start `loggia up` or `loggia project`"
            );
        }
        match serde_json::from_slice(&message.payload)
            .context("the answer of the projection workers is unreadable")?
        {
            RebuildProgress::Replaying { applied, of, .. } => {
                bar.set_length(of);
                bar.set_position(applied);
            }
            swapped @ RebuildProgress::Swapped { .. } => {
                bar.finish_and_clear();
                output.answer(&swapped, || sentence(&swapped))?;
                bar = output.progress(1, "replaying");
            }
            RebuildProgress::Failed { reason } => bail!(reason),
            RebuildProgress::Finished => {
                bar.finish_and_clear();
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

fn sentence(progress: &RebuildProgress) -> String {
    let RebuildProgress::Swapped { model, generation, position, events, seconds } = progress else {
        return String::new();
    };
    let rate = *events as f64 / seconds.max(1e-9);
    format!(
        "{model}: {} events replayed in {seconds:.1} s ({} events/s); generation {generation} is live at {position}",
        count(*events),
        count(rate as u64)
    )
}
