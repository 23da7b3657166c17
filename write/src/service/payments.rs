//! Payment notices: whose they are, what follows from them, and what is kept until the account is known.
//!
//! A notice belongs to the account that owns one of the ids it names, or to which that id was moved; else to the account of the
//! email address it names. A notice that names neither waits in the vault until another one connects one of its ids with an
//! account. The account claims the ids of a notice, and the id of the notice itself, in the append that records it: so each is
//! recorded once, whatever crashes between.

mod moves;
mod settlement;

use std::collections::HashSet;
use std::sync::Arc;

use event_log::{Claim, Namespace, StoreError};
use futures::future::BoxFuture;
use schemas::command::{AccountOutcome, Command, CommandMessage, CommandReply, PaymentDone, PaymentOutcome};
use schemas::email::Email;
use schemas::ids::{AccountId, Actor, CommandId, Position, StreamId};
use schemas::payment::{KeptNotice, PaymentNotice};
use vault::{MessageKind, Notice, StoredNotice};

use super::accounts::{AccountHistory, AccountService, account_done};
use super::error::CommandError;
use super::event_writer::Causation;
use super::{CommandService, CommandSpec, Lane};
use crate::account::{self, Account};
use crate::derived_id::derived_id;

pub use settlement::{Payer, Settlement, read_payers};

const LANES: &[Lane] = &[
    Lane {
        slots: 16,
        commands: &[CommandSpec::optimistic("record_payment"), CommandSpec::optimistic("keep_notice")],
    },
    Lane {
        slots: 16,
        commands: &[
            CommandSpec::optimistic("settle_payments"),
            // It changes two accounts, and looks for moves that were interrupted.
            CommandSpec::caught_up("move_payments"),
        ],
    },
];

/// Records payment notices with the accounts that they belong to.
pub struct PaymentService {
    accounts: Arc<AccountService>,
}

/// Whose a notice is.
enum Owner {
    /// This account, which may not be open yet.
    Account(AccountHistory),
    /// An erased account, and nothing shows that its holder came back.
    Erased,
    /// Not known yet.
    Unknown,
}

impl CommandService for PaymentService {
    fn lanes(&self) -> &'static [Lane] {
        LANES
    }

    fn execute(&self, message: CommandMessage) -> BoxFuture<'_, Result<CommandReply, CommandError>> {
        Box::pin(async move {
            match &message.command {
                Command::RecordPayment { notice } => {
                    self.record_payment(&message, notice).await.map(CommandReply::Payment)
                }
                Command::KeepNotice { notice } => self.keep_notice(notice).await.map(CommandReply::Payment),
                Command::SettlePayments { account } => {
                    self.settle(&message, *account).await.map(CommandReply::Account)
                }
                Command::MovePayments { provider, id, to } => {
                    self.move_payments(&message, *provider, id, to).await.map(CommandReply::Account)
                }
                other => Err(CommandError::misrouted(other)),
            }
        })
    }
}

impl PaymentService {
    /// Returns a service for the payments of these accounts.
    pub fn new(accounts: Arc<AccountService>) -> PaymentService {
        PaymentService { accounts }
    }

    /// Records a notice with its account, and every notice that waited for it; or lets it wait.
    async fn record_payment(
        &self,
        message: &CommandMessage,
        notice: &PaymentNotice,
    ) -> Result<PaymentDone, CommandError> {
        let _turn = self.accounts.turn.lock().await;
        let done = self.apply(Causation::of(message), notice).await?;
        match done.outcome {
            PaymentOutcome::Waiting => self.keep(Notice::Waiting(notice.clone())).await?,
            // One that was recorded before may have failed before the notices that waited for it were recorded.
            PaymentOutcome::Applied | PaymentOutcome::AlreadyApplied => {}
            PaymentOutcome::Kept | PaymentOutcome::Erased => return Ok(done),
        }
        let connected = Some(notice.payment.names().collect());
        self.apply_waiting(message.id, &message.actor, connected).await?;
        let event = notice.payment.event_name();
        match self.accounts.log().holder(Namespace::PAYMENT, &event).await? {
            Some(stream) => Ok(self.applied_before(message.id, notice, &stream).await?),
            None => Ok(done),
        }
    }

    /// Keeps a notice that has no effect.
    async fn keep_notice(&self, notice: &KeptNotice) -> Result<PaymentDone, CommandError> {
        let _turn = self.accounts.turn.lock().await;
        self.keep(Notice::Kept(notice.clone())).await?;
        Ok(PaymentDone { outcome: PaymentOutcome::Kept, position: Position::START })
    }

    /// Adjusts the tiers of an account's keys to what is paid for now.
    async fn settle(
        &self,
        message: &CommandMessage,
        account: AccountId,
    ) -> Result<AccountOutcome, CommandError> {
        let accounts = &self.accounts;
        let _turn = accounts.turn.lock().await;
        let history = accounts.history(account).await?;
        let decide = |account: &Account, now| Ok(account::settle_payments(account, &accounts.tiers, now));
        let (account, position) = accounts.execute_once(message, &history, decide).await?;
        Ok(account_done(account.live(), position))
    }

    /// Records a notice if its account is known; a notice that is recorded already is not recorded again.
    async fn apply(
        &self,
        causation: Causation<'_>,
        notice: &PaymentNotice,
    ) -> Result<PaymentDone, CommandError> {
        let nothing = |outcome| Ok(PaymentDone { outcome, position: Position::START });
        let event = notice.payment.event_name();
        if let Some(stream) = self.accounts.log().holder(Namespace::PAYMENT, &event).await? {
            self.accounts.vault.delete_notice(&event).await?;
            return Ok(self.applied_before(causation.command, notice, &stream).await?);
        }
        match self.owner(notice).await? {
            Owner::Account(history) => {
                let position = self.record(causation, notice, &history).await?;
                self.accounts.vault.delete_notice(&event).await?;
                Ok(PaymentDone { outcome: PaymentOutcome::Applied, position })
            }
            Owner::Erased => nothing(PaymentOutcome::Erased),
            Owner::Unknown => nothing(PaymentOutcome::Waiting),
        }
    }

    /// Returns the reply for a notice that is recorded: the first reply again for the command that recorded it, at once or
    /// after the notice had waited.
    async fn applied_before(
        &self,
        command: CommandId,
        notice: &PaymentNotice,
        stream: &StreamId,
    ) -> Result<PaymentDone, StoreError> {
        let nothing = PaymentDone { outcome: PaymentOutcome::AlreadyApplied, position: Position::START };
        let Some(id) = stream.as_account() else { return Ok(nothing) };
        let history = self.accounts.history(id).await?;
        let executed = history.after(command).or_else(|| history.after(waiting_id(command, notice)));
        Ok(executed
            .map_or(nothing, |(_, position)| PaymentDone { outcome: PaymentOutcome::Applied, position }))
    }

    /// Returns whose a notice is. The ids that it names take precedence over the address, which a payer may have mistyped or
    /// changed.
    async fn owner(&self, notice: &PaymentNotice) -> Result<Owner, CommandError> {
        let names: Vec<String> = notice.payment.names().collect();
        let owners = self.accounts.log().holders(Namespace::PAYMENT, &names).await?;
        let mut erased = false;
        for (name, id) in names.iter().filter_map(|name| Some((name, owners.get(name)?.as_account()?))) {
            let history = self.follow_moves(self.accounts.history(id).await?, name).await?;
            match history.account() {
                Account::Open(..) => return Ok(Owner::Account(history)),
                Account::Absent | Account::Erased(_) => erased = true,
            }
        }
        match (&notice.email, erased) {
            (Some(email), _) => self.owner_by_email(notice, email, erased).await,
            (None, true) => Ok(Owner::Erased),
            (None, false) => Ok(Owner::Unknown),
        }
    }

    /// Returns whose a notice is by its address. A subscription that outlives an erased account does not open another one: it
    /// counts only for an account that its holder has opened since.
    async fn owner_by_email(
        &self,
        notice: &PaymentNotice,
        email: &Email,
        erased: bool,
    ) -> Result<Owner, CommandError> {
        let history = self.accounts.unerased_history(email).await?;
        match history.account() {
            Account::Open(..) => Ok(Owner::Account(history)),
            Account::Absent | Account::Erased(_) if erased => Ok(Owner::Erased),
            Account::Absent | Account::Erased(_) if self.opens_account(notice).await? => {
                Ok(Owner::Account(history))
            }
            Account::Absent | Account::Erased(_) => Ok(Owner::Unknown),
        }
    }

    /// Returns whether a notice may open an account: it pays for a tier, or a waiting notice of the same subscription or customer
    /// does. Customers who buy something else from the same seller get no account.
    async fn opens_account(&self, notice: &PaymentNotice) -> Result<bool, CommandError> {
        if notice.payment.tier.is_some() {
            return Ok(true);
        }
        let names: Vec<String> = notice.payment.names().collect();
        let waiting = self.accounts.vault.waiting_notices_for(&names).await?;
        Ok(waiting.iter().any(|other| other.payment.tier.is_some()))
    }

    /// Records a notice with an account. The mail is queued first: an extra one does less harm than a missing one.
    async fn record(
        &self,
        causation: Causation<'_>,
        notice: &PaymentNotice,
        history: &AccountHistory,
    ) -> Result<Position, CommandError> {
        let accounts = &self.accounts;
        let (payment, now) = (&notice.payment, accounts.writer.clock.now());
        let events = account::record_payment(history.account(), payment, &accounts.tiers, now)?;
        if let (Account::Absent, Some(email)) = (history.account(), &notice.email) {
            accounts.enter_address(email, history.id).await?;
        }
        let after = history.account().clone().after(&events, now);
        if account::needs_mail(&after, payment, &accounts.tiers, now) {
            accounts.vault.queue_message(history.id, MessageKind::Payment, now).await?;
        }
        if after.payments().is_some_and(|payments| payments.is_unclear(payment)) {
            tracing::warn!(
                event = %payment.event_id,
                account = %history.id,
                "a refund names no payment that is known, so it ends nothing; `loggia payments list` shows it as unclear: look \
                 at it, and let Stripe send invoice_payment.paid, which says what a refund is about"
            );
        }
        let claims = self.unclaimed(notice, history.id).await?;
        Ok(accounts.append(causation, history, events, claims, now).await?.1)
    }

    /// Returns the claims of an account that records a notice: all names of the notice that no account has yet.
    async fn unclaimed(&self, notice: &PaymentNotice, account: AccountId) -> Result<Vec<Claim>, StoreError> {
        let names: Vec<String> =
            std::iter::once(notice.payment.event_name()).chain(notice.payment.names()).collect();
        let owners = self.accounts.log().holders(Namespace::PAYMENT, &names).await?;
        let mut claims: Vec<Claim> = Vec::new();
        for name in names.into_iter().filter(|name| !owners.contains_key(name)) {
            let claim = Claim { namespace: Namespace::PAYMENT, name };
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        claims.push(Claim { namespace: Namespace::PAYER, name: account.to_string() });
        Ok(claims)
    }

    async fn keep(&self, notice: Notice) -> Result<(), CommandError> {
        let received_at = self.accounts.writer.clock.now();
        Ok(self.accounts.vault.store_notice(&StoredNotice { received_at, notice }).await?)
    }

    /// Records the waiting notices whose account is known by now: all, or those that share a name with `connected`. One may
    /// connect the next.
    async fn apply_waiting(
        &self,
        command: CommandId,
        actor: &Actor,
        mut connected: Option<HashSet<String>>,
    ) -> Result<(), CommandError> {
        let vault = &self.accounts.vault;
        loop {
            let mut applied = false;
            let waiting = match &connected {
                Some(names) => vault.waiting_notices_for(names).await?,
                None => vault.waiting_notices().await?,
            };
            for notice in waiting {
                let causation = Causation::own(waiting_id(command, &notice), actor);
                let outcome = self.apply(causation, &notice).await?.outcome;
                if outcome == PaymentOutcome::Erased {
                    vault.delete_notice(&notice.payment.event_name()).await?;
                }
                if outcome == PaymentOutcome::Applied {
                    connected.iter_mut().for_each(|names| names.extend(notice.payment.names()));
                    applied = true;
                }
            }
            if !applied {
                return Ok(());
            }
        }
    }
}

/// Returns the id under which a waiting notice is recorded, derived from the command that connects it with its account.
fn waiting_id(command: CommandId, notice: &PaymentNotice) -> CommandId {
    derived_id(command, &notice.payment.event_name(), 0)
}

#[cfg(test)]
mod tests;
