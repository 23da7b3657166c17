//! The program `loggia`: reads the command line and the settings, and does one thing.

#![allow(unreachable_pub, reason = "in a program, pub says what a module offers to the others")]

mod cli;
mod clock;
mod commands;
mod config;
mod counted_calls;
mod data_folder;
mod lifecycle;
mod nodes;
mod output;
mod roles;
mod session;
mod telemetry;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use cli::{BackupCommand, Cli, Command, SettingFlags};
use config::{Config, Sources};
use output::Output;

/// Also what SQLite uses, which is C: linked in, it stands in for the system's allocator, which keeps what many threads gave back
/// (ADR 16).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The status of a wrong command line, and of settings that cannot be used.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    if SettingFlags::ask_for_help(std::env::args_os().skip(1)) {
        return failed_or(Output::new(false).line(&SettingFlags::help()).map(|()| ExitCode::SUCCESS));
    }
    let cli = Cli::parse();
    let sources = match Sources::of_process(cli.settings.given.clone(), cli.settings.config.clone()) {
        Ok(sources) => sources,
        Err(error) => return wrong_usage(&error),
    };
    match Config::read(&sources) {
        Ok(config) => failed_or(start(&cli, &sources, &config)),
        Err(error) => wrong_usage(&error),
    }
}

fn start(cli: &Cli, sources: &Sources, config: &Config) -> Result<ExitCode> {
    telemetry::start(&config.log, config.log_format)?;
    for warning in sources.unknown_variables() {
        tracing::warn!("{warning}");
    }
    // The files of a NATS cluster are handed to other users.
    if !matches!(cli.command, Command::Nats(_)) {
        data_folder::make_private();
    }
    clock::set_ahead(config.clock_offset.0);
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(cli, config))
}

fn failed_or(outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        output::say(&format!("loggia: {error:#}"));
        ExitCode::FAILURE
    })
}

fn wrong_usage(error: &anyhow::Error) -> ExitCode {
    output::say(&format!("loggia: {error:#}"));
    ExitCode::from(WRONG_USAGE)
}

async fn run(cli: &Cli, config: &Config) -> Result<ExitCode> {
    let output = Output::new(cli.json);
    let done = |outcome: Result<()>| outcome.map(|()| ExitCode::SUCCESS);
    match &cli.command {
        Command::Up(args) => roles::up(config, args).await,
        Command::Write => roles::write(config).await,
        Command::Project => roles::project(config).await,
        Command::Read => roles::read(config).await,
        Command::Serve => roles::serve(config).await,
        Command::Import(args) => commands::import::run(config, args, output).await,
        Command::Export { with_vectors, pictures } => {
            commands::export::run(config, *with_vectors, pictures.as_deref(), output).await
        }
        Command::Curate(command) => commands::curate::run(config, command, output).await,
        Command::Rebuild { models } => commands::rebuild::run(config, models, output).await,
        Command::Verify { parts, repair } => commands::verify::run(config, parts, *repair, output).await,
        Command::Events(command) => commands::events::run(config, command, output).await,
        Command::Keys(command) => commands::keys::run(config, command, output).await,
        Command::Payments(command) => commands::payments::run(config, command, output).await,
        Command::Pictures(command) => commands::pictures::run(config, command, output).await,
        Command::Audit(args) => commands::audit::run(config, args, output).await,
        Command::Status => done(commands::status::run(config, output).await),
        Command::Config { check: false } => done(commands::config::run(config, output)),
        Command::Config { check: true } => commands::config::check(config, output).await,
        Command::Nats(command) => done(commands::nats::run(command, output)),
        Command::Backup { command: Some(BackupCommand::Verify { folder }), .. } => {
            done(commands::backup::verify(folder, output).await)
        }
        Command::Backup { folder, command: None } => match folder {
            Some(folder) => done(commands::backup::run(config, folder, output).await),
            None => anyhow::bail!("name the folder of the backup"),
        },
        Command::Snapshot { folder } => done(commands::snapshot::run(config, folder, output).await),
        Command::Restore { folder, erasures } => {
            done(commands::backup::restore(config, folder, erasures, output).await)
        }
        Command::Store(command) => commands::store::run(config, command, output).await,
        Command::Bench(args) => commands::bench::run(config, args, output).await,
        Command::BenchBare { body } => commands::bench::bare(body).await,
    }
}
