//! Wires the processes of the program together: for each role, what it starts and in which order.

mod demo;
mod encoder;
mod first_lines;
mod gauges;
mod node_builder;
mod readiness;
mod shared_settings;
mod startup;
mod summary;
mod write_side;

use std::process::ExitCode;
use std::time::Duration;

use ::demo::ACTOR as DEMO;
use anyhow::{Result, bail};
use daemon::lifecycle::Lifecycle;
use daemon::service_manager;
use daemon::signals::{Interrupted, Signal, Signals};
use data_folder::{DataFolder, Part};
use process_role::ProcessRole;
use projections::source::EventSource;
use schemas::ids::Position;
use schemas::subject;

use crate::cli::UpArgs;
use crate::config::{self, Config, StartWith};
use crate::connection;
use crate::store;
use crate::store::keeper::KeeperClaim;
use node_builder::NodeBuilder;

pub use encoder::{open_encoder, own_weights_folder, weights_folder};
pub use node_builder::check_tiers;
pub use shared_settings::{ServiceSettings, service_settings};
pub use summary::summaries;
pub use write_side::{KeptServices, WriteSide, open_write_side};

/// Runs a role: starts it with `start`, and runs until a signal or the death of a task.
async fn run(
    config: &Config,
    signals: Signals,
    role: ProcessRole,
    start: impl AsyncFnOnce(&mut NodeBuilder) -> Result<()>,
) -> Result<ExitCode> {
    let on_signal = |signal: Signal| {
        tracing::info!(signal = signal.name(), "stopping");
        notify_service_manager("STOPPING=1");
    };
    // To a person `up` first says what runs where, and then logs this.
    if !first_lines::are_shown(config, role) {
        startup::announce(config, role);
    }
    let (lifecycle, mut trigger) =
        Lifecycle::until_signalled(config.panicking_task.as_deref(), signals, on_signal);
    let mut builder = NodeBuilder::acquire(config, &lifecycle, role)?;
    trigger.start(start(&mut builder)).await?;
    builder.run_until_shutdown(lifecycle, trigger).await
}

/// Tells systemd the state of the process, if it started the process.
fn notify_service_manager(state: &str) {
    let Some(socket) = config::notify_socket() else { return };
    if let Err(error) = service_manager::notify(&socket, state) {
        tracing::warn!(%error, "systemd cannot be notified ({state}); is NOTIFY_SOCKET right?");
    }
}

/// `loggia up`: everything in one process.
pub async fn up(config: &Config, args: &UpArgs, signals: Signals) -> Result<ExitCode> {
    run(config, signals, ProcessRole::Up, async |builder| {
        // The address is bound first: that a port is in use is reported before anything else starts.
        let listener = builder.bind().await?;
        let client = builder.nats().await?;
        let demo_flag = args.demo.then_some(true).or(args.no_demo.then_some(false));
        first_lines::print(config, &builder.site_address(), listener.local_addr()?, demo_flag).await;
        let side = builder.write_side(&client, KeeperClaim::IfNone).await?;
        builder.mails(&side).await?;
        builder.projections(false).await?;
        let first = side.store.read_all(Position(0), 1).await?;
        let fills_empty = !args.no_demo && config.process.start_with == StartWith::Demo;
        let imports_demo = args.demo || (first.is_empty() && fills_empty);
        if imports_demo || first.first().is_some_and(|event| event.actor.as_str() == DEMO) {
            builder.present_demo();
        }
        builder.serve(listener, &client).await?;
        builder.admin().await?;
        builder.announce()?;
        if imports_demo {
            builder.demo(side.commands);
        }
        Ok(())
    })
    .await
}

/// `loggia write`: commands, event store and relay.
pub async fn write(config: &Config, signals: Signals) -> Result<ExitCode> {
    run(config, signals, ProcessRole::Write, async |builder| {
        let client = builder.nats().await?;
        let side = builder.write_side(&client, KeeperClaim::IfNone).await?;
        builder.mails(&side).await?;
        builder.admin().await?;
        builder.announce()?;
        builder.ready_at_once();
        Ok(())
    })
    .await
}

/// `loggia project`: the projection workers of a read node.
pub async fn project(config: &Config, signals: Signals) -> Result<ExitCode> {
    run(config, signals, ProcessRole::Project, async |builder| {
        builder.given_nats().await?;
        let node = builder.projections(false).await?;
        builder.admin().await?;
        builder.announce()?;
        builder.ready_with(node);
        Ok(())
    })
    .await
}

/// `loggia read`: a whole read node, projection workers and API in one process.
pub async fn read(config: &Config, signals: Signals) -> Result<ExitCode> {
    run(config, signals, ProcessRole::Read, async |builder| {
        let listener = builder.bind().await?;
        let client = builder.given_nats().await?;
        builder.projections(false).await?;
        builder.serve(listener, &client).await?;
        builder.admin().await?;
        builder.announce()
    })
    .await
}

/// `loggia serve`: the API of a read node, beside its projection workers.
pub async fn serve(config: &Config, signals: Signals) -> Result<ExitCode> {
    run(config, signals, ProcessRole::Serve, async |builder| {
        let listener = builder.bind().await?;
        let client = builder.given_nats().await?;
        builder.serve(listener, &client).await?;
        builder.admin().await
    })
    .await
}

/// A write side and projection workers without an API, for a command of the command line.
struct TemporaryNode {
    pub client: async_nats::Client,
    /// Its name in control subjects.
    pub name: String,
    builder: NodeBuilder,
}

impl TemporaryNode {
    /// Closes its event store and its NATS server, once the lifecycle has ended.
    pub async fn close(self) {
        self.builder.close().await;
    }
}

/// Starts a node and waits until it answers requests, the whole log is on NATS and, if the command needs the models, the
/// workers have applied it.
async fn start_temporary_node(
    config: &Config,
    lifecycle: &Lifecycle,
    needs_models: bool,
) -> Result<TemporaryNode> {
    let mut builder = NodeBuilder::acquire(config, lifecycle, ProcessRole::Up)?;
    let client = builder.nats().await?;
    let side = builder.write_side(&client, KeeperClaim::None).await?;
    let node = builder.projections(!needs_models).await?;
    let head = side.store.head().await?.position;
    let source = EventSource::new(client.clone());
    loop {
        let is_ready = source.stream_head().await? >= head && (!needs_models || node.has_applied(head));
        if is_ready && client.request(subject::control(builder.name(), "status"), "".into()).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(TemporaryNode { name: builder.name().to_owned(), client, builder })
}

/// Calls `work` with a connection to NATS and the name of this folder's running node. If none runs, starts the write side, NATS
/// and the projection workers for as long as `work` takes, and first waits for the models if it needs them. A signal ends the
/// work, and shuts the node down.
pub async fn with_node(
    config: &Config,
    needs_models: bool,
    mut signals: Signals,
    work: impl AsyncFnOnce(&async_nats::Client, &str) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let data = DataFolder::new(&config.server.data);
    data.check()?;
    if let Some(running) = data.running_or_starting(Part::Project).await {
        let working = async {
            work(&connection::connect_to_nats(config, &running.nats_url).await?, &running.node).await
        };
        return signals.interruptible(working).await;
    }
    require_models(config, &data)?;
    if !store::folder(config).exists() && config.nats.url.is_none() {
        bail!(
            "there is nothing in the data folder {} yet; import something or run `loggia up`",
            config.server.data.display()
        );
    }
    let (lifecycle, mut errors) = Lifecycle::new(None);
    // A node that is interrupted while it starts ends with the runtime, and its NATS server too.
    let starting = start_temporary_node(config, &lifecycle, needs_models);
    let node = signals.clone().interruptible(starting).await?;
    let outcome = tokio::select! {
        outcome = work(&node.client, &node.name) => outcome,
        error = errors.next() => Err(error.into()),
        signal = signals.next() => Err(Interrupted(signal).into()),
    };
    lifecycle.shut_down().await;
    node.close().await;
    outcome
}

/// Checks that the folder has read models, or a log to make them from. Fails if it is the folder of a write side whose
/// read models are on other nodes.
fn require_models(config: &Config, data: &DataFolder) -> Result<()> {
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
