//! The commands, one per file, and which of them the command line asks for.

mod audit;
mod backup;
mod bench;
mod config;
mod curate;
mod doctor;
mod events;
mod export;
mod import;
mod init;
mod keys;
mod manual;
mod mappings;
mod models;
mod nats;
mod payments;
mod pictures;
mod rebuild;
mod snapshot;
mod status;
mod store;
mod suggest;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use cli_output::{Output, Usage};
use daemon::signals::Signals;

use crate::cli::{BackupCommand, Cli, Command};
use crate::compose;
use crate::config::Config;

pub async fn run(cli: &Cli, config: &Config, signals: Signals) -> Result<ExitCode> {
    let output = Output::new("loggia", cli.json);
    let done = |outcome: Result<()>| outcome.map(|()| ExitCode::SUCCESS);
    match &cli.command {
        Command::Init(args) => init::run(&cli.settings, args, output),
        Command::Up(args) => compose::up(config, args, signals).await,
        Command::Write => compose::write(config, signals).await,
        Command::Project => compose::project(config, signals).await,
        Command::Read => compose::read(config, signals).await,
        Command::Serve => compose::serve(config, signals).await,
        Command::Import(args) if args.suggest => suggest::run(args, output),
        Command::Import(args) => import::run(config, args, output, signals).await,
        Command::Export(args) => export::run(config, args, output).await,
        Command::Curate(command) => curate::run(config, command, output).await,
        Command::Rebuild { models } => rebuild::run(config, models, output, signals).await,
        Command::Verify { parts, repair } => verify::run(config, parts, *repair, output, signals).await,
        Command::Events(command) => events::run(config, command, output).await,
        Command::Keys(command) => keys::run(config, command, output).await,
        Command::Payments(command) => payments::run(config, command, output).await,
        Command::Pictures(command) => pictures::run(config, command, output).await,
        Command::Mappings(command) => mappings::run(config, command, output),
        Command::Models { command } => models::run(config, command.as_ref(), output).await,
        Command::Audit(args) => audit::run(config, args, output).await,
        Command::Status { check } => status::run(config, *check, output).await,
        Command::Config { check: false } => done(config::run(config, output)),
        Command::Config { check: true } => config::check(config, output).await,
        Command::Doctor => doctor::run(config, output).await,
        Command::Nats(command) => done(nats::run(command, output)),
        Command::Backup { command: Some(BackupCommand::Verify { folder }), .. } => {
            done(backup::verify(folder, output).await)
        }
        Command::Backup { folder: Some(folder), keep, since, command: None } => {
            let backup = backup::run(config, folder, *keep, since.as_deref(), output);
            done(signals.interruptible(backup).await)
        }
        Command::Backup { folder: None, command: None, .. } => {
            Err(Usage("name the folder of the backup").into())
        }
        Command::Snapshot { folder } => done(snapshot::run(config, folder, output).await),
        Command::Restore { folder, until, erasures } => {
            done(backup::restore(config, folder, *until, erasures, output).await)
        }
        Command::Store(command) => store::run(config, command, output).await,
        Command::Bench(args) => signals.interruptible(bench::run(config, args, output)).await,
        Command::BenchBare { body } => bench::bare(body).await,
        Command::Manual { folder } => done(manual::run(folder, output)),
    }
}
