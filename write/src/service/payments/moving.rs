//! Payments that an operator moves to another account: their notices are recorded there once more, and the account that had
//! them says where they went. Later notices follow.

use event_log::{Claim, Namespace, StoreError};
use schemas::command::{AccountDone, CommandMessage};
use schemas::email::Email;
use schemas::ids::{AccountId, Position, StreamId};
use schemas::payment::{PaymentId, Provider};
use vault::LetterKind;

use super::settling::read_payer_pasts;
use crate::account::{self, Account, Rejection};
use crate::service::accounts::past::{AccountPast, Move};
use crate::service::accounts::{self, Accounts};
use crate::service::refused::Refused;
use crate::service::{Cause, CommandService};

impl CommandService {
    /// Moves all payments that are connected with an id to the account of an address. Where they are there already, nothing
    /// changes.
    pub(in crate::service) async fn move_payments(
        &self,
        message: &CommandMessage,
        provider: Provider,
        id: &PaymentId,
        to: &Email,
    ) -> Result<AccountDone, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        self.finish_moves(accounts).await?;
        let receiving = accounts.vault.account_of(to).await?.ok_or(Rejection::NoAccount)?;
        let receiving = AccountPast::read(&self.store, receiving).await?;
        let Account::Open(..) = receiving.account() else { return Err(Rejection::NoAccount.into()) };
        if let Some((account, position)) = receiving.after(message.id) {
            return Ok(accounts::done(&message.command, &account, position));
        }
        let former = self.payer_of(&provider.name(id)).await?;
        let former = former.ok_or_else(|| Rejection::UnknownPayment { id: id.clone() })?;
        if former.id == receiving.id {
            return Ok(accounts::done(&message.command, receiving.account(), Position::START));
        }
        let now = self.clock.now();
        let cause = Cause { command: message.id, correlation: message.correlation, actor: &message.actor };
        let released = account::release(former.account(), provider, id, receiving.id, &accounts.tiers, now)?;
        self.append_account(cause, &former, released, Vec::new(), now).await?;
        // A replica may not have it yet.
        self.store.catch_up().await?;
        let former = AccountPast::read(&self.store, former.id).await?;
        let moved = former.moves().find(|moved| moved.command == message.id).ok_or(Refused::Contended)?;
        let arrived = self.arrive(accounts, former.id, moved).await?;
        let (account, position) = arrived.ok_or(Rejection::NoAccount)?;
        Ok(accounts::done(&message.command, &account, position))
    }

    /// Records with their new accounts the payments that went to them and did not arrive: a process may end between the two
    /// appends of a move.
    pub(super) async fn finish_moves(&self, accounts: &Accounts) -> Result<(), Refused> {
        for former in read_payer_pasts(&self.store).await? {
            for unfinished in former.moves() {
                let streams = self.store.streams_of(unfinished.command).await?;
                if !streams.contains(&StreamId::account(unfinished.to)) {
                    self.arrive(accounts, former.id, unfinished).await?;
                }
            }
        }
        Ok(())
    }

    /// Records moved payments with the account that they went to, and gives it as it is then; nothing where it was erased.
    async fn arrive(
        &self,
        accounts: &Accounts,
        from: AccountId,
        moved: Move<'_>,
    ) -> Result<Option<(Account, Position)>, Refused> {
        let Move { command, actor, to, notices } = moved;
        let receiving = AccountPast::read(&self.store, to).await?;
        let Account::Open(..) = receiving.account() else { return Ok(None) };
        let (tiers, now) = (&accounts.tiers, self.clock.now());
        let events = account::receive(receiving.account(), &notices, from, tiers, now)?;
        let after = receiving.account().clone().after(&events, now);
        if notices.iter().any(|notice| account::calls_for_letter(&after, notice, tiers, now)) {
            accounts.vault.queue(to, LetterKind::Payment, now).await?;
        }
        let claims = vec![Claim { namespace: Namespace::PAYER, name: to.to_string() }];
        let cause = Cause { command, correlation: command, actor };
        self.append_account(cause, &receiving, events, claims, now).await.map(Some)
    }

    /// The account that has a name of payments now; an erased one too.
    async fn payer_of(&self, name: &str) -> Result<Option<AccountPast>, StoreError> {
        let holder = self.store.holder(Namespace::PAYMENT, name).await?;
        match holder.and_then(|stream| stream.as_account()) {
            Some(id) => Ok(Some(self.follow(AccountPast::read(&self.store, id).await?, name).await?)),
            None => Ok(None),
        }
    }

    /// The account that has a name of payments now, where this one had it once.
    pub(super) async fn follow(&self, holder: AccountPast, name: &str) -> Result<AccountPast, StoreError> {
        let (mut past, mut passed) = (holder, Vec::new());
        while let Some(to) = past.moved_to(name) {
            passed.push(past.id);
            if passed.contains(&to) {
                return Err(StoreError::unavailable("payments are being moved between accounts; try again"));
            }
            past = AccountPast::read(&self.store, to).await?;
        }
        Ok(past)
    }
}
