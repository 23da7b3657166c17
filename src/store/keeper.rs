//! The keeper of a log: the one write side that keeps what is not in it, which is the vault of addresses, the ledger of
//! calls and the pictures. A log in a file has no other write side; one elsewhere names the vault of its keeper.

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

/// What opening a write side does on a log that has no keeper yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// It becomes the keeper: for roles, which an operator starts where they shall run.
    First,
    /// Nothing: for commands, which may run anywhere.
    None,
}

/// Who keeps what is not in the log.
#[derive(Debug, Clone, Serialize)]
pub struct Keeper {
    /// Whether it is kept in this data folder.
    pub here: bool,
    /// The vault that the log names; absent where it names none.
    pub vault: Option<Uuid>,
    /// The vault in this data folder, if there is one.
    pub own: Option<Uuid>,
}

impl Keeper {
    /// Returns where the keeper is, in a few words.
    pub fn in_short(&self) -> String {
        match self.vault {
            None => "none yet".into(),
            Some(_) if self.here => "this folder".into(),
            Some(vault) => format!("another folder, with the vault {vault}"),
        }
    }

    /// Returns who the keeper is, in one sentence.
    pub fn sentence(&self, folder: &Path) -> String {
        let folder = folder.display();
        match (self.vault, self.own) {
            (None, _) => {
                "the log has no keeper yet: the first `loggia write` or `loggia up` on it becomes it".into()
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

/// Opens the vault if it is the keeper's, and tells who the keeper is.
pub async fn open(config: &Config, naming: Naming) -> Result<(Option<Vault>, Keeper)> {
    match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => {
            let mut watch = KeeperWatch::connect(address).await?;
            let vault = match naming {
                Naming::First => Some(open_vault(config).await?),
                Naming::None => existing_vault(config).await?,
            };
            let own = match &vault {
                Some(vault) => Some(vault.id().await?),
                None => None,
            };
            let named = match own.filter(|_| naming == Naming::First) {
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
            // The log in a file has one write side, which keeps everything.
            let _ = naming;
            let vault = open_vault(config).await?;
            let own = Some(vault.id().await?);
            Ok((Some(vault), Keeper { here: true, vault: own, own }))
        }
    }
}

async fn open_vault(config: &Config) -> Result<Vault> {
    Ok(Vault::open(&folder(config), config.accounts.secret_file.as_deref()).await?)
}

/// The vault of the folder, which is not made where there is none.
#[cfg(feature = "eventstore")]
async fn existing_vault(config: &Config) -> Result<Option<Vault>> {
    match folder(config).join(FILE).exists() {
        true => open_vault(config).await.map(Some),
        false => Ok(None),
    }
}

/// Returns who keeps what is not in a log elsewhere; nothing where the log is here.
pub async fn look(config: &Config) -> Result<Option<Keeper>> {
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

/// Names the vault of this folder as the keeper's, and makes it where there is none.
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
