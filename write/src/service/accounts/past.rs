//! What happened to one account, and which command did what.

use event_log::{EventLog, StoreError};
use jiff::Timestamp;
use schemas::account::{AccountEvent, PaymentsMoved};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{AccountId, Actor, CommandId, Position, StreamId, StreamVersion};
use schemas::payment::{PaymentId, PaymentRecorded};

use crate::account::Account;
use crate::service::past::known;

/// One account's history in memory.
pub(in crate::service) struct AccountPast {
    pub(in crate::service) id: AccountId,
    pub(in crate::service) stream: StreamId,
    pub(in crate::service) version: StreamVersion,
    acts: Vec<Act>,
    account: Account,
}

struct Act {
    command: CommandId,
    actor: Actor,
    position: Position,
    time: Timestamp,
    event: AccountEvent,
}

/// Payments that went to another account.
pub(in crate::service) struct Move<'p> {
    pub(in crate::service) command: CommandId,
    pub(in crate::service) actor: &'p Actor,
    pub(in crate::service) to: AccountId,
    pub(in crate::service) notices: Vec<&'p PaymentRecorded>,
}

impl AccountPast {
    /// An account that has yet to come into being.
    pub(in crate::service) fn nothing(id: AccountId) -> AccountPast {
        AccountPast {
            id,
            stream: StreamId::account(id),
            version: StreamVersion::default(),
            acts: Vec::new(),
            account: Account::Absent,
        }
    }

    /// Reads the history of an account.
    pub(in crate::service) async fn read(store: &EventLog, id: AccountId) -> Result<AccountPast, StoreError> {
        let events = store.read_stream(&StreamId::account(id), StreamVersion::default()).await?;
        AccountPast::of(id, &events)
    }

    /// The history that these events tell. What a newer version wrote cannot be judged by this one.
    pub(in crate::service) fn of(id: AccountId, events: &[Recorded]) -> Result<AccountPast, StoreError> {
        let mut past = AccountPast::nothing(id);
        for recorded in events {
            let Event::Account(event) = known(recorded)? else {
                return Err(StoreError::corrupt(format!("{} holds the event of a project", recorded.stream)));
            };
            past.account = past.account.evolve(&event, recorded.time);
            past.version = recorded.version;
            let (command, position, time) = (recorded.causation, recorded.position, recorded.time);
            past.acts.push(Act { command, actor: recorded.actor.clone(), position, time, event });
        }
        Ok(past)
    }

    /// The account as it is.
    pub(in crate::service) fn account(&self) -> &Account {
        &self.account
    }

    /// When the account was erased; `None` where it is not.
    pub(in crate::service) fn erased_at(&self) -> Option<Timestamp> {
        let is_erasure = |act: &&Act| matches!(act.event, AccountEvent::AccountErased(_));
        self.acts.iter().find(is_erasure).map(|act| act.time)
    }

    /// The account that a name of payments was moved to, where the last thing that happened to it here was that.
    pub(in crate::service) fn moved_to(&self, name: &str) -> Option<AccountId> {
        self.acts.iter().rev().find_map(|act| match &act.event {
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

    /// Every move of payments from here to another account, in their order.
    pub(in crate::service) fn moves(&self) -> impl Iterator<Item = Move<'_>> {
        self.acts.iter().filter_map(|act| match &act.event {
            AccountEvent::PaymentsMoved(moved) => Some(Move {
                command: act.command,
                actor: &act.actor,
                to: moved.to,
                notices: self.notices_of(moved),
            }),
            _ => None,
        })
    }

    fn notices_of(&self, moved: &PaymentsMoved) -> Vec<&PaymentRecorded> {
        let recorded = |id: &PaymentId| {
            self.acts.iter().find_map(|act| match &act.event {
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

    /// The account, and nothing else.
    pub(in crate::service) fn into_account(self) -> Account {
        self.account
    }

    /// The account as a command left it and the position of the last thing it did, if it did something.
    pub(in crate::service) fn after(&self, command: CommandId) -> Option<(Account, Position)> {
        let last = self.acts.iter().rposition(|act| act.command == command)?;
        let account = Account::replay(self.acts[..=last].iter().map(|act| (&act.event, act.time)));
        Some((account, self.acts[last].position))
    }
}
