//! Commands on the links that prove an address: requesting one by mail, creating, opening and using one, and erasing its
//! account.
//!
//! A link is marked as used by a command before the command appends anything, so that no second command can use it; the same
//! command can be sent again until it gets its reply. If the log has nothing of that command, because its append failed or the
//! process ended before it, the link can be used again until it expires.

use schemas::command::{AccountOutcome, CommandMessage, CommandReply, LinkDetails, LinkKey};
use schemas::email::Email;
use schemas::ids::{AccountId, CommandId, Position};
use schemas::link::LinkHash;
use vault::{Link, MessageKind};

use super::history::AccountHistory;
use super::{AccountService, CommandError, account_done, check_deadline};
use crate::account::{self, Account, KeyState, LinkDecision, Rejection};

impl AccountService {
    /// Queues a mail with a link if the address has keys to prove and was not mailed recently. The reply does not disclose
    /// that.
    pub(super) async fn send_link(&self, email: &Email) -> Result<CommandReply, CommandError> {
        let _turn = self.turn.lock().await;
        if let Err(error) = self.queue_proof(email).await {
            tracing::error!(%error, "a link that was asked for could not be queued");
        }
        Ok(CommandReply::Accepted)
    }

    async fn queue_proof(&self, email: &Email) -> Result<(), CommandError> {
        if let Some(id) = self.account_to_prove(email).await? {
            self.vault.queue_message(id, MessageKind::Proof, self.writer.clock.now()).await?;
        }
        Ok(())
    }

    /// Creates a link for an operator, who passes it to the holder of the address in another way than by mail.
    pub(super) async fn make_link(
        &self,
        email: &Email,
        link: LinkHash,
    ) -> Result<CommandReply, CommandError> {
        let _turn = self.turn.lock().await;
        let id = self.account_to_prove(email).await?.ok_or(Rejection::NoKeys)?;
        let expires_at = self.vault.create_link(id, link, self.writer.clock.now()).await?;
        Ok(CommandReply::Link { expires_at: expires_at.ok_or(CommandError::Contended)? })
    }

    /// Returns what a link can be used for; changes nothing.
    pub(super) async fn open_link(&self, link: LinkHash) -> Result<CommandReply, CommandError> {
        let (_turn, now) = (self.turn.lock().await, self.writer.clock.now());
        let link = self.usable_link(link, None).await?;
        let history = self.history_of_link(&link).await?;
        let account = history.account();
        let mut names = self.vault.key_names(Some(link.account)).await?;
        let shown = |key: &KeyState| claimed_key(key, names.remove(&key.issued.key_id));
        Ok(CommandReply::LinkDetails(LinkDetails {
            keys: account.live().map(shown).collect(),
            places: account::free_places(account, now),
            replaces: account::may_replace_key(account),
            expires_at: link.expires_at,
        }))
    }

    /// Executes what the holder of a link decided.
    pub(super) async fn use_link(
        &self,
        message: &CommandMessage,
        hash: LinkHash,
        decision: LinkDecision<'_>,
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let link = self.usable_link(hash, Some(message.id)).await?;
        let (history, now) = (self.history_of_link(&link).await?, self.writer.clock.now());
        let (account, position) = match history.after(message.id) {
            Some(executed) => executed,
            None => {
                let events = account::use_link(history.account(), decision, &self.tiers, now)?;
                check_deadline(message, now)?;
                if let Some(key) = decision.new_key {
                    self.enter_key_name(history.id, key).await?;
                }
                self.vault.mark_link_used(hash, message.id).await?;
                let executed = self.append_decision(message, &history, events, now).await?;
                if executed.1 == Position::START {
                    // No event of the log shows that it was used.
                    self.vault.invalidate_link(hash, now).await?;
                }
                executed
            }
        };
        let new_key = decision.new_key.map(|key| key.key_id);
        let named = |key: &&KeyState| {
            let id = key.issued.key_id;
            decision.keep.contains(&id) || decision.revoke.contains(&id) || new_key == Some(id)
        };
        Ok(account_done(account.keys().iter().filter(named), position))
    }

    /// Erases the account of a link. The link is deleted with it; the same command can be sent again.
    pub(super) async fn erase_by_link(
        &self,
        message: &CommandMessage,
        hash: LinkHash,
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let history = match self.erased_by(message.id).await? {
            Some(history) => history,
            None => {
                let link = self.usable_link(hash, Some(message.id)).await?;
                self.history_of_link(&link).await?
            }
        };
        let email = self.vault.email_of(history.id).await?;
        self.erase(message, &history, email.as_ref()).await
    }

    /// Returns the account of an address if it has a live key or a payment: its holder gets a key with the link then.
    async fn account_to_prove(&self, email: &Email) -> Result<Option<AccountId>, CommandError> {
        let Some(id) = self.vault.account_of(email).await? else { return Ok(None) };
        let history = self.history(id).await?;
        let account = history.account();
        let paid = account.payments().is_some_and(|payments| !payments.recorded().is_empty());
        Ok((paid || account.live().next().is_some()).then_some(id))
    }

    /// Returns a link that can be used: at any time by the command that used it before, else once until it expires. The log
    /// decides whether another command used it: none is under way, since each holds the turn.
    async fn usable_link(&self, hash: LinkHash, by: Option<CommandId>) -> Result<Link, CommandError> {
        let link = self.vault.link(hash).await?.ok_or(CommandError::UnusableLink)?;
        let is_usable = match link.used_by {
            Some(command) if by == Some(command) => true,
            Some(command) if !self.writer.log.streams_of(command).await?.is_empty() => false,
            Some(_) | None => self.writer.clock.now() < link.expires_at,
        };
        if is_usable { Ok(link) } else { Err(CommandError::UnusableLink) }
    }

    /// Returns the history of the account of a link. A crash may have left the link of an erased account.
    async fn history_of_link(&self, link: &Link) -> Result<AccountHistory, CommandError> {
        let history = self.history(link.account).await?;
        match history.account() {
            Account::Erased(_) => Err(CommandError::UnusableLink),
            Account::Absent | Account::Open(..) => Ok(history),
        }
    }
}

/// Returns a key as the holder of a link sees it. Events of version 0.1 contain the name themselves.
fn claimed_key(key: &KeyState, name: Option<String>) -> LinkKey {
    LinkKey {
        key_id: key.issued.key_id,
        hint: key.issued.hint.clone(),
        name: name.or_else(|| key.issued.name.clone()),
        created_at: key.issued_at,
        tier: key.tier.clone(),
        proven: key.proven,
    }
}
