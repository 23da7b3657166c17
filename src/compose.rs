//! Wires the processes of the program together: for each role, what it starts and in which order.

mod background;
mod demo;
mod gauges;
mod node_builder;
mod readiness;
mod shared_settings;
mod snapshot;
mod starting;
mod write_side;

use std::process::ExitCode;
use std::time::Duration;

use ::demo::ACTOR as DEMO;
use anyhow::{Result, bail};
use projections::source::EventSource;
use schemas::ids::Position;
use schemas::subject;
use write::nats_role::NatsRole;

use crate::cli::UpArgs;
use crate::config::Config;
use crate::connection;
use crate::data_folder::{DataFolder, Part};
use crate::lifecycle::Lifecycle;
use crate::signals::{Interrupted, Signals};
use crate::store;
use crate::store::keeper::Naming;
use node_builder::NodeBuilder;

pub use node_builder::check_tiers;
pub use shared_settings::{ServiceSettings, service_settings};
pub use starting::settled;
pub use write_side::{KeptServices, WriteSide, open_write_side};

/// `loggia up`: everything in one process.
pub async fn up(config: &Config, args: &UpArgs, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Up);
    let mut builder = NodeBuilder::acquire(config, &lifecycle, NatsRole::Up, &[Part::Write, Part::Project])?;
    let starting = async {
        // The address is taken first: a port that is in use is known before anything else starts.
        let listener = builder.bind().await?;
        let client = builder.nats().await?;
        let side = builder.write_side(&client, Naming::First).await?;
        builder.mails(&side).await?;
        builder.projections(false).await?;
        let first = side.store.read_all(Position(0), 1).await?;
        let fills_demo = args.demo || (first.is_empty() && !args.no_demo);
        if fills_demo || first.first().is_some_and(|event| event.actor.as_str() == DEMO) {
            builder.present_demo();
        }
        builder.serve(listener, &client).await?;
        builder.admin().await?;
        builder.announce()?;
        if fills_demo {
            builder.demo(side.commands);
        }
        Ok(())
    };
    ending.during(starting).await?;
    builder.run_until_shutdown(lifecycle, ending, config.process.drain.0).await
}

/// `loggia write`: commands, event store and relay.
pub async fn write(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Write);
    let mut builder = NodeBuilder::acquire(config, &lifecycle, NatsRole::Write, &[Part::Write])?;
    let starting = async {
        let client = builder.nats().await?;
        let side = builder.write_side(&client, Naming::First).await?;
        builder.mails(&side).await?;
        builder.admin().await?;
        builder.announce()?;
        builder.ready_at_once();
        Ok(())
    };
    ending.during(starting).await?;
    builder.run_until_shutdown(lifecycle, ending, Duration::ZERO).await
}

/// `loggia project`: the projection workers of a read node.
pub async fn project(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Project);
    let mut builder = NodeBuilder::acquire(config, &lifecycle, NatsRole::Project, &[Part::Project])?;
    let starting = async {
        builder.given_nats().await?;
        let node = builder.projections(false).await?;
        builder.admin().await?;
        builder.announce()?;
        builder.ready_with(node);
        Ok(())
    };
    ending.during(starting).await?;
    builder.run_until_shutdown(lifecycle, ending, Duration::ZERO).await
}

/// `loggia read`: a whole read node, projection workers and API in one process.
pub async fn read(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Read);
    let mut builder = NodeBuilder::acquire(config, &lifecycle, NatsRole::Read, &[Part::Project])?;
    let starting = async {
        let listener = builder.bind().await?;
        let client = builder.given_nats().await?;
        builder.projections(false).await?;
        builder.serve(listener, &client).await?;
        builder.admin().await?;
        builder.announce()
    };
    ending.during(starting).await?;
    builder.run_until_shutdown(lifecycle, ending, config.process.drain.0).await
}

/// `loggia serve`: the API of a read node, beside its projection workers.
pub async fn serve(config: &Config, signals: Signals) -> Result<ExitCode> {
    let (lifecycle, mut ending) = Lifecycle::until_signalled(config.fault.as_deref(), signals);
    starting::announce(config, NatsRole::Serve);
    let mut builder = NodeBuilder::acquire(config, &lifecycle, NatsRole::Serve, &[])?;
    let starting = async {
        let listener = builder.bind().await?;
        let client = builder.given_nats().await?;
        builder.serve(listener, &client).await?;
        builder.admin().await
    };
    ending.during(starting).await?;
    builder.run_until_shutdown(lifecycle, ending, config.process.drain.0).await
}

/// A write side and projection workers without an API, for a command of the command line.
struct ShortNode {
    /// Its connection.
    pub client: async_nats::Client,
    /// Its name in control subjects.
    pub name: String,
    builder: NodeBuilder,
}

impl ShortNode {
    /// Lets the folder go, once the lifecycle has ended.
    pub async fn leave(self) {
        self.builder.leave().await;
    }
}

/// Starts a node and waits until it answers requests, NATS carries the whole log and, where the command needs that, the
/// workers have applied it.
async fn start_node_for_a_while(
    config: &Config,
    lifecycle: &Lifecycle,
    needs_models: bool,
) -> Result<ShortNode> {
    let mut builder = NodeBuilder::acquire(config, lifecycle, NatsRole::Up, &[Part::Write, Part::Project])?;
    let client = builder.nats().await?;
    let side = builder.write_side(&client, Naming::None).await?;
    let node = builder.projections(!needs_models).await?;
    let head = side.store.head().await?.position;
    let source = EventSource::new(client.clone());
    loop {
        let carried = source.stream_head().await? >= head && (!needs_models || node.has_applied(head));
        if carried && client.request(subject::control(builder.name(), "status"), "".into()).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(ShortNode { name: builder.name().to_owned(), client, builder })
}

/// Gives the connection and the name of this folder's running node; where none runs, starts the write side, NATS and
/// the projection workers for as long as `work` takes, and before it waits for the models if it needs them. A signal ends
/// the work, and the node in order.
pub async fn with_node(
    config: &Config,
    needs_models: bool,
    mut signals: Signals,
    work: impl AsyncFnOnce(&async_nats::Client, &str) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let data = DataFolder::new(&config.server.data);
    data.check()?;
    if let Some(running) = data.running_or_starting(Part::Project).await {
        let asking =
            async { work(&connection::connect(config, &running.nats_url).await?, &running.node).await };
        return signals.unless_asked(asking).await;
    }
    refuse_without_models(config, &data)?;
    if !store::folder(config).exists() && config.nats.url.is_none() {
        bail!(
            "there is nothing in the data folder {} yet; import something or run `loggia up`",
            config.server.data.display()
        );
    }
    let (lifecycle, mut failures) = Lifecycle::new(None);
    // A node that is given up while it starts goes with the runtime, and its NATS server too.
    let starting = start_node_for_a_while(config, &lifecycle, needs_models);
    let node = signals.clone().unless_asked(starting).await?;
    let outcome = tokio::select! {
        outcome = work(&node.client, &node.name) => outcome,
        failed = failures.next() => Err(failed),
        asked = signals.next() => Err(Interrupted(asked).into()),
    };
    lifecycle.end().await;
    node.leave().await;
    outcome
}

/// Refuses a folder that has no read models of its own, since those of the service are on its read nodes.
fn refuse_without_models(config: &Config, data: &DataFolder) -> Result<()> {
    let run_it = "run it in the data folder of a read node, while its `loggia read` or `loggia project` runs";
    let shown = config.server.data.display();
    if let Some(write) = data.running(Part::Write) {
        bail!(
            "this command works on the read models of a node, and the write side (process {}) on the data folder {shown} has \
             none: {run_it}",
            write.pid
        );
    }
    let is_elsewhere = config.nats.url.is_some() && store::is_here(config);
    if is_elsewhere && !store::has_log(config) {
        bail!(
            "this command works on the read models of a node, and none runs on the data folder {shown}: {run_it}"
        );
    }
    if is_elsewhere && !data.models().exists() {
        bail!(
            "this command works on the read models of a node, and the data folder {shown} is that of a write side, which has \
             none: {run_it}"
        );
    }
    Ok(())
}
