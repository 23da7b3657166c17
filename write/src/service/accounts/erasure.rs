//! Erasures that were interrupted, and those that a restored backup does not know.

use std::collections::HashMap;

use event_log::Namespace;
use jiff::Timestamp;
use schemas::account::{AccountErased, AccountEvent};
use schemas::command::Refusal;
use schemas::ids::{AccountId, CommandId, StreamId};
use vault::{Erasure, VaultError};

use super::past::AccountPast;
use super::{Accounts, CommandService};
use crate::account::Account;
use crate::service::Cause;
use crate::service::refused::Refused;

/// How many names or accounts are looked at for one page.
const PAGE: usize = 200;

/// Who acts where an erasure is finished.
const ACTOR: &str = "loggia";

impl CommandService {
    /// Brings vault, log and journal of erasures to agree: no account that is erased in one of log and journal has an
    /// address or a live key. Returns how many accounts this ended in the log.
    ///
    /// # Errors
    ///
    /// Fails where store, vault or journal cannot be used; it can be repeated.
    pub async fn finish_erasures(&self) -> Result<u64, Refusal> {
        Ok(self.sweep_erasures().await?)
    }

    pub(in crate::service) async fn sweep_erasures(&self) -> Result<u64, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let in_log = self.erased_in_log().await?;
        let _turn = accounts.turn.lock().await;
        let noted = |(account, erased_at): (&AccountId, &Timestamp)| Erasure {
            account: *account,
            erased_at: *erased_at,
        };
        accounts.vault.note_erasures(in_log.iter().map(noted).collect()).await?;
        let mut ended = 0;
        for Erasure { account, .. } in accounts.vault.erasures().await? {
            if !in_log.contains_key(&account) {
                ended += u64::from(self.end(account).await?);
            }
            forget(accounts, account).await?;
        }
        Ok(ended)
    }

    /// Every account that is erased in the log, with the time.
    async fn erased_in_log(&self) -> Result<HashMap<AccountId, Timestamp>, Refused> {
        let mut erased = HashMap::new();
        // An account begins with a key or with a payment.
        for namespace in [Namespace::KEY, Namespace::PAYER] {
            let mut after = String::new();
            loop {
                let claims = self.store.claims(namespace, &after, PAGE).await?;
                let Some((last, _)) = claims.last() else { break };
                after.clone_from(last);
                let streams: Vec<StreamId> = claims.into_iter().map(|(_, stream)| stream).collect();
                for (stream, events) in self.store.read_streams(&streams).await? {
                    let Some(id) = stream.as_account() else { continue };
                    if let Some(at) = AccountPast::of(id, &events)?.erased_at() {
                        erased.insert(id, at);
                    }
                }
            }
        }
        Ok(erased)
    }

    /// Ends an account in the log, if it is open there.
    async fn end(&self, id: AccountId) -> Result<bool, Refused> {
        let past = AccountPast::read(&self.store, id).await?;
        let Account::Open(..) = past.account() else { return Ok(false) };
        let actor = ACTOR.parse().map_err(|_| Refused::Impossible("nobody acts".into()))?;
        let command = self.clock.command_id();
        let cause = Cause { command, correlation: command, actor: &actor };
        let events = vec![AccountEvent::AccountErased(AccountErased {})];
        self.append_account(cause, &past, events, Vec::new(), self.clock.now()).await?;
        Ok(true)
    }

    /// The account that a command to erase ended, where it was carried out before: its address finds it no longer.
    pub(super) async fn ended_by(&self, command: CommandId) -> Result<Option<AccountPast>, Refused> {
        let streams = self.store.streams_of(command).await?;
        match streams.iter().find_map(StreamId::as_account) {
            Some(id) => Ok(Some(AccountPast::read(&self.store, id).await?)),
            None => Ok(None),
        }
    }
}

/// Erases what the vault has of an account, even where its address does not open any more.
async fn forget(accounts: &Accounts, account: AccountId) -> Result<(), Refused> {
    match accounts.vault.email_of(account).await {
        Ok(None) => return Ok(()),
        Ok(Some(email)) => accounts.vault.let_go_of(&email).await?,
        Err(VaultError::Corrupt { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    accounts.vault.erase(account).await?;
    Ok(())
}
