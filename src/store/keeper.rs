//! The keeper of a log: of several write sides, the one with the vault of addresses, the ledger of calls and the pictures, which
//! are not in the log. A log in SQLite has one write side only; a remote log names the vault of its keeper.

use std::path::Path;

use anyhow::Result;
use event_log::LogLocation;
#[cfg(feature = "eventstore")]
use event_log::kurrent::KeeperWatch;
use serde::Serialize;
use uuid::Uuid;
#[cfg(feature = "eventstore")]
use vault::FILE;
use vault::Vault;

use super::folder;
use crate::config::Config;

/// Whether a write side becomes the keeper of a log that has none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeeperClaim {
    /// It does: for roles, which an operator starts where they are to run.
    IfNone,
    /// It does not: for commands, which may run anywhere.
    None,
}

#[derive(Debug, Clone, Serialize)]
pub struct Keeper {
    /// Whether it is this data folder.
    pub here: bool,
    /// The vault that the log names; `None` if it names none.
    pub vault: Option<Uuid>,
    /// The vault in this data folder, if there is one.
    pub own: Option<Uuid>,
}

impl Keeper {
    /// Returns where the keeper is, in a few words.
    pub fn short(&self) -> String {
        match self.vault {
            None => "none yet".into(),
            Some(_) if self.here => "this folder".into(),
            Some(vault) => format!("another folder, with the vault {vault}"),
        }
    }

    pub fn sentence(&self, folder: &Path) -> String {
        let folder = folder.display();
        match (self.vault, self.own) {
            (None, _) => {
                "the log has no keeper yet: the first `loggia write` or `loggia up` on it becomes its keeper"
                    .into()
            }
            (Some(vault), _) if self.here => {
                format!("the keeper of the log is the vault {vault}, the one in {folder}")
            }
            (Some(vault), Some(own)) => {
                format!(
                    "the keeper of the log is the vault {vault}, which is not the one in {folder} ({own})"
                )
            }
            (Some(vault), None) => format!("the keeper of the log is the vault {vault}; {folder} has none"),
        }
    }
}

/// Returns the keeper of the log, and the vault of this folder, opened for writing, if it is the keeper's.
pub async fn open(config: &Config, claim: KeeperClaim) -> Result<(Option<Vault>, Keeper)> {
    match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => {
            let mut watch = KeeperWatch::connect(address).await?;
            let vault = match claim {
                KeeperClaim::IfNone => Some(open_vault(config).await?),
                KeeperClaim::None => existing_vault(config).await?,
            };
            let own = match &vault {
                Some(vault) => Some(vault.id().await?),
                None => None,
            };
            let named = match own.filter(|_| claim == KeeperClaim::IfNone) {
                Some(own) => Some(watch.name_first(own).await?),
                None => watch.named().await?,
            };
            let here = named.is_some() && named == own;
            let kept = match vault {
                Some(vault) if !here => {
                    vault.close().await;
                    None
                }
                vault => vault,
            };
            Ok((kept, Keeper { here, vault: named, own }))
        }
        Some(LogLocation::Sqlite(_)) | None => {
            // A log in SQLite has one write side, which is its keeper.
            let _ = claim;
            let vault = open_vault(config).await?;
            let own = Some(vault.id().await?);
            Ok((Some(vault), Keeper { here: true, vault: own, own }))
        }
    }
}

async fn open_vault(config: &Config) -> Result<Vault> {
    Ok(Vault::open(&folder(config), config.accounts.secret_file.as_deref()).await?)
}

/// Opens the vault of the folder; creates none.
#[cfg(feature = "eventstore")]
async fn existing_vault(config: &Config) -> Result<Option<Vault>> {
    match folder(config).join(FILE).exists() {
        true => open_vault(config).await.map(Some),
        false => Ok(None),
    }
}

/// Returns the keeper of a remote log; `None` if the log is here.
pub async fn of_remote_log(config: &Config) -> Result<Option<Keeper>> {
    match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => {
            let own = match folder(config).join(FILE).exists() {
                true => Vault::identity(&folder(config)).await?,
                false => None,
            };
            let vault = KeeperWatch::connect(address).await?.named().await?;
            Ok(Some(Keeper { here: vault.is_some() && vault == own, vault, own }))
        }
        Some(LogLocation::Sqlite(_)) | None => Ok(None),
    }
}

/// Makes this folder the keeper, and creates its vault if it has none.
pub async fn move_here(config: &Config) -> Result<Keeper> {
    let vault = open_vault(config).await?;
    let own = vault.id().await?;
    vault.close().await;
    #[cfg(feature = "eventstore")]
    if let Some(LogLocation::EventStoreDb(address)) = &config.store.place {
        KeeperWatch::connect(address).await?.move_to(own).await?;
    }
    Ok(Keeper { here: true, vault: Some(own), own: Some(own) })
}
