//! After an import: waits until readers see the records, and says what to look at next.

use std::time::Duration;

use anyhow::{Context, Result};
use cli_output::{Output, count, say, sentence};
use daemon::signals::{Interrupted, Signals};
use data_folder::{DataFolder, Part};
use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use schemas::subject;
use tokio::time::{Instant, sleep, timeout};

use super::report::Report;
use crate::compose::summaries;
use crate::config::Config;
use crate::connection;

/// How often the models are asked how far they are.
const POLL: Duration = Duration::from_millis(50);

/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// How long no model may come further before the wait ends.
const STANDSTILL: Duration = Duration::from_secs(60);

/// How soon after the models the readers see a commit.
const READERS: Duration = Duration::from_millis(50);

/// The model that follows calls, and not the log.
const COUNTERS: &str = "counters";

/// How a wait ended.
enum Waited {
    /// All read nodes that answer have the records.
    Seen,
    /// No process runs that has read models.
    NotRunning,
    /// Some do not come further: a sentence.
    NotSeen(String),
}

/// Waits until all read nodes that answer have what was imported, and says what to look at next. Whatever happens meanwhile, the records
/// are imported. Fails only if it is interrupted.
pub async fn wait_for_readers(
    config: &Config,
    report: &Report,
    output: Output,
    signals: &mut Signals,
) -> Result<()> {
    let waited = tokio::select! {
        biased;
        signal = signals.next() => {
            return Err(Interrupted(signal)).context("the records are imported; readers will see them");
        }
        waited = wait(config, report.position(), output) => waited,
    };
    let data = DataFolder::new(&config.server.data);
    let seen = match waited {
        Ok(Waited::Seen) => match address(config, &data) {
            Some(address) => format!("Readers see it: {address}/"),
            None => "Readers see it.".to_owned(),
        },
        Ok(Waited::NotRunning) => format!(
            "The service is not running: readers see it once `loggia up --data {}` runs.",
            config.server.data.display()
        ),
        Ok(Waited::NotSeen(reason)) => {
            format!("Readers do not see all of it yet: {reason}; `loggia status` shows more.")
        }
        Err(error) => format!("Whether readers see it is not known: {}.", sentence(&*error)),
    };
    if !output.is_json() {
        say(&seen);
    }
    say_what_lacks(report, output);
    Ok(())
}

/// Says how many of the imported records lack a picture, a city, a year or a text; for programs the counts have it.
pub fn say_what_lacks(report: &Report, output: Output) {
    if let Some(sentence) = report.lacking().sentence().filter(|_| !output.is_json()) {
        say(&sentence);
    }
}

/// Returns the address of the site, without a slash at its end.
fn address(config: &Config, data: &DataFolder) -> Option<String> {
    let own = data.serves_at().map(|address| format!("http://{address}"));
    config.site.public_url.clone().or(own)
}

/// Waits until the models of all read nodes have applied the log up to this position.
async fn wait(config: &Config, position: Position, output: Output) -> Result<Waited> {
    let Some(url) = connection::nats_url(config) else { return Ok(Waited::NotRunning) };
    let client = connection::connect_to_nats(config, &url).await?;
    let nodes = read_nodes(config, &client).await?;
    if nodes.is_empty() {
        return Ok(Waited::NotRunning);
    }
    let mut follower = Follower { client, nodes, position };
    let Some(mut lag) = follower.lag().await? else {
        sleep(READERS).await;
        return Ok(Waited::Seen);
    };
    let bar = output.progress(lag.events, "events until readers see it");
    let (first, mut since) = (lag.events, Instant::now());
    let waited = loop {
        sleep(POLL).await;
        let Some(now) = follower.lag().await? else { break Waited::Seen };
        if now.events < lag.events {
            since = Instant::now();
        }
        bar.set_position(first.saturating_sub(now.events));
        lag = now;
        if lag.is_quarantined || since.elapsed() > STANDSTILL {
            let Lag { node, model, events, .. } = lag;
            break Waited::NotSeen(format!("the {model} model of {node} is {} events behind", count(events)));
        }
    };
    bar.finish_and_clear();
    // The readers look for a new commit at intervals.
    sleep(READERS).await;
    Ok(waited)
}

/// Returns the names of the nodes with read models: that of this folder, or all that answer.
async fn read_nodes(config: &Config, client: &async_nats::Client) -> Result<Vec<String>> {
    let here = DataFolder::new(&config.server.data).running(Part::Project);
    if let Some(here) = here {
        return Ok(vec![here.node]);
    }
    let nodes = summaries(client, &[]).await?.into_iter();
    Ok(nodes.filter(|node| node.lag.is_some()).map(|node| node.node).collect())
}

/// Asks nodes how far their models are.
struct Follower {
    client: async_nats::Client,
    nodes: Vec<String>,
    position: Position,
}

/// The model that is the furthest behind.
struct Lag {
    node: String,
    model: String,
    events: u64,
    is_quarantined: bool,
}

impl Follower {
    /// Returns the model that is the furthest behind the position; `None` if all have reached it. A node that has reached it is not
    /// asked again.
    async fn lag(&mut self) -> Result<Option<Lag>> {
        let mut furthest: Option<Lag> = None;
        let mut behind = Vec::new();
        for node in std::mem::take(&mut self.nodes) {
            let models = self.ask(&node).await?;
            let lags = models.into_iter().filter(|model| model.name != COUNTERS).map(|model| Lag {
                node: node.clone(),
                events: self.position.0.saturating_sub(model.position.0),
                is_quarantined: model.quarantined.is_some(),
                model: model.name,
            });
            let Some(lag) = lags.filter(|lag| lag.events > 0).max_by_key(|lag| lag.events) else { continue };
            behind.push(node);
            if furthest.as_ref().is_none_or(|furthest| lag.events > furthest.events) {
                furthest = Some(lag);
            }
        }
        self.nodes = behind;
        Ok(furthest)
    }

    async fn ask(&self, node: &str) -> Result<Vec<ProjectionStatus>> {
        let request = self.client.request(subject::control(node, "status"), "".into());
        let answer = timeout(ANSWER, request)
            .await
            .with_context(|| format!("the read node {node} does not answer"))?
            .with_context(|| format!("the read node {node} cannot be asked"))?;
        serde_json::from_slice(&answer.payload)
            .with_context(|| format!("the answer of the read node {node} is unreadable"))
    }
}
