//! The program `loggia`: reads the command line and the settings, and does one thing.

#![allow(unreachable_pub, reason = "in a program, pub says what a module offers to the others")]

mod cli;
mod command_line;
mod commands;
mod compose;
mod config;
mod connection;
mod counted_calls;
mod kept_mappings;
mod process;
mod session;
mod store;
mod telemetry;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use cli_output::Output;
use daemon::resources::make_files_private;
use daemon::signals::{OnSignal, Signals};
use traces::{Kind, Span};

use cli::{Cli, Command, SettingFlags};
use config::{Config, LogFilter};

/// It replaces the system's allocator, which keeps memory that many threads have freed (ADR 16), also for SQLite, which is C.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// How long work on threads may continue once the command has ended.
const THREAD_DEADLINE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    if SettingFlags::ask_for_help(std::env::args_os().skip(1)) {
        let output = Output::new("loggia", false);
        let printed = output.line(&SettingFlags::help()).map(|()| ExitCode::SUCCESS);
        return printed.unwrap_or_else(|error| output.failed(&error));
    }
    let cli = Cli::parse();
    let output = Output::new("loggia", cli.json);
    let sources = match config::sources(cli.settings.values.clone(), cli.settings.config.clone()) {
        Ok(sources) => sources,
        Err(error) => return output.usage_error(&*error),
    };
    match Config::read(&sources) {
        Ok(config) => start(&cli, &config).unwrap_or_else(|error| output.failed(&*error)),
        Err(error) => output.usage_error(&*error),
    }
}

fn start(cli: &Cli, config: &Config) -> Result<ExitCode> {
    // These two report it with everything else that they find.
    if !matches!(cli.command, Command::Doctor | Command::Config { .. }) {
        process::check_open_files_of_a_command()?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Before anything is opened that a signal must close.
    let signals = Signals::listen(&runtime, cli.command.on_signal())?;
    let is_role = cli.command.on_signal() == OnSignal::ShutDown;
    // What a role logs by default would be mixed with the output of a command.
    let log = if is_role || config.set().any(|setting| setting.name == "log") {
        config.log.filter.clone()
    } else {
        LogFilter("warn".to_owned())
    };
    if is_role {
        daemon::standard_error::do_not_wait_for_readers();
    }
    telemetry::start(&log, config.log.format)?;
    let exporting = telemetry::Exporting::start(config.tracing, is_role);
    for warning in &config.unknown_variables {
        tracing::warn!("{warning}");
    }
    // The files of a NATS cluster and of a package are for other users, and weights outside of the data folder may be.
    let weights = config.media.weights.is_some() && matches!(cli.command, Command::Models { .. });
    if !matches!(cli.command, Command::Nats(_) | Command::Manual { .. }) && !weights {
        make_files_private();
    }
    process::set_clock_ahead(config.process.clock_offset.0);
    let outcome = runtime.block_on(traced(cli, config, signals));
    runtime.shutdown_timeout(THREAD_DEADLINE);
    exporting.stop();
    outcome
}

/// Runs a command as a part of the trace that its caller named, or of a new one.
async fn traced(cli: &Cli, config: &Config, signals: Signals) -> Result<ExitCode> {
    let Some(name) = cli.command.traced() else { return commands::run(cli, config, signals).await };
    let mut span = Span::start(Kind::Internal, "loggia", name, config.tracing.parent);
    let outcome = traces::scope(span.traceparent(), commands::run(cli, config, signals)).await;
    if outcome.is_err() {
        span.failed("failed");
    }
    outcome
}
