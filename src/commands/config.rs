//! `loggia config`: every setting with its source and default, secrets hidden; and what would prevent a start.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use cli_output::Output;
use data_folder::{DataFolder, Part};
use nats::server;
use process_role::ProcessRole;
use projections::snapshot::Manifest;
use rustix::fs::Access;
use serde::Serialize;
use serde_json::json;
use snapshot_transfer::SnapshotSource;

use crate::compose;
use crate::config::{Auth, Config};
use crate::connection;
use crate::process;
use crate::store;

/// Prints all settings.
pub fn run(config: &Config, output: Output) -> Result<()> {
    Ok(output.answer(&config.resolved, || {
        let mut text = String::new();
        for setting in &config.resolved {
            let value = setting.value.as_deref().unwrap_or("(unset)");
            let default = setting.default.unwrap_or("none");
            text += &format!(
                "{:<13} {value}\n{:13} from {}; default {default}; {}\n{:13} {}\n",
                setting.name, "", setting.source, setting.variable, "", setting.about
            );
        }
        text.trim_end().to_owned()
    })?)
}

/// Prints what would prevent a start, and which encoder would compute vectors; exit status 1 if something would.
pub async fn check(config: &Config, output: Output) -> Result<ExitCode> {
    let (findings, encoder) = (findings(config).await, CheckedEncoder::of(config).await?);
    let answer = json!({ "ok": findings.is_empty(), "findings": findings, "encoder": encoder });
    output.answer(&answer, || {
        let mut lines: Vec<String> =
            findings.iter().map(|found| format!("{}: {}", found.about, found.reason)).collect();
        if lines.is_empty() {
            lines.push("nothing prevents a start".to_owned());
        }
        lines.push(encoder.sentence());
        lines.join("\n")
    })?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Something that would prevent a start.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The setting that is wrong, or `ulimit`.
    pub about: &'static str,
    /// What is wrong and what to do.
    pub reason: String,
}

/// The encoder that would compute vectors.
#[derive(Debug, Serialize)]
pub struct CheckedEncoder {
    /// Its name; null if none would.
    pub name: Option<String>,
    /// Where its weights are looked for.
    pub weights: String,
    /// Why weights that are there are not used.
    pub fault: Option<String>,
}

impl CheckedEncoder {
    /// Opens the encoder that is set.
    pub async fn of(config: &Config) -> Result<CheckedEncoder> {
        let opened = compose::open_encoder(config).await?;
        let weights = compose::weights_folder(config).display().to_string();
        let name = opened.as_ref().map(|open| open.encoder.name().to_owned());
        let fault = opened.and_then(|open| Some(open.fault?.to_string()));
        Ok(CheckedEncoder { name, weights, fault })
    }

    /// Returns a sentence about it.
    pub fn sentence(&self) -> String {
        let CheckedEncoder { name, weights, fault } = self;
        match (name, fault) {
            (None, _) => "vectors are not computed".to_owned(),
            (Some(name), None) => format!("the encoder {name} computes vectors (weights: {weights})"),
            (Some(name), Some(fault)) => format!("the encoder {name} computes vectors, since {fault}"),
        }
    }
}

/// Checks everything that a role needs at its start, and returns what is wrong. Nothing is written or left running. The addresses
/// are not checked while a process of this folder runs, which uses them.
pub async fn findings(config: &Config) -> Vec<Finding> {
    let data = DataFolder::new(&config.server.data);
    let is_running = [Part::Write, Part::Project].into_iter().any(|part| data.running(part).is_some());
    let mut found = Vec::new();
    let mut check = |about: &'static str, outcome: Result<()>| {
        if let Err(error) = outcome {
            found.push(Finding { about, reason: format!("{error:#}") });
        }
    };
    check("data", data.check().and_then(|()| check_writable(&config.server.data)));
    check("ulimit", process::check_open_files());
    if !is_running {
        check("listen", check_free(config.server.listen));
        check("admin_listen", config.operators.listen.map_or(Ok(()), check_free));
    }
    match &config.nats.url {
        Some(url) => check("nats_url", check_nats(config, url).await),
        None => check("nats_server", check_private_nats(config).await),
    }
    check("secret_file", config.accounts.secret_file.as_deref().map_or(Ok(()), check_readable));
    if let Some(SnapshotSource::Folder(folder)) = &config.process.snapshot {
        check("snapshot", Manifest::read(folder).map(drop).map_err(Into::into));
    }
    check("store", store::check_replica(config).await);
    if store::folder(config).exists() && data.check().is_ok() {
        check("store", check_log(config).await);
        check("secret_file", store::open_vault_read_only(config).await.map(drop));
    }
    found
}

/// Checks that the folder, or the nearest one above it that exists, can be written.
fn check_writable(folder: &Path) -> Result<()> {
    let existing = std::path::absolute(folder)?;
    let Some(existing) = existing.ancestors().find(|folder| folder.exists()) else { return Ok(()) };
    rustix::fs::access(existing, Access::WRITE_OK | Access::EXEC_OK).with_context(|| {
        format!("the data folder {} cannot be created or written: {}", folder.display(), existing.display())
    })
}

fn check_readable(path: &Path) -> Result<()> {
    std::fs::read(path).map(drop).with_context(|| format!("{} cannot be read", path.display()))
}

fn check_free(address: SocketAddr) -> Result<()> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            bail!("{address} is in use by another program; stop it, or listen on another address")
        }
        Err(error) => Err(anyhow!(error).context(format!("{address} cannot be listened on"))),
    }
}

async fn check_nats(config: &Config, url: &str) -> Result<()> {
    connection::nats_login(config, url, ProcessRole::Operator).connect().await?;
    Ok(())
}

async fn check_private_nats(config: &Config) -> Result<()> {
    server::find_supported(config.nats.server.as_deref()).await?;
    Ok(())
}

/// Checks that the log can be read, and that the tiers of all live keys are set.
async fn check_log(config: &Config) -> Result<()> {
    let store = store::open_read_only(config).await?;
    let checked = match config.access.auth {
        Auth::Keys => compose::check_tiers(&store, &config.access.tiers).await,
        Auth::Off => Ok(()),
    };
    store.close().await;
    checked
}
