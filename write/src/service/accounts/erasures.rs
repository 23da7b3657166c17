//! Completes erasures that were interrupted, and those that a restored backup lacks.

use std::collections::HashMap;

use event_log::Namespace;
use jiff::Timestamp;
use schemas::account::{AccountErased, AccountEvent};
use schemas::ids::{AccountId, CommandId, StreamId};
use vault::{Erasure, VaultError};

use super::history::AccountHistory;
use super::{AccountService, CommandError};
use crate::account::Account;
use crate::service::event_writer::Causation;

/// The number of claimed names that are read at once.
const PAGE: usize = 200;

/// The actor of an erasure that is completed.
const ACTOR: &str = "loggia";

impl AccountService {
    /// Makes vault, log and journal of erasures agree: no account that is erased in the log or in the journal keeps an address
    /// or a live key. Returns the number of accounts that were erased in the log.
    ///
    /// # Errors
    ///
    /// Fails if log, vault or journal cannot be used; it can be repeated.
    pub async fn finish_erasures(&self) -> Result<u64, CommandError> {
        let in_log = self.erased_in_log().await?;
        let _turn = self.turn.lock().await;
        let noted = |(account, erased_at): (&AccountId, &Timestamp)| Erasure {
            account: *account,
            erased_at: *erased_at,
        };
        self.vault.record_erasures(in_log.iter().map(noted).collect()).await?;
        let mut erased = 0;
        for Erasure { account, .. } in self.vault.erasures().await? {
            if !in_log.contains_key(&account) {
                erased += u64::from(self.erase_in_log(account).await?);
            }
            self.forget(account).await?;
        }
        Ok(erased)
    }

    /// Returns every account that is erased in the log, with the time.
    async fn erased_in_log(&self) -> Result<HashMap<AccountId, Timestamp>, CommandError> {
        let log = &self.writer.log;
        let mut erased = HashMap::new();
        // An account begins with a key or with a payment.
        for namespace in [Namespace::KEY, Namespace::PAYER] {
            let mut after = String::new();
            loop {
                let claims = log.claims(namespace, &after, PAGE).await?;
                let Some((last, _)) = claims.last() else { break };
                after.clone_from(last);
                let streams: Vec<StreamId> = claims.into_iter().map(|(_, stream)| stream).collect();
                for (stream, events) in log.read_streams(&streams).await? {
                    let Some(id) = stream.as_account() else { continue };
                    if let Some(at) = AccountHistory::of(id, &events)?.erased_at() {
                        erased.insert(id, at);
                    }
                }
            }
        }
        Ok(erased)
    }

    /// Erases an account in the log; returns false if it is not open there.
    async fn erase_in_log(&self, id: AccountId) -> Result<bool, CommandError> {
        let history = self.history(id).await?;
        let Account::Open(..) = history.account() else { return Ok(false) };
        let actor = ACTOR.parse().map_err(|_| CommandError::Invalid("there is no actor".into()))?;
        let causation = Causation::own(self.writer.clock.command_id(), &actor);
        let events = vec![AccountEvent::AccountErased(AccountErased {})];
        self.append(causation, &history, events, Vec::new(), self.writer.clock.now()).await?;
        Ok(true)
    }

    /// Returns the account that a command erased, if it was executed before: the address no longer leads to it.
    pub(super) async fn erased_by(&self, command: CommandId) -> Result<Option<AccountHistory>, CommandError> {
        let streams = self.writer.log.streams_of(command).await?;
        match streams.iter().find_map(StreamId::as_account) {
            Some(id) => Ok(Some(self.history(id).await?)),
            None => Ok(None),
        }
    }

    /// Deletes everything that the vault has of an account, even if the address cannot be decrypted.
    async fn forget(&self, account: AccountId) -> Result<(), CommandError> {
        match self.vault.email_of(account).await {
            Ok(None) => return Ok(()),
            Ok(Some(email)) => self.vault.delete_notices_of(&email).await?,
            Err(VaultError::Corrupt(_)) => {}
            Err(error) => return Err(error.into()),
        }
        self.vault.erase(account).await?;
        Ok(())
    }
}
