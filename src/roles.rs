//! The roles of the program, each a list of the parts that it starts.

mod background;
mod demo;
mod gauges;
mod parts;
mod readiness;
mod shared_settings;
mod snapshot;
mod starting;

use std::process::ExitCode;
use std::time::Duration;

use ::demo::ACTOR as DEMO;
use anyhow::Result;
use projections::source::EventSource;
use schemas::ids::Position;
use schemas::nats_role::NatsRole;
use schemas::subject;
use write::event_store::EventStore;

use crate::cli::UpArgs;
use crate::config::Config;
use crate::data_folder::Part;
use crate::lifecycle::Lifecycle;
use crate::session::Naming;
use crate::signals::Signals;
use parts::Parts;

pub use parts::check_tiers;
pub use shared_settings::{ServiceSettings, service_settings};
pub use starting::settled;

/// `loggia up`: everything in one process.
pub async fn up(config: &Config, args: &UpArgs, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Up);
    let mut parts = Parts::holding(config, &lifecycle, NatsRole::Up, &[Part::Write, Part::Project])?;
    let starting = async {
        // The address is taken first: a port that is in use is known before anything else starts.
        let listener = parts.bind().await?;
        let client = parts.nats().await?;
        let (store, service) = parts.write_side(&client, Naming::First).await?;
        parts.mails(&service).await?;
        parts.projections(false).await?;
        let first = store.read_all(Position(0), 1).await?;
        let fills_demo = args.demo || (first.is_empty() && !args.no_demo);
        if fills_demo || first.first().is_some_and(|event| event.actor.as_str() == DEMO) {
            parts.present_demo();
        }
        parts.serve(listener, &client).await?;
        parts.admin().await?;
        parts.announce()?;
        if fills_demo {
            parts.demo(service);
        }
        Ok(())
    };
    ending.during(starting).await?;
    parts.until_told(lifecycle, ending, config.drain.0).await
}

/// `loggia write`: commands, event store and relay.
pub async fn write(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Write);
    let mut parts = Parts::holding(config, &lifecycle, NatsRole::Write, &[Part::Write])?;
    let starting = async {
        let client = parts.nats().await?;
        let (_, service) = parts.write_side(&client, Naming::First).await?;
        parts.mails(&service).await?;
        parts.admin().await?;
        parts.announce()?;
        parts.ready_at_once();
        Ok(())
    };
    ending.during(starting).await?;
    parts.until_told(lifecycle, ending, Duration::ZERO).await
}

/// `loggia project`: the projection workers of a read node.
pub async fn project(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Project);
    let mut parts = Parts::holding(config, &lifecycle, NatsRole::Project, &[Part::Project])?;
    let starting = async {
        parts.given_nats().await?;
        let node = parts.projections(false).await?;
        parts.admin().await?;
        parts.announce()?;
        parts.ready_with(node);
        Ok(())
    };
    ending.during(starting).await?;
    parts.until_told(lifecycle, ending, Duration::ZERO).await
}

/// `loggia read`: a whole read node, projection workers and API in one process.
pub async fn read(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Read);
    let mut parts = Parts::holding(config, &lifecycle, NatsRole::Read, &[Part::Project])?;
    let starting = async {
        let listener = parts.bind().await?;
        let client = parts.given_nats().await?;
        parts.projections(false).await?;
        parts.serve(listener, &client).await?;
        parts.admin().await?;
        parts.announce()
    };
    ending.during(starting).await?;
    parts.until_told(lifecycle, ending, config.drain.0).await
}

/// `loggia serve`: the API of a read node, beside its projection workers.
pub async fn serve(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Serve);
    let mut parts = Parts::holding(config, &lifecycle, NatsRole::Serve, &[])?;
    let starting = async {
        let listener = parts.bind().await?;
        let client = parts.given_nats().await?;
        parts.serve(listener, &client).await?;
        parts.admin().await
    };
    ending.during(starting).await?;
    parts.until_told(lifecycle, ending, config.drain.0).await
}

/// A write side and projection workers without an API, for a command of the command line.
pub struct ShortNode {
    /// Its connection.
    pub client: async_nats::Client,
    /// Its name in control subjects.
    pub name: String,
    parts: Parts,
}

impl ShortNode {
    /// Lets the folder go, once the lifecycle has ended.
    pub async fn leave(self) {
        self.parts.leave().await;
    }
}

/// Starts a node and waits until it answers requests, NATS carries the whole log and, where the command needs that, the
/// workers have applied it.
pub async fn start_node_for_a_while(
    config: &Config,
    lifecycle: &Lifecycle,
    needs_models: bool,
) -> Result<ShortNode> {
    let mut parts = Parts::holding(config, lifecycle, NatsRole::Up, &[Part::Write, Part::Project])?;
    let client = parts.nats().await?;
    let (store, _) = parts.write_side(&client, Naming::None).await?;
    let node = parts.projections(!needs_models).await?;
    let head = store.head().await?.position;
    let source = EventSource::new(client.clone());
    loop {
        let carried = source.head().await? >= head && (!needs_models || node.has_applied(head));
        if carried && client.request(subject::control(parts.name(), "status"), "".into()).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(ShortNode { name: parts.name().to_owned(), client, parts })
}
