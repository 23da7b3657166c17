//! `loggia store keeper`: which write side keeps what is not in the log, and another one from now on.

use std::process::ExitCode;

use anyhow::{Result, bail};
use write::service::read_accounts;

use crate::compose;
use crate::config::Config;
use crate::data_folder::{DataFolder, Part};
use crate::output::{Output, count};
use crate::store;
use crate::store::keeper;
use crate::store::keeper::{Keeper, Naming};

/// Shows the keeper, or makes this folder's vault the keeper's.
pub(super) async fn run(
    config: &Config,
    moves: bool,
    leave_behind: bool,
    output: Output,
) -> Result<ExitCode> {
    let keeper = if moves { move_here(config, leave_behind).await? } else { keeper::look(config).await? };
    let folder = store::folder(config);
    match keeper {
        Some(keeper) => output.answer(&keeper, || keeper.sentence(&folder))?,
        None => bail!(
            "the log is in {}, and whatever writes to it keeps addresses, ledger and pictures too; only a log in \
             EventStoreDB has a keeper (set store, LOGGIA_STORE)",
            folder.display()
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// Names the vault of this folder, on which no process may run: it would begin to keep things in the middle of its life.
async fn move_here(config: &Config, leave_behind: bool) -> Result<Option<Keeper>> {
    if store::is_here(config) {
        return Ok(None);
    }
    let _held = DataFolder::new(&config.server.data).hold(&[Part::Write])?;
    let side =
        compose::open_write_side(config, &schemas::clock::Clock::system(), &Default::default(), Naming::None)
            .await?;
    side.store.close().await;
    if side.keeper.here {
        return Ok(Some(side.keeper));
    }
    if !leave_behind {
        let missing = without_address(config).await?;
        if missing > 0 {
            bail!(
                "{} accounts of the log have keys, and their addresses are not in the vault of {}: bring vault.db, its \
                 secret, usage.db and media/ from the folder of the keeper there (with the vault comes the keeper), or \
                 give --leave-behind to go on without them",
                count(missing as u64),
                store::folder(config).display()
            );
        }
    }
    keeper::move_here(config).await.map(Some)
}

/// How many accounts have keys that work, and an address that this folder's vault does not hold.
async fn without_address(config: &Config) -> Result<usize> {
    let store = store::open_read_only(config).await?;
    let accounts = read_accounts(&store).await?;
    store.close().await;
    let kept = match store::open_vault_read_only(config).await? {
        Some(vault) => {
            let kept = vault.emails().await?;
            vault.close().await;
            kept
        }
        None => Vec::new(),
    };
    let is_kept = |id| kept.iter().any(|(kept, _)| *kept == id);
    Ok(accounts.iter().filter(|(id, account)| account.live().next().is_some() && !is_kept(*id)).count())
}
