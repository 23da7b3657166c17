//! What happened to one account, and which command did what.

use jiff::Timestamp;
use schemas::account::AccountEvent;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{AccountId, CommandId, Position, StreamId, StreamVersion};

use crate::account::Account;
use crate::event_store::{EventStore, StoreError};
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
    position: Position,
    time: Timestamp,
    event: AccountEvent,
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
    pub(in crate::service) async fn read(
        store: &dyn EventStore,
        id: AccountId,
    ) -> Result<AccountPast, StoreError> {
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
            past.acts.push(Act { command, position, time, event });
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
