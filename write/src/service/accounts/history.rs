//! The events of one account, with the command that caused each; and accounts as the log has them.

use event_log::{EventLog, Namespace, StoreError};
use jiff::Timestamp;
use schemas::account::{AccountEvent, PaymentsMoved};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{AccountId, Actor, CommandId, Position, StreamId, StreamVersion};
use schemas::payment::{PaymentId, PaymentRecorded};

use crate::account::Account;
use crate::service::decode_known;

const PAGE: usize = 200;

/// The history of one account, in memory.
pub(in crate::service) struct AccountHistory {
    pub(in crate::service) id: AccountId,
    pub(in crate::service) stream: StreamId,
    pub(in crate::service) version: StreamVersion,
    entries: Vec<Entry>,
    account: Account,
}

struct Entry {
    command: CommandId,
    actor: Actor,
    position: Position,
    time: Timestamp,
    event: AccountEvent,
}

pub(in crate::service) struct PaymentMove<'h> {
    pub(in crate::service) command: CommandId,
    pub(in crate::service) actor: &'h Actor,
    pub(in crate::service) to: AccountId,
    pub(in crate::service) notices: Vec<&'h PaymentRecorded>,
}

impl AccountHistory {
    pub(super) fn empty(id: AccountId) -> AccountHistory {
        AccountHistory {
            id,
            stream: StreamId::account(id),
            version: StreamVersion::default(),
            entries: Vec::new(),
            account: Account::Absent,
        }
    }

    /// Reads the history of an account. Fails if the log cannot be read, and for events of a newer version, which this
    /// one cannot decide on.
    pub(in crate::service) async fn read(
        log: &EventLog,
        id: AccountId,
    ) -> Result<AccountHistory, StoreError> {
        let events = log.read_stream(&StreamId::account(id), StreamVersion::default()).await?;
        AccountHistory::of(id, &events)
    }

    /// Returns the history that consists of these events. Fails for events of a newer version, which this one cannot
    /// decide on.
    pub(in crate::service) fn of(id: AccountId, events: &[Recorded]) -> Result<AccountHistory, StoreError> {
        let mut history = AccountHistory::empty(id);
        for recorded in events {
            let Event::Account(event) = decode_known(recorded)? else {
                return Err(StoreError::corrupt(format!("{} holds the event of a project", recorded.stream)));
            };
            history.account = history.account.evolve(&event, recorded.time);
            history.version = recorded.version;
            let (command, position, time) = (recorded.causation, recorded.position, recorded.time);
            history.entries.push(Entry { command, actor: recorded.actor.clone(), position, time, event });
        }
        Ok(history)
    }

    /// Returns the current state of the account.
    pub(in crate::service) fn account(&self) -> &Account {
        &self.account
    }

    /// Returns when the account was erased; `None` if it is not.
    pub(in crate::service) fn erased_at(&self) -> Option<Timestamp> {
        let is_erasure = |entry: &&Entry| matches!(entry.event, AccountEvent::AccountErased(_));
        self.entries.iter().find(is_erasure).map(|entry| entry.time)
    }

    /// Returns the account that a claimed name of payments was moved to, if a move is the last event here that has the name.
    pub(in crate::service) fn moved_to(&self, name: &str) -> Option<AccountId> {
        self.entries.iter().rev().find_map(|entry| match &entry.event {
            AccountEvent::PaymentRecorded(payment) => {
                payment.names().any(|other| other == name).then_some(None)
            }
            AccountEvent::PaymentsMoved(moved) => {
                let is_among = moved.ids.iter().any(|id| moved.provider.name(id) == name);
                is_among.then_some(Some(moved.to))
            }
            _ => None,
        })?
    }

    /// Returns every move of payments to another account, in their order.
    pub(in crate::service) fn moves(&self) -> impl Iterator<Item = PaymentMove<'_>> {
        self.entries.iter().filter_map(|entry| match &entry.event {
            AccountEvent::PaymentsMoved(moved) => Some(PaymentMove {
                command: entry.command,
                actor: &entry.actor,
                to: moved.to,
                notices: self.notices_of(moved),
            }),
            _ => None,
        })
    }

    fn notices_of(&self, moved: &PaymentsMoved) -> Vec<&PaymentRecorded> {
        let recorded = |id: &PaymentId| {
            self.entries.iter().find_map(|entry| match &entry.event {
                AccountEvent::PaymentRecorded(payment)
                    if payment.provider == moved.provider && payment.event_id == *id =>
                {
                    Some(payment)
                }
                _ => None,
            })
        };
        moved.event_ids.iter().filter_map(recorded).collect()
    }

    /// Returns the current state of the account.
    pub(in crate::service) fn into_account(self) -> Account {
        self.account
    }

    /// Returns the account as a command left it, and the position of the last event of the command; `None` if it appended
    /// nothing.
    pub(in crate::service) fn after(&self, command: CommandId) -> Option<(Account, Position)> {
        let last = self.entries.iter().rposition(|entry| entry.command == command)?;
        let account = Account::replay(self.entries[..=last].iter().map(|entry| (&entry.event, entry.time)));
        Some((account, self.entries[last].position))
    }
}

/// Returns an account as the log has it.
///
/// # Errors
///
/// Fails if the log cannot be read, or has events of a newer version.
pub async fn read_account(log: &EventLog, id: AccountId) -> Result<Account, StoreError> {
    AccountHistory::read(log, id).await.map(AccountHistory::into_account)
}

/// Returns every account that ever had a key, erased ones included, in the order in which they were opened.
///
/// # Errors
///
/// Fails if the log cannot be read, or has events of a newer version.
pub async fn read_accounts(log: &EventLog) -> Result<Vec<(AccountId, Account)>, StoreError> {
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let claims = log.claims(Namespace::KEY, &after, PAGE).await?;
        let Some((last, _)) = claims.last() else { break };
        after.clone_from(last);
        ids.extend(claims.iter().filter_map(|(_, stream)| Some((stream.as_account()?, stream.clone()))));
    }
    ids.sort_unstable();
    ids.dedup();
    let mut accounts = Vec::with_capacity(ids.len());
    for page in ids.chunks(PAGE) {
        let streams: Vec<_> = page.iter().map(|(_, stream)| stream.clone()).collect();
        let mut events = log.read_streams(&streams).await?;
        for (id, stream) in page {
            let history = AccountHistory::of(*id, &events.remove(stream).unwrap_or_default())?;
            accounts.push((*id, history.into_account()));
        }
    }
    Ok(accounts)
}
