//! Commands on accounts: what the vault knows, what happened, a decision, and the append.
//!
//! The vault's row is written before the first append and deleted after the last. A crash between leaves an address
//! whose account has no events, which the next key uses, or one whose account was erased, which the next start clears
//! away.

mod agenda;
mod erasure;
mod links;
mod listing;
pub(super) mod past;

use event_log::{self, AppendError, Namespace};
use jiff::Timestamp;
use schemas::account::{AccountEvent, KeyIssued};
use schemas::command::{AccountDone, Command, CommandMessage, KeyNow};
use schemas::email::Email;
use schemas::event::Event;
use schemas::ids::{AccountId, CommandId, Position};
use schemas::tier::Tiers;
use tokio::sync::Mutex;
use vault::{Erasure, Vault};

use super::refused::Refused;
use super::{Cause, CommandService, Target};
use crate::account::{self, Account, KeyState, Rejection};
use agenda::Agenda;
use past::AccountPast;

pub use listing::{read_account, read_accounts};

/// What the service needs for commands on accounts.
pub struct Accounts {
    pub(super) vault: Vault,
    pub(super) tiers: Tiers,
    /// One command at a time: vault and log are two files, and none may see one of them without the other.
    pub(super) turn: Mutex<()>,
    /// When what was paid for runs out.
    pub(super) agenda: Agenda,
}

impl Accounts {
    /// Accounts whose addresses are in this vault and whose keys are in these tiers.
    pub fn new(vault: Vault, tiers: Tiers) -> Accounts {
        Accounts { vault, tiers, turn: Mutex::new(()), agenda: Agenda::default() }
    }

    /// The addresses, and the letters that wait.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }
}

impl CommandService {
    /// Carries out a command on an account. Erasing an address that is not known, or no longer, changes nothing and
    /// is no mistake.
    pub(super) async fn on_account(&self, message: &CommandMessage) -> Result<AccountDone, Refused> {
        let Accounts { vault, tiers, turn, .. } = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = turn.lock().await;
        let (command, now) = (&message.command, self.clock.now());
        let past = self.account_past(vault, message).await?;
        let done = match past.after(message.id) {
            Some((account, position)) => done(command, &account, position),
            None => {
                let events = decide(command, past.account(), tiers, now)?;
                in_time(message, now)?;
                if let Command::IssueKey { email, .. } = command
                    && vault.enter(email, past.id).await? != past.id
                {
                    return Err(Refused::Contended);
                }
                if let Command::IssueKey { key, .. } = command {
                    enter_name(vault, past.id, key).await?;
                }
                if let Command::EraseAccount { email } = command
                    && vault.account_of(email).await? == Some(past.id)
                {
                    vault.note_erasures(vec![Erasure { account: past.id, erased_at: now }]).await?;
                }
                self.carry_out(message, &past, events, now).await?
            }
        };
        if let Command::EraseAccount { email } = command {
            // When the command comes again, the address may belong to a new account.
            if vault.account_of(email).await?.is_none_or(|account| account == past.id) {
                vault.let_go_of(email).await?;
            }
            vault.erase(past.id).await?;
        }
        Ok(done)
    }

    /// What happened to the account that a command is about; a new account's empty past where there is none.
    async fn account_past(&self, vault: &Vault, message: &CommandMessage) -> Result<AccountPast, Refused> {
        match &message.command {
            Command::RevokeKey { key_id } => {
                let stream = self.store.holder(Namespace::KEY, key_id.as_str()).await?;
                let id = stream.and_then(|stream| stream.as_account());
                let id = id.ok_or(Rejection::UnknownKey { key_id: *key_id })?;
                Ok(AccountPast::read(&self.store, id).await?)
            }
            Command::EraseAccount { email } => match self.ended_by(message.id).await? {
                Some(past) => Ok(past),
                None => self.past_at(vault, email).await,
            },
            Command::SettlePayments { account } => Ok(AccountPast::read(&self.store, *account).await?),
            Command::IssueKey { email, .. }
            | Command::ProveEmail { email, .. }
            | Command::ChangeTier { email, .. } => {
                let past = self.past_at(vault, email).await?;
                let Account::Erased(_) = past.account() else { return Ok(past) };
                vault.erase(past.id).await?;
                Ok(AccountPast::nothing(self.clock.account_id()))
            }
            _ => Err(no_account()),
        }
    }

    async fn past_at(&self, vault: &Vault, email: &Email) -> Result<AccountPast, Refused> {
        match vault.account_of(email).await? {
            Some(id) => Ok(AccountPast::read(&self.store, id).await?),
            None => Ok(AccountPast::nothing(self.clock.account_id())),
        }
    }

    /// Appends what was decided and what follows from it for keys that are proven by it, and tells how the keys are then.
    async fn carry_out(
        &self,
        message: &CommandMessage,
        past: &AccountPast,
        events: Vec<AccountEvent>,
        now: Timestamp,
    ) -> Result<AccountDone, Refused> {
        let Accounts { tiers, .. } = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let events = account::rise(past.account(), events, tiers, now);
        let cause = Cause { command: message.id, correlation: message.correlation, actor: &message.actor };
        let (account, position) = self.append_account(cause, past, events, Vec::new(), now).await?;
        Ok(done(&message.command, &account, position))
    }

    /// Appends to an account's events, and gives it as it is then with the position of the last; 0 where there are none.
    pub(super) async fn append_account(
        &self,
        cause: Cause<'_>,
        past: &AccountPast,
        events: Vec<AccountEvent>,
        claims: Vec<event_log::Claim>,
        now: Timestamp,
    ) -> Result<(Account, Position), Refused> {
        let Accounts { tiers, agenda, .. } = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let account = past.account().clone().after(&events, now);
        let last = if events.is_empty() {
            Position::START
        } else {
            let command = cause.command;
            let target = Target { stream: &past.stream, version: past.version, time: now, claims };
            let events = events.into_iter().map(Event::Account).collect();
            match self.append_to(cause, target, events).await {
                Ok(appended) => appended.last,
                Err(AppendError::Claimed { name, .. }) => return Err(claimed(&name)),
                // This command is in the log already, from an attempt whose outcome was unknown.
                Err(AppendError::Repeated(_)) => return self.appended_before(command, past).await,
                Err(AppendError::Conflict { .. }) => return Err(Refused::Contended),
                Err(AppendError::Invalid { reason }) => return Err(Refused::Impossible(reason)),
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        };
        agenda.note(past.id, account::next_settling(&account, tiers, now));
        Ok((account, last))
    }

    /// What a command did that is in the log already.
    async fn appended_before(
        &self,
        command: CommandId,
        past: &AccountPast,
    ) -> Result<(Account, Position), Refused> {
        let past = AccountPast::read(&self.store, past.id).await?;
        past.after(command).ok_or(Refused::Contended)
    }
}

/// Enters the name of a new key, before the key is in the log.
async fn enter_name(vault: &Vault, account: AccountId, key: &KeyIssued) -> Result<(), Refused> {
    if let Some(name) = account::name_of(key)? {
        vault.enter_key_name(account, key.key_id, &name).await?;
    }
    Ok(())
}

/// Refuses what its sender no longer waits for. Asked before anything is written, in the turn of the command.
fn in_time(message: &CommandMessage, now: Timestamp) -> Result<(), Refused> {
    match message.not_after {
        Some(not_after) if now > not_after => Err(Refused::TooLate),
        _ => Ok(()),
    }
}

fn decide(
    command: &Command,
    account: &Account,
    tiers: &Tiers,
    now: Timestamp,
) -> Result<Vec<AccountEvent>, Refused> {
    match command {
        Command::IssueKey { key, .. } => Ok(account::issue(account, key, tiers, now)?),
        Command::RevokeKey { key_id } => Ok(account::revoke(account, *key_id)?),
        Command::ProveEmail { key_ids, .. } => Ok(account::prove(account, key_ids)?),
        Command::ChangeTier { key_ids, tier, .. } => Ok(account::change_tier(account, key_ids, tier, tiers)?),
        Command::EraseAccount { .. } => Ok(account::erase(account)),
        Command::SettlePayments { .. } => Ok(account::settle(account, tiers, now)),
        _ => Err(no_account()),
    }
}

/// The answer for an account as it is after a command; nothing was written at position 0.
pub(super) fn done(command: &Command, account: &Account, position: Position) -> AccountDone {
    let about: Vec<&KeyState> = match command {
        Command::IssueKey { key, .. } => account.key(key.key_id).into_iter().collect(),
        Command::RevokeKey { key_id } => account.key(*key_id).into_iter().collect(),
        Command::ProveEmail { key_ids, .. } | Command::ChangeTier { key_ids, .. } => {
            let named = |key: &&KeyState| key_ids.is_empty() || key_ids.contains(&key.issued.key_id);
            account.live().filter(named).collect()
        }
        Command::EraseAccount { .. } => account.keys().iter().collect(),
        Command::SettlePayments { .. } | Command::MovePayments { .. } => account.live().collect(),
        Command::UseLink { keep, revoke, new_key, .. } => {
            let new_key = new_key.as_ref().map(|key| key.key_id);
            let named = |key: &&KeyState| {
                let id = key.issued.key_id;
                keep.contains(&id) || revoke.contains(&id) || new_key == Some(id)
            };
            account.keys().iter().filter(named).collect()
        }
        _ => Vec::new(),
    };
    AccountDone {
        keys: about.into_iter().map(key_now).collect(),
        position,
        changed: position > Position::START,
    }
}

fn key_now(key: &KeyState) -> KeyNow {
    KeyNow {
        key_id: key.issued.key_id,
        tier: key.tier.clone(),
        revoked: key.revoked.is_some(),
        proven: key.proven,
    }
}

/// Another stream holds a name: a key's id that exists, or something that nobody could have seen coming.
fn claimed(name: &str) -> Refused {
    match name.parse() {
        Ok(key_id) => Rejection::Taken { key_id }.into(),
        Err(_) => Refused::Contended,
    }
}

fn no_account() -> Refused {
    Refused::Impossible("it is no command on an account".into())
}

#[cfg(test)]
mod tests;
