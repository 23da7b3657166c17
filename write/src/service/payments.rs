//! What payment providers tell: whose it is, what follows, and what is kept until somebody can say.
//!
//! A notice belongs to the account that holds one of the ids it names, or to which that was moved, or else to the address it
//! names. One that names
//! neither waits in the vault until another brings an id of it together with an account. The account claims the ids of
//! a notice, and the notice's own, in the append that records it: so each is applied once, whatever crashes between.

mod moving;
mod settling;

use std::collections::HashSet;

use event_log::{Claim, Namespace, StoreError};
use schemas::command::{CommandMessage, PaymentDone, PaymentOutcome};
use schemas::email::Email;
use schemas::ids::{Actor, CommandId, Position, StreamId};
use schemas::payment::{KeptNotice, PaymentNotice};
use vault::{Held, HeldNotice, LetterKind};

use super::accounts::past::AccountPast;
use super::refused::Refused;
use super::{Accounts, Cause, CommandService};
use crate::account::{self, Account};
use crate::derived_id::derived_id;

pub use settling::{Paying, read_payers};

/// Whose a notice is.
enum Payer {
    /// This account's, which may have to be opened.
    Account(AccountPast),
    /// An account's that was erased, and nothing says that its holder came back.
    Erased,
    /// Nothing says whose.
    Unknown,
}

impl CommandService {
    /// Records a notice with its account, and all that waited for it; or lets it wait.
    pub(super) async fn record_payment(
        &self,
        message: &CommandMessage,
        notice: &PaymentNotice,
    ) -> Result<PaymentDone, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        let cause = Cause { command: message.id, correlation: message.correlation, actor: &message.actor };
        let done = self.take(accounts, cause, notice).await?;
        match done.outcome {
            PaymentOutcome::Waiting => self.hold(accounts, HeldNotice::Waiting(notice.clone())).await?,
            // One that was recorded before may have failed to bring along what waited for it.
            PaymentOutcome::Applied | PaymentOutcome::AlreadyApplied => {}
            PaymentOutcome::Kept | PaymentOutcome::Erased => return Ok(done),
        }
        let touched = Some(notice.payment.names().collect());
        self.take_waiting(accounts, message.id, &message.actor, touched).await?;
        match self.store.holder(Namespace::PAYMENT, &notice.payment.event_name()).await? {
            Some(stream) => Ok(self.recorded_before(message.id, notice, &stream).await?),
            None => Ok(done),
        }
    }

    /// Keeps a notice that has no effect.
    pub(super) async fn keep_notice(&self, notice: &KeptNotice) -> Result<PaymentDone, Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        self.hold(accounts, HeldNotice::Kept(notice.clone())).await?;
        Ok(PaymentDone { outcome: PaymentOutcome::Kept, position: Position::START })
    }

    async fn take(
        &self,
        accounts: &Accounts,
        cause: Cause<'_>,
        notice: &PaymentNotice,
    ) -> Result<PaymentDone, Refused> {
        let nothing = |outcome| Ok(PaymentDone { outcome, position: Position::START });
        let event = notice.payment.event_name();
        if let Some(stream) = self.store.holder(Namespace::PAYMENT, &event).await? {
            accounts.vault.let_go(&event).await?;
            return Ok(self.recorded_before(cause.command, notice, &stream).await?);
        }
        match self.payer(accounts, notice).await? {
            Payer::Account(past) => {
                let position = self.apply(accounts, cause, notice, &past).await?;
                accounts.vault.let_go(&event).await?;
                Ok(PaymentDone { outcome: PaymentOutcome::Applied, position })
            }
            Payer::Erased => nothing(PaymentOutcome::Erased),
            Payer::Unknown => nothing(PaymentOutcome::Waiting),
        }
    }

    /// The answer for a notice that is recorded: the same as the first time for the command that recorded it, at once or
    /// after a moment's waiting.
    async fn recorded_before(
        &self,
        command: CommandId,
        notice: &PaymentNotice,
        stream: &StreamId,
    ) -> Result<PaymentDone, StoreError> {
        let nothing = PaymentDone { outcome: PaymentOutcome::AlreadyApplied, position: Position::START };
        let Some(id) = stream.as_account() else { return Ok(nothing) };
        let past = AccountPast::read(&self.store, id).await?;
        let done = past.after(command).or_else(|| past.after(waited(command, notice)));
        Ok(done.map_or(nothing, |(_, position)| PaymentDone { outcome: PaymentOutcome::Applied, position }))
    }

    /// Finds whose a notice is: the ids that it names come before the address, which a payer may have mistyped or
    /// changed.
    async fn payer(&self, accounts: &Accounts, notice: &PaymentNotice) -> Result<Payer, Refused> {
        let names: Vec<String> = notice.payment.names().collect();
        let holders = self.store.holders(Namespace::PAYMENT, &names).await?;
        let mut erased = false;
        for (name, id) in names.iter().filter_map(|name| Some((name, holders.get(name)?.as_account()?))) {
            let past = self.follow(AccountPast::read(&self.store, id).await?, name).await?;
            match past.account() {
                Account::Open(..) => return Ok(Payer::Account(past)),
                Account::Absent | Account::Erased(_) => erased = true,
            }
        }
        match (&notice.email, erased) {
            (Some(email), _) => self.payer_at(accounts, notice, email, erased).await,
            (None, true) => Ok(Payer::Erased),
            (None, false) => Ok(Payer::Unknown),
        }
    }

    /// The account of an address. A subscription that outlives an erased account brings its address back to nobody: only
    /// an account that its holder has opened since gets what it pays for.
    async fn payer_at(
        &self,
        accounts: &Accounts,
        notice: &PaymentNotice,
        email: &Email,
        erased: bool,
    ) -> Result<Payer, Refused> {
        let mut past = match accounts.vault.account_of(email).await? {
            Some(id) => AccountPast::read(&self.store, id).await?,
            None => AccountPast::nothing(self.clock.account_id()),
        };
        if let Account::Erased(_) = past.account() {
            // The row that a crash left behind.
            accounts.vault.erase(past.id).await?;
            past = AccountPast::nothing(self.clock.account_id());
        }
        match past.account() {
            Account::Open(..) => Ok(Payer::Account(past)),
            Account::Absent | Account::Erased(_) if erased => Ok(Payer::Erased),
            Account::Absent | Account::Erased(_) if self.opens(accounts, notice).await? => {
                Ok(Payer::Account(past))
            }
            Account::Absent | Account::Erased(_) => Ok(Payer::Unknown),
        }
    }

    /// Whether an account may be opened for a notice: it says that a tier is paid for, or one that waits and names the same
    /// subscription or customer does. Who buys something else from the same seller is no concern of ours.
    async fn opens(&self, accounts: &Accounts, notice: &PaymentNotice) -> Result<bool, Refused> {
        if notice.payment.tier.is_some() {
            return Ok(true);
        }
        let names: Vec<String> = notice.payment.names().collect();
        let waiting = accounts.vault.waiting_for(&names).await?;
        Ok(waiting.iter().any(|other| other.payment.tier.is_some()))
    }

    /// Records a notice with an account. The letter is queued first: one too many does less harm than none.
    async fn apply(
        &self,
        accounts: &Accounts,
        cause: Cause<'_>,
        notice: &PaymentNotice,
        past: &AccountPast,
    ) -> Result<Position, Refused> {
        let (payment, now) = (&notice.payment, self.clock.now());
        let events = account::pay(past.account(), payment, &accounts.tiers, now)?;
        if let (Account::Absent, Some(email)) = (past.account(), &notice.email)
            && accounts.vault.enter(email, past.id).await? != past.id
        {
            return Err(Refused::Contended);
        }
        let after = past.account().clone().after(&events, now);
        if account::calls_for_letter(&after, payment, &accounts.tiers, now) {
            accounts.vault.queue(past.id, LetterKind::Payment, now).await?;
        }
        if after.payments().is_some_and(|payments| payments.is_unclear(payment)) {
            tracing::warn!(
                event = %payment.event_id,
                account = %past.id,
                "a refund names no payment that is known, so it ends nothing; `loggia payments list` shows it as unclear: look \
                 at it, and let Stripe send invoice_payment.paid, which says what a refund is about"
            );
        }
        let claims = self.claims(notice, past).await?;
        Ok(self.append_account(cause, past, events, claims, now).await?.1)
    }

    /// The names that the account claims with a notice: all that no other account has.
    async fn claims(&self, notice: &PaymentNotice, past: &AccountPast) -> Result<Vec<Claim>, StoreError> {
        let names: Vec<String> =
            std::iter::once(notice.payment.event_name()).chain(notice.payment.names()).collect();
        let holders = self.store.holders(Namespace::PAYMENT, &names).await?;
        let mut claims: Vec<Claim> = Vec::new();
        for name in names.into_iter().filter(|name| !holders.contains_key(name)) {
            let claim = Claim { namespace: Namespace::PAYMENT, name };
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        claims.push(Claim { namespace: Namespace::PAYER, name: past.id.to_string() });
        Ok(claims)
    }

    async fn hold(&self, accounts: &Accounts, notice: HeldNotice) -> Result<(), Refused> {
        Ok(accounts.vault.hold(&Held { received_at: self.clock.now(), notice }).await?)
    }

    /// Records what waited and has found its account by now: all, or what is connected with these names. One may bring the
    /// next along.
    async fn take_waiting(
        &self,
        accounts: &Accounts,
        command: CommandId,
        actor: &Actor,
        mut touched: Option<HashSet<String>>,
    ) -> Result<(), Refused> {
        loop {
            let mut applied = false;
            let waiting = match &touched {
                Some(touched) => accounts.vault.waiting_for(touched).await?,
                None => accounts.vault.waiting().await?,
            };
            for notice in waiting {
                let command = waited(command, &notice);
                let cause = Cause { command, correlation: command, actor };
                let outcome = self.take(accounts, cause, &notice).await?.outcome;
                if outcome == PaymentOutcome::Erased {
                    accounts.vault.let_go(&notice.payment.event_name()).await?;
                }
                if outcome == PaymentOutcome::Applied {
                    touched.iter_mut().for_each(|touched| touched.extend(notice.payment.names()));
                    applied = true;
                }
            }
            if !applied {
                return Ok(());
            }
        }
    }
}

/// The command that records a notice which waited, as a part of the one that brought it along.
fn waited(command: CommandId, notice: &PaymentNotice) -> CommandId {
    derived_id(command, &notice.payment.event_name(), 0)
}

#[cfg(test)]
mod tests;
