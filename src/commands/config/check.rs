//! What a start would refuse, looked for without starting anything.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use embeddings::{Encoder, EncoderChoice};
use nats::server;
use projections::snapshot::Manifest;
use rustix::fs::Access;
use serde::Serialize;
use write::nats_role::NatsRole;

use crate::compose;
use crate::config::{Auth, Config, SnapshotSource, Vectors};
use crate::connection;
use crate::data_folder::{DataFolder, Part};
use crate::descriptors;
use crate::store;

/// One thing that a start would refuse.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What was looked at: a setting, or `ulimit`.
    pub about: &'static str,
    /// What is wrong and what to do.
    pub reason: String,
}

/// Looks at everything that a role needs at its start, and returns what is wrong. Nothing is written or left running. What a
/// running process of this folder has, such as its addresses, is not looked at.
pub async fn findings(config: &Config) -> Vec<Finding> {
    let data = DataFolder::new(&config.server.data);
    let is_running = [Part::Write, Part::Project].into_iter().any(|part| data.running(part).is_some());
    let mut found = Vec::new();
    let mut note = |about: &'static str, outcome: Result<()>| {
        if let Err(error) = outcome {
            found.push(Finding { about, reason: format!("{error:#}") });
        }
    };
    note("data", data.check().and_then(|()| can_be_made(&config.server.data)));
    note("ulimit", descriptors::enough());
    if !is_running {
        note("listen", is_free(config.server.listen));
        note("admin_listen", config.operators.listen.map_or(Ok(()), is_free));
    }
    match &config.nats.url {
        Some(url) => note("nats_url", nats(config, url).await),
        None => note("nats_server", private_nats(config).await),
    }
    note("secret_file", config.accounts.secret_file.as_deref().map_or(Ok(()), can_be_read));
    note("vectors", vectors(config).await);
    if let Some(SnapshotSource::Folder(folder)) = &config.process.snapshot {
        note("snapshot", Manifest::read(folder).map(drop).map_err(Into::into));
    }
    note("store", store::check_replica(config).await);
    if store::folder(config).exists() && data.check().is_ok() {
        note("store", log(config).await);
        note("secret_file", store::open_vault_read_only(config).await.map(drop));
    }
    found
}

/// The folder, or the nearest one above it that exists, can be written.
fn can_be_made(folder: &Path) -> Result<()> {
    let existing = std::path::absolute(folder)?;
    let Some(existing) = existing.ancestors().find(|folder| folder.exists()) else { return Ok(()) };
    rustix::fs::access(existing, Access::WRITE_OK | Access::EXEC_OK).with_context(|| {
        format!("the data folder {} cannot be made or written: {}", folder.display(), existing.display())
    })
}

fn can_be_read(path: &Path) -> Result<()> {
    std::fs::read(path).map(drop).with_context(|| format!("{} cannot be read", path.display()))
}

fn is_free(address: SocketAddr) -> Result<()> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            bail!("{address} is in use by another program; stop it, or listen somewhere else")
        }
        Err(error) => Err(anyhow!(error).context(format!("{address} cannot be listened at"))),
    }
}

async fn nats(config: &Config, url: &str) -> Result<()> {
    connection::login(config, url, NatsRole::Operator).connect().await?;
    Ok(())
}

async fn private_nats(config: &Config) -> Result<()> {
    server::find_supported(config.nats.server.as_deref()).await?;
    Ok(())
}

async fn vectors(config: &Config) -> Result<()> {
    let Vectors::Models(folder) = config.media.vectors.clone() else { return Ok(()) };
    tokio::task::spawn_blocking(move || Encoder::open(&EncoderChoice::Folder(folder))).await??;
    Ok(())
}

/// The log can be read, and no live key is in a tier that is not set.
async fn log(config: &Config) -> Result<()> {
    let store = store::open_read_only(config).await?;
    let checked = match config.access.auth {
        Auth::Keys => compose::check_tiers(&store, &config.access.tiers).await,
        Auth::Off => Ok(()),
    };
    store.close().await;
    checked
}
