//! Commands on the links that prove an address: asking for one by mail, making one, looking at it, using it.
//!
//! A link is noted as used by its command before anything is appended, so that no second command can use it; the command
//! itself may be sent again until it is answered. Where the log holds nothing of that command, because its append failed
//! or the process ended before it, the link can be used again while it lasts.

use schemas::command::{AccountDone, Answer, Claim, ClaimedKey, CommandMessage};
use schemas::email::Email;
use schemas::ids::{AccountId, CommandId};
use schemas::link::LinkHash;
use vault::{LetterKind, Link};

use super::past::AccountPast;
use super::{Accounts, CommandService, done, enter_name, in_time};
use crate::account::{self, Account, KeyState, Rejection, Wishes};
use crate::service::refused::Refused;

impl CommandService {
    /// Queues a letter with a link, where the address has keys that it could prove and had no mail of late. The
    /// answer tells nothing of that: who has keys here is nobody's business.
    pub(in crate::service) async fn send_link(&self, email: &Email) -> Result<Answer, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        if let Err(error) = self.queue_proof(accounts, email).await {
            tracing::error!(%error, "a link that was asked for could not be queued");
        }
        Ok(Answer::Accepted)
    }

    async fn queue_proof(&self, accounts: &Accounts, email: &Email) -> Result<(), Refused> {
        if let Some(id) = self.with_keys(accounts, email).await? {
            accounts.vault.queue(id, LetterKind::Proof, self.clock.now()).await?;
        }
        Ok(())
    }

    /// Makes a link for an operator, who gives it to the holder of the address in another way than by mail.
    pub(in crate::service) async fn make_link(
        &self,
        email: &Email,
        link: LinkHash,
    ) -> Result<Answer, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        let id = self.with_keys(accounts, email).await?.ok_or(Rejection::NoKeys)?;
        let expires_at = accounts.vault.make_link(id, link, self.clock.now()).await?;
        Ok(Answer::Link { expires_at: expires_at.ok_or(Refused::Contended)? })
    }

    /// Tells what a link is for, and changes nothing.
    pub(in crate::service) async fn open_link(&self, link: LinkHash) -> Result<Answer, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let (_turn, now) = (accounts.turn.lock().await, self.clock.now());
        let found = self.usable(accounts, link, None).await?;
        let past = self.past_of(found.account).await?;
        let account = past.account();
        let mut names = accounts.vault.key_names(Some(found.account)).await?;
        let shown = |key: &KeyState| claimed_key(key, names.remove(&key.issued.key_id));
        Ok(Answer::Claim(Claim {
            keys: account.live().map(shown).collect(),
            places: account::places_free(account, now),
            replaces: account::replaces(account),
            expires_at: found.expires_at,
        }))
    }

    /// Carries out what the holder of a link decided.
    pub(in crate::service) async fn use_link(
        &self,
        message: &CommandMessage,
        link: LinkHash,
        wishes: Wishes<'_>,
    ) -> Result<AccountDone, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let Accounts { vault, tiers, turn, .. } = accounts;
        let _turn = turn.lock().await;
        let found = self.usable(accounts, link, Some(message.id)).await?;
        let (past, now) = (self.past_of(found.account).await?, self.clock.now());
        if let Some((account, position)) = past.after(message.id) {
            return Ok(done(&message.command, &account, position));
        }
        let events = account::claim(past.account(), wishes, tiers, now)?;
        in_time(message, now)?;
        if let Some(key) = wishes.new_key {
            enter_name(vault, past.id, key).await?;
        }
        vault.use_link(link, message.id).await?;
        let done = self.carry_out(message, &past, events, now).await?;
        if !done.changed {
            // The log will never tell that it was used.
            vault.end_link(link, now).await?;
        }
        Ok(done)
    }

    /// The account of an address, if it has a key that is not revoked, or was paid for: its holder gets a key by the link.
    async fn with_keys(&self, accounts: &Accounts, email: &Email) -> Result<Option<AccountId>, Refused> {
        let Some(id) = accounts.vault.account_of(email).await? else { return Ok(None) };
        let past = AccountPast::read(&self.store, id).await?;
        let paid = past.account().payments().is_some_and(|payments| !payments.recorded().is_empty());
        let any = paid || past.account().live().next().is_some();
        Ok(any.then_some(id))
    }

    /// The link, if it can be used: by a command that used it before at any time, else once and in time. Whether another
    /// command used it is settled by the log: no other one is under way, since each has its turn.
    async fn usable(
        &self,
        accounts: &Accounts,
        link: LinkHash,
        by: Option<CommandId>,
    ) -> Result<Link, Refused> {
        let found = accounts.vault.link(link).await?.ok_or(Refused::DeadLink)?;
        let is_usable = match found.used_by {
            Some(command) if by == Some(command) => true,
            Some(command) if !self.store.streams_of(command).await?.is_empty() => false,
            Some(_) | None => self.clock.now() < found.expires_at,
        };
        if is_usable { Ok(found) } else { Err(Refused::DeadLink) }
    }

    /// What happened to the account of a link. A crash may have left the link of an account that was erased.
    async fn past_of(&self, id: AccountId) -> Result<AccountPast, Refused> {
        let past = AccountPast::read(&self.store, id).await?;
        match past.account() {
            Account::Erased(_) => Err(Refused::DeadLink),
            Account::Absent | Account::Open(..) => Ok(past),
        }
    }
}

/// A key as the holder of a link sees it. Events of version 0.1 have the name themselves.
fn claimed_key(key: &KeyState, name: Option<String>) -> ClaimedKey {
    ClaimedKey {
        key_id: key.issued.key_id,
        hint: key.issued.hint.clone(),
        name: name.or_else(|| key.issued.name.clone()),
        created_at: key.issued_at,
        tier: key.tier.clone(),
        proven: key.proven,
    }
}
