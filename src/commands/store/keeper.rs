//! `loggia store keeper`: shows which write side is the keeper of a remote log, or moves the keeper here.

use std::process::ExitCode;

use anyhow::{Result, bail};
use cli_output::{Output, count};
use data_folder::{DataFolder, Part};
use write::service::read_accounts;

use crate::compose;
use crate::config::Config;
use crate::store;
use crate::store::keeper;
use crate::store::keeper::{Keeper, KeeperClaim};

/// Shows the keeper, or makes this folder the keeper.
pub(super) async fn run(
    config: &Config,
    moves: bool,
    leave_behind: bool,
    output: Output,
) -> Result<ExitCode> {
    let keeper =
        if moves { move_here(config, leave_behind).await? } else { keeper::of_remote_log(config).await? };
    let folder = store::folder(config);
    match keeper {
        Some(keeper) => output.answer(&keeper, || keeper.sentence(&folder))?,
        None => bail!(
            "the log is in {}, where its write side also keeps addresses, ledger and pictures; only a log in EventStoreDB has a \
             keeper (set store, LOGGIA_STORE)",
            folder.display()
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes this folder the keeper. No process may run on it: it would not expect to become the keeper while it runs.
async fn move_here(config: &Config, leave_behind: bool) -> Result<Option<Keeper>> {
    if store::is_here(config) {
        return Ok(None);
    }
    let _held = DataFolder::new(&config.server.data).hold(&[Part::Write])?;
    let side = compose::open_write_side(
        config,
        &schemas::clock::Clock::system(),
        &Default::default(),
        KeeperClaim::None,
    )
    .await?;
    side.store.close().await;
    if side.keeper.here {
        return Ok(Some(side.keeper));
    }
    if !leave_behind {
        let missing = accounts_without_address(config).await?;
        if missing > 0 {
            bail!(
                "{} accounts of the log have keys, and their addresses are not in the vault of {}: copy vault.db, its \
                 secret, usage.db and media/ from the folder of the keeper (with the vault the folder becomes the keeper), or \
                 give --leave-behind to proceed without them",
                count(missing as u64),
                store::folder(config).display()
            );
        }
    }
    keeper::move_here(config).await.map(Some)
}

/// Returns the number of accounts with live keys whose address is not in this folder's vault.
async fn accounts_without_address(config: &Config) -> Result<usize> {
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
