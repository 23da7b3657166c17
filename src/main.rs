//! The program `loggia`: reads the command line and the settings, and does one thing.

#![allow(unreachable_pub, reason = "in a program, pub says what a module offers to the others")]

mod build_info;
mod cli;
mod clock;
mod commands;
mod compose;
mod config;
mod connection;
mod counted_calls;
mod data_folder;
mod descriptors;
mod lifecycle;
mod nodes;
mod output;
mod service_manager;
mod session;
mod signals;
mod store;
mod telemetry;
mod tls;
mod upkeep;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use traces::{Kind, Span};

use cli::{BackupCommand, Cli, Command, SettingFlags};
use config::{Config, LogFilter, Sources};
use output::{Output, Usage};
use signals::{Ends, Signals};

/// Also what SQLite uses, which is C: linked in, it stands in for the system's allocator, which keeps what many threads gave back
/// (ADR 16).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// How long work on threads may go on once the command has ended.
const LEFT_OVER: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    if SettingFlags::ask_for_help(std::env::args_os().skip(1)) {
        let output = Output::new(false);
        let printed = output.line(&SettingFlags::help()).map(|()| ExitCode::SUCCESS);
        return printed.unwrap_or_else(|error| output.failed(&error));
    }
    let cli = Cli::parse();
    let output = Output::new(cli.json);
    let sources = match Sources::of_process(cli.settings.given.clone(), cli.settings.config.clone()) {
        Ok(sources) => sources,
        Err(error) => return output.misused(&error),
    };
    match Config::read(&sources) {
        Ok(config) => start(&cli, &config).unwrap_or_else(|error| output.failed(&error)),
        Err(error) => output.misused(&error),
    }
}

fn start(cli: &Cli, config: &Config) -> Result<ExitCode> {
    // These two report it beside everything else that they find.
    if !matches!(cli.command, Command::Doctor | Command::Config { .. }) {
        descriptors::enough_for_a_command()?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Before anything is opened that would have to be put away.
    let signals = Signals::listen(&runtime, cli.command.ends())?;
    let is_role = cli.command.ends() == Ends::AsRole;
    // What a role logs by default would stand between the answers of a command.
    let log = if is_role || config.set().any(|setting| setting.name == "log") {
        config.log.filter.clone()
    } else {
        LogFilter("warn".to_owned())
    };
    telemetry::start(&log, config.log.format)?;
    let exporting = telemetry::Exporting::start(config.tracing, is_role);
    for warning in &config.unknown_variables {
        tracing::warn!("{warning}");
    }
    // The files of a NATS cluster are handed to other users.
    if !matches!(cli.command, Command::Nats(_)) {
        data_folder::make_private();
    }
    clock::set_ahead(config.process.clock_offset.0);
    let outcome = runtime.block_on(traced(cli, config, signals));
    runtime.shutdown_timeout(LEFT_OVER);
    exporting.stop();
    outcome
}

/// Runs a command as part of the trace that its caller named, or of one of its own.
async fn traced(cli: &Cli, config: &Config, signals: Signals) -> Result<ExitCode> {
    let Some(name) = cli.command.traced() else { return run(cli, config, signals).await };
    let mut span = Span::start(Kind::Internal, "loggia", name, config.tracing.parent);
    let outcome = traces::scope(span.traceparent(), run(cli, config, signals)).await;
    if outcome.is_err() {
        span.failed("failed");
    }
    outcome
}

async fn run(cli: &Cli, config: &Config, signals: Signals) -> Result<ExitCode> {
    let output = Output::new(cli.json);
    let done = |outcome: Result<()>| outcome.map(|()| ExitCode::SUCCESS);
    match &cli.command {
        Command::Up(args) => compose::up(config, args, signals).await,
        Command::Write => compose::write(config, signals).await,
        Command::Project => compose::project(config, signals).await,
        Command::Read => compose::read(config, signals).await,
        Command::Serve => compose::serve(config, signals).await,
        Command::Import(args) => commands::import::run(config, args, output, signals).await,
        Command::Export { with_vectors, pictures } => {
            commands::export::run(config, *with_vectors, pictures.as_deref(), output).await
        }
        Command::Curate(command) => commands::curate::run(config, command, output).await,
        Command::Rebuild { models } => commands::rebuild::run(config, models, output, signals).await,
        Command::Verify { parts, repair } => {
            commands::verify::run(config, parts, *repair, output, signals).await
        }
        Command::Events(command) => commands::events::run(config, command, output).await,
        Command::Keys(command) => commands::keys::run(config, command, output).await,
        Command::Payments(command) => commands::payments::run(config, command, output).await,
        Command::Pictures(command) => commands::pictures::run(config, command, output).await,
        Command::Audit(args) => commands::audit::run(config, args, output).await,
        Command::Status { check } => commands::status::run(config, *check, output).await,
        Command::Config { check: false } => done(commands::config::run(config, output)),
        Command::Config { check: true } => commands::config::check(config, output).await,
        Command::Doctor => commands::doctor::run(config, output).await,
        Command::Nats(command) => done(commands::nats::run(command, output)),
        Command::Backup { command: Some(BackupCommand::Verify { folder }), .. } => {
            done(commands::backup::verify(folder, output).await)
        }
        Command::Backup { folder: Some(folder), keep, since, command: None } => {
            let backup = commands::backup::run(config, folder, *keep, since.as_deref(), output);
            done(signals.unless_asked(backup).await)
        }
        Command::Backup { folder: None, command: None, .. } => {
            Err(Usage("name the folder of the backup").into())
        }
        Command::Snapshot { folder } => done(commands::snapshot::run(config, folder, output).await),
        Command::Restore { folder, until, erasures } => {
            done(commands::backup::restore(config, folder, *until, erasures, output).await)
        }
        Command::Store(command) => commands::store::run(config, command, output).await,
        Command::Bench(args) => signals.unless_asked(commands::bench::run(config, args, output)).await,
        Command::BenchBare { body } => commands::bench::bare(body).await,
    }
}
