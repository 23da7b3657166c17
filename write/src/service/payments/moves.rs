//! Payments that an operator moves to another account: their notices are recorded there again, and the former account notes the
//! new one. Later notices follow.

use event_log::{Claim, Namespace, StoreError};
use schemas::command::{AccountOutcome, CommandMessage};
use schemas::email::Email;
use schemas::ids::{AccountId, Position, StreamId};
use schemas::payment::{PaymentId, Provider};
use vault::MessageKind;

use super::settlement::read_payer_histories;
use super::{CommandError, PaymentService};
use crate::account::{self, Account, Rejection};
use crate::service::accounts::{AccountHistory, PaymentMove, account_done};
use crate::service::event_writer::Causation;

impl PaymentService {
    /// Moves all payments that are connected with an id to the account of an address. Nothing changes if they are there
    /// already.
    pub(super) async fn move_payments(
        &self,
        message: &CommandMessage,
        provider: Provider,
        id: &PaymentId,
        to: &Email,
    ) -> Result<AccountOutcome, CommandError> {
        let accounts = &self.accounts;
        let _turn = accounts.turn.lock().await;
        self.finish_moves().await?;
        let receiving = accounts.vault.account_of(to).await?.ok_or(Rejection::NoAccount)?;
        let receiving = accounts.history(receiving).await?;
        let Account::Open(..) = receiving.account() else { return Err(Rejection::NoAccount.into()) };
        if let Some((account, position)) = receiving.after(message.id) {
            return Ok(account_done(account.live(), position));
        }
        let former = self.payer_of(&provider.name(id)).await?;
        let former = former.ok_or_else(|| Rejection::UnknownPayment(id.clone()))?;
        if former.id == receiving.id {
            return Ok(account_done(receiving.account().live(), Position::START));
        }
        let now = accounts.writer.clock.now();
        let released =
            account::release_payments(former.account(), provider, id, receiving.id, &accounts.tiers, now)?;
        accounts.append(Causation::of(message), &former, released, Vec::new(), now).await?;
        // A replica may not have it yet.
        accounts.log().catch_up().await?;
        let former = accounts.history(former.id).await?;
        let moved =
            former.moves().find(|moved| moved.command == message.id).ok_or(CommandError::Contended)?;
        let (account, position) = self.receive(former.id, moved).await?.ok_or(Rejection::NoAccount)?;
        Ok(account_done(account.live(), position))
    }

    /// Records moved payments with their new accounts where that is missing: a process may end between the two appends of a
    /// move.
    pub(super) async fn finish_moves(&self) -> Result<(), CommandError> {
        let log = self.accounts.log();
        for former in read_payer_histories(log).await? {
            for moved in former.moves() {
                let streams = log.streams_of(moved.command).await?;
                if !streams.contains(&StreamId::account(moved.to)) {
                    self.receive(former.id, moved).await?;
                }
            }
        }
        Ok(())
    }

    /// Records moved payments with their new account and returns the account after that; `None` if it is erased.
    async fn receive(
        &self,
        from: AccountId,
        moved: PaymentMove<'_>,
    ) -> Result<Option<(Account, Position)>, CommandError> {
        let PaymentMove { command, actor, to, notices } = moved;
        let accounts = &self.accounts;
        let receiving = accounts.history(to).await?;
        let Account::Open(..) = receiving.account() else { return Ok(None) };
        let (tiers, now) = (&accounts.tiers, accounts.writer.clock.now());
        let events = account::receive_payments(receiving.account(), &notices, from, tiers, now)?;
        let after = receiving.account().clone().after(&events, now);
        if notices.iter().any(|notice| account::needs_mail(&after, notice, tiers, now)) {
            accounts.vault.queue_message(to, MessageKind::Payment, now).await?;
        }
        let claims = vec![Claim { namespace: Namespace::PAYER, name: to.to_string() }];
        accounts.append(Causation::own(command, actor), &receiving, events, claims, now).await.map(Some)
    }

    /// Returns the account, open or erased, that owns a name of payments now.
    async fn payer_of(&self, name: &str) -> Result<Option<AccountHistory>, StoreError> {
        let owner = self.accounts.log().holder(Namespace::PAYMENT, name).await?;
        match owner.and_then(|stream| stream.as_account()) {
            Some(id) => Ok(Some(self.follow_moves(self.accounts.history(id).await?, name).await?)),
            None => Ok(None),
        }
    }

    /// Returns the account that owns a name of payments now; `first` claimed it.
    pub(super) async fn follow_moves(
        &self,
        first: AccountHistory,
        name: &str,
    ) -> Result<AccountHistory, StoreError> {
        let (mut history, mut passed) = (first, Vec::new());
        while let Some(to) = history.moved_to(name) {
            passed.push(history.id);
            if passed.contains(&to) {
                return Err(StoreError::unavailable("payments are being moved between accounts; try again"));
            }
            history = self.accounts.history(to).await?;
        }
        Ok(history)
    }
}
