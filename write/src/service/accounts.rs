//! Commands on accounts: keys, mailed links, erasure.
//!
//! The address is entered in the vault before the first append and deleted after the last. A crash between the two leaves an
//! address whose account has no events, which the next key of that address uses, or one whose account is erased, which the
//! next start deletes.

mod erasures;
mod history;
mod links;
mod schedule;

use std::sync::Arc;

use event_log::{AppendError, Claim, EventLog, Namespace, StoreError};
use futures::future::BoxFuture;
use jiff::Timestamp;
use schemas::account::{AccountEvent, KeyIssued};
use schemas::clock::Clock;
use schemas::command::{AccountOutcome, Command, CommandMessage, CommandReply, CurrentKey};
use schemas::email::Email;
use schemas::event::Event;
use schemas::ids::{AccountId, CommandId, Position};
use schemas::key::KeyId;
use schemas::tier::{TierName, Tiers};
use tokio::sync::Mutex;
use vault::{Erasure, Vault};

use super::error::CommandError;
use super::event_writer::{Causation, EventWriter, Target};
use super::{CommandService, CommandSpec, Lane};
use crate::account::{self, Account, KeyState, LinkDecision, Rejection};
use schedule::SettlementSchedule;

pub(super) use history::{AccountHistory, PaymentMove};
pub use history::{read_account, read_accounts};

const LANES: &[Lane] = &[Lane {
    // They are executed one at a time anyway. A payment waits for those that hold a slot, so there are few.
    slots: 16,
    commands: &[
        CommandSpec::optimistic("issue_key"),
        CommandSpec::optimistic("revoke_key"),
        CommandSpec::optimistic("prove_email"),
        CommandSpec::optimistic("change_tier"),
        CommandSpec::optimistic("erase_account"),
        // Their replies show the state of the account to the holder of a link or an address.
        CommandSpec::caught_up("send_link"),
        CommandSpec::caught_up("make_link"),
        CommandSpec::caught_up("open_link"),
        CommandSpec::caught_up("use_link"),
        CommandSpec::caught_up("erase_by_link"),
    ],
}];

/// Issues, proves and revokes keys, and keeps the addresses in the vault.
pub struct AccountService {
    pub(super) writer: EventWriter,
    pub(super) vault: Vault,
    pub(super) tiers: Tiers,
    /// Held by each command, also of payments: vault and log are two files, and no command may see a change in only one.
    pub(super) turn: Mutex<()>,
    pub(super) schedule: SettlementSchedule,
}

impl CommandService for AccountService {
    fn lanes(&self) -> &'static [Lane] {
        LANES
    }

    fn execute(&self, message: CommandMessage) -> BoxFuture<'_, Result<CommandReply, CommandError>> {
        Box::pin(async move {
            match &message.command {
                Command::IssueKey { email, key } => self.issue_key(&message, email, key).await,
                Command::RevokeKey { key_id } => self.revoke_key(&message, *key_id).await,
                Command::ProveEmail { email, key_ids } => self.prove_email(&message, email, key_ids).await,
                Command::ChangeTier { email, key_ids, tier } => {
                    self.change_tier(&message, email, key_ids, tier).await
                }
                Command::EraseAccount { email } => self.erase_account(&message, email).await,
                Command::SendLink { email } => return self.send_link(email).await,
                Command::MakeLink { email, link } => return self.make_link(email, *link).await,
                Command::OpenLink { link } => return self.open_link(*link).await,
                Command::UseLink { link, keep, revoke, new_key } => {
                    let decision = LinkDecision { keep, revoke, new_key: new_key.as_ref() };
                    self.use_link(&message, *link, decision).await
                }
                Command::EraseByLink { link } => self.erase_by_link(&message, *link).await,
                other => Err(CommandError::misrouted(other)),
            }
            .map(CommandReply::Account)
        })
    }
}

impl AccountService {
    /// Returns a service with the addresses of this vault and keys of these tiers. No other service may use the vault.
    pub fn new(log: Arc<EventLog>, clock: Clock, vault: Vault, tiers: Tiers) -> AccountService {
        AccountService {
            writer: EventWriter { log, clock },
            vault,
            tiers,
            turn: Mutex::new(()),
            schedule: SettlementSchedule::default(),
        }
    }

    /// Returns the vault.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Returns the log it appends to.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.writer.log
    }

    async fn issue_key(
        &self,
        message: &CommandMessage,
        email: &Email,
        key: &KeyIssued,
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let history = self.unerased_history(email).await?;
        let (account, position) = match history.after(message.id) {
            Some(executed) => executed,
            None => {
                let now = self.writer.clock.now();
                let events = account::issue_key(history.account(), key, &self.tiers, now)?;
                check_deadline(message, now)?;
                self.enter_address(email, history.id).await?;
                self.enter_key_name(history.id, key).await?;
                self.append_decision(message, &history, events, now).await?
            }
        };
        Ok(account_done(account.key(key.key_id), position))
    }

    async fn revoke_key(
        &self,
        message: &CommandMessage,
        key_id: KeyId,
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let stream = self.writer.log.holder(Namespace::KEY, key_id.as_str()).await?;
        let id = stream.and_then(|stream| stream.as_account()).ok_or(Rejection::UnknownKey(key_id))?;
        let history = self.history(id).await?;
        let decide = |account: &Account, _| account::revoke_key(account, key_id);
        let (account, position) = self.execute_once(message, &history, decide).await?;
        Ok(account_done(account.key(key_id), position))
    }

    async fn prove_email(
        &self,
        message: &CommandMessage,
        email: &Email,
        key_ids: &[KeyId],
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let history = self.unerased_history(email).await?;
        let decide = |account: &Account, _| account::prove_keys(account, key_ids);
        let (account, position) = self.execute_once(message, &history, decide).await?;
        Ok(account_done(chosen(&account, key_ids), position))
    }

    async fn change_tier(
        &self,
        message: &CommandMessage,
        email: &Email,
        key_ids: &[KeyId],
        tier: &TierName,
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let history = self.unerased_history(email).await?;
        let decide = |account: &Account, _| account::change_tier(account, key_ids, tier, &self.tiers);
        let (account, position) = self.execute_once(message, &history, decide).await?;
        Ok(account_done(chosen(&account, key_ids), position))
    }

    /// Erases the account of an address. An address without an account is not an error, and nothing changes.
    async fn erase_account(
        &self,
        message: &CommandMessage,
        email: &Email,
    ) -> Result<AccountOutcome, CommandError> {
        let _turn = self.turn.lock().await;
        let history = match self.erased_by(message.id).await? {
            Some(history) => history,
            None => self.history_at(email).await?,
        };
        self.erase(message, &history, Some(email)).await
    }

    /// Erases the account of an address. The caller holds the turn.
    pub(super) async fn erase(
        &self,
        message: &CommandMessage,
        history: &AccountHistory,
        email: Option<&Email>,
    ) -> Result<AccountOutcome, CommandError> {
        let owner = match email {
            Some(email) => self.vault.account_of(email).await?,
            None => None,
        };
        let (account, position) = match history.after(message.id) {
            Some(executed) => executed,
            None => {
                let now = self.writer.clock.now();
                let events = account::erase(history.account());
                check_deadline(message, now)?;
                if owner == Some(history.id) {
                    let erasure = Erasure { account: history.id, erased_at: now };
                    self.vault.record_erasures(vec![erasure]).await?;
                }
                self.append_decision(message, history, events, now).await?
            }
        };
        // When the command is sent again, the address may belong to a new account.
        if let Some(email) = email.filter(|_| owner.is_none_or(|account| account == history.id)) {
            self.vault.delete_notices_of(email).await?;
        }
        self.vault.erase(history.id).await?;
        Ok(account_done(account.keys(), position))
    }

    /// Returns the account after a command and the position of the command's last event: those that the command left, if it
    /// was executed before; else what `decide` decides is appended.
    pub(super) async fn execute_once(
        &self,
        message: &CommandMessage,
        history: &AccountHistory,
        decide: impl FnOnce(&Account, Timestamp) -> Result<Vec<AccountEvent>, Rejection>,
    ) -> Result<(Account, Position), CommandError> {
        if let Some(executed) = history.after(message.id) {
            return Ok(executed);
        }
        let now = self.writer.clock.now();
        let events = decide(history.account(), now)?;
        check_deadline(message, now)?;
        self.append_decision(message, history, events, now).await
    }

    /// Appends a decision, and the tiers of the keys that it proves: they rise to what is paid for.
    async fn append_decision(
        &self,
        message: &CommandMessage,
        history: &AccountHistory,
        events: Vec<AccountEvent>,
        now: Timestamp,
    ) -> Result<(Account, Position), CommandError> {
        let events = account::raise_proven_keys(history.account(), events, &self.tiers, now);
        self.append(Causation::of(message), history, events, Vec::new(), now).await
    }

    /// Appends events to an account and returns the account after them, with the position of the last one; 0 without events.
    pub(super) async fn append(
        &self,
        causation: Causation<'_>,
        history: &AccountHistory,
        events: Vec<AccountEvent>,
        claims: Vec<Claim>,
        now: Timestamp,
    ) -> Result<(Account, Position), CommandError> {
        let account = history.account().clone().after(&events, now);
        let last = if events.is_empty() {
            Position::START
        } else {
            let command = causation.command;
            let target = Target { stream: &history.stream, version: history.version, time: now, claims };
            let events = events.into_iter().map(Event::Account).collect();
            match self.writer.append(causation, target, events).await {
                Ok(appended) => appended.last,
                Err(AppendError::Claimed { name, .. }) => return Err(claimed(&name)),
                // This command is in the log already, from an attempt whose outcome was unknown.
                Err(AppendError::Repeated(_)) => return self.appended_before(command, history.id).await,
                Err(AppendError::Conflict(_)) => return Err(CommandError::Contended),
                Err(AppendError::Invalid(reason)) => return Err(CommandError::Invalid(reason)),
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        };
        self.schedule.set(history.id, account::next_settlement(&account, &self.tiers, now));
        Ok((account, last))
    }

    async fn appended_before(
        &self,
        command: CommandId,
        account: AccountId,
    ) -> Result<(Account, Position), CommandError> {
        self.history(account).await?.after(command).ok_or(CommandError::Contended)
    }

    pub(super) async fn history(&self, id: AccountId) -> Result<AccountHistory, StoreError> {
        AccountHistory::read(&self.writer.log, id).await
    }

    fn new_history(&self) -> AccountHistory {
        AccountHistory::empty(self.writer.clock.account_id())
    }

    /// Returns the history of the account of an address; that of a new account if the address has none.
    async fn history_at(&self, email: &Email) -> Result<AccountHistory, CommandError> {
        match self.vault.account_of(email).await? {
            Some(id) => Ok(self.history(id).await?),
            None => Ok(self.new_history()),
        }
    }

    /// Returns the history of the account of an address; that of a new account if the address has none, or has an erased one
    /// because a crash left it in the vault.
    pub(super) async fn unerased_history(&self, email: &Email) -> Result<AccountHistory, CommandError> {
        let history = self.history_at(email).await?;
        let Account::Erased(_) = history.account() else { return Ok(history) };
        self.vault.erase(history.id).await?;
        Ok(self.new_history())
    }

    /// Enters an address in the vault, before its account has events.
    pub(super) async fn enter_address(&self, email: &Email, account: AccountId) -> Result<(), CommandError> {
        let entered = self.vault.add_address(email, account).await?;
        if entered == account { Ok(()) } else { Err(CommandError::Contended) }
    }

    /// Enters the name of a new key in the vault, before the key is in the log.
    async fn enter_key_name(&self, account: AccountId, key: &KeyIssued) -> Result<(), CommandError> {
        if let Some(name) = account::normal_name(key)? {
            self.vault.set_key_name(account, key.key_id, &name).await?;
        }
        Ok(())
    }
}

/// Rejects a command whose sender no longer waits. To be called before anything is written, while the command holds the turn.
fn check_deadline(message: &CommandMessage, now: Timestamp) -> Result<(), CommandError> {
    match message.not_after {
        Some(not_after) if now > not_after => Err(CommandError::DeadlinePassed),
        _ => Ok(()),
    }
}

/// Returns the live keys among those that a command names; all live keys if it names none.
fn chosen<'a>(account: &'a Account, key_ids: &[KeyId]) -> impl Iterator<Item = &'a KeyState> {
    account.live().filter(|key| key_ids.is_empty() || key_ids.contains(&key.issued.key_id))
}

/// Returns the reply with these keys of an account; the position is 0 if nothing was appended.
pub(super) fn account_done<'k>(
    keys: impl IntoIterator<Item = &'k KeyState>,
    position: Position,
) -> AccountOutcome {
    let current = |key: &KeyState| CurrentKey {
        key_id: key.issued.key_id,
        tier: key.tier.clone(),
        revoked: key.revoked.is_some(),
        proven: key.proven,
    };
    let keys = keys.into_iter().map(current).collect();
    AccountOutcome { keys, position, changed: position > Position::START }
}

/// Returns the error for a name that another stream owns: the id of an existing key, or a conflict.
fn claimed(name: &str) -> CommandError {
    match name.parse() {
        Ok(key_id) => Rejection::Taken(key_id).into(),
        Err(_) => CommandError::Contended,
    }
}

#[cfg(test)]
mod tests;
