//! Adjusts keys when what is paid for ends without a notice: each account at its time.

use std::sync::Arc;
use std::time::Duration;

use event_log::{EventLog, Namespace, StoreError};
use health::Component;
use jiff::{SignedDuration, Timestamp};
use schemas::command::{Command, CommandMessage, CommandReply};
use schemas::ids::{AccountId, Actor};
use tokio_util::sync::CancellationToken;

use super::{CommandError, PaymentService};
use crate::account::{self, Account};
use crate::service::accounts::AccountHistory;
use crate::service::dispatcher::CommandDispatcher;

const PAGE: usize = 200;

/// The longest sleep: the clock may be set meanwhile.
const LONGEST_SLEEP: SignedDuration = SignedDuration::from_secs(30);

/// The pause before something that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// A clock that is synchronised is set back by less than this.
const SET_BACK: SignedDuration = SignedDuration::from_secs(2);

/// The actor of the commands.
const ACTOR: &str = "loggia";

/// An account with payments.
#[derive(Debug)]
pub struct Payer {
    /// Its id.
    pub id: AccountId,
    /// Its state.
    pub account: Account,
}

/// Returns every account that ever had a payment, erased ones included.
///
/// # Errors
///
/// Fails if the log cannot be read, or has events of a newer version.
pub async fn read_payers(log: &EventLog) -> Result<Vec<Payer>, StoreError> {
    let histories = read_payer_histories(log).await?;
    let payer = |history: AccountHistory| Payer { id: history.id, account: history.into_account() };
    Ok(histories.into_iter().map(payer).collect())
}

/// Returns the history of every account that ever had a payment.
pub(super) async fn read_payer_histories(log: &EventLog) -> Result<Vec<AccountHistory>, StoreError> {
    let (mut histories, mut after) = (Vec::new(), String::new());
    loop {
        let claims = log.claims(Namespace::PAYER, &after, PAGE).await?;
        let Some((last, _)) = claims.last() else { return Ok(histories) };
        after.clone_from(last);
        let streams: Vec<_> = claims.into_iter().map(|(_, stream)| stream).collect();
        let mut events = log.read_streams(&streams).await?;
        for (stream, id) in streams.iter().filter_map(|stream| Some((stream, stream.as_account()?))) {
            histories.push(AccountHistory::of(id, &events.remove(stream).unwrap_or_default())?);
        }
    }
}

/// The worker that settles accounts when their paid periods end, and finishes at the start what a former process left.
pub struct Settlement {
    payments: Arc<PaymentService>,
    commands: Arc<CommandDispatcher>,
}

impl Settlement {
    /// Returns the worker; it sends its commands to this dispatcher.
    pub fn new(payments: Arc<PaymentService>, commands: Arc<CommandDispatcher>) -> Settlement {
        Settlement { payments, commands }
    }

    /// Works until `stop`; reports failures to a component of the process.
    pub async fn run(self, stop: CancellationToken, health: Component) {
        while let Err(error) = self.payments.rebuild_schedule().await {
            health.failed(format_args!("payments cannot be read from the log: {error}"));
            if stop.run_until_cancelled(tokio::time::sleep(PAUSE)).await.is_none() {
                return;
            }
        }
        let (mut is_recovered, mut latest) = (false, self.payments.accounts.writer.clock.now());
        while !stop.is_cancelled() {
            let unread = self.payments.follow_clock(&mut latest).await.err();
            let unread = unread.map(|error| format!("payments cannot be read from the log: {error}"));
            let unsettled = self.settle_due().await;
            let untidied = self.payments.clean_up(&mut is_recovered).await.err();
            let untidied = untidied.map(|error| format!("payment notices that wait cannot be read: {error}"));
            match unread.or(unsettled).or(untidied) {
                Some(reason) => health.failed(reason),
                None => health.recovered(),
            }
            stop.run_until_cancelled(self.payments.next_due()).await;
        }
    }

    /// Settles each account whose time has come. Returns why the last one that failed did; it is tried again.
    pub(super) async fn settle_due(&self) -> Option<String> {
        let accounts = &self.payments.accounts;
        let mut unsettled = None;
        for account in accounts.schedule.due(accounts.writer.clock.now()) {
            let actor = actor().ok()?;
            let id = accounts.writer.clock.command_id();
            let command = Command::SettlePayments { account };
            if let CommandReply::Failed(failure) =
                self.commands.execute(CommandMessage::new(id, actor, command)).await
            {
                unsettled = Some(format!(
                    "the keys of account {account} cannot follow its payments: {}",
                    failure.detail
                ));
                tokio::time::sleep(PAUSE).await;
            }
        }
        unsettled
    }
}

impl PaymentService {
    /// Rebuilds the schedule of settlements from the log.
    pub(in crate::service) async fn rebuild_schedule(&self) -> Result<(), CommandError> {
        let accounts = &self.accounts;
        let _turn = accounts.turn.lock().await;
        let now = accounts.writer.clock.now();
        for Payer { id, account } in read_payers(accounts.log()).await? {
            accounts.schedule.set(id, account::next_settlement(&account, &accounts.tiers, now));
        }
        Ok(())
    }

    /// Rebuilds the schedule if the clock was set back since `latest`: a period that had ended by the former time may still run.
    pub(super) async fn follow_clock(&self, latest: &mut Timestamp) -> Result<(), CommandError> {
        let now = self.accounts.writer.clock.now();
        if now.duration_since(*latest) <= -SET_BACK {
            self.rebuild_schedule().await?;
        }
        *latest = now;
        Ok(())
    }

    /// Finishes erasures and moves and records waiting notices, once after the start, and deletes notices that have expired.
    pub(in crate::service) async fn clean_up(&self, is_recovered: &mut bool) -> Result<(), CommandError> {
        let accounts = &self.accounts;
        if !*is_recovered {
            accounts.finish_erasures().await?;
        }
        let _turn = accounts.turn.lock().await;
        if !*is_recovered {
            self.finish_moves().await?;
            self.apply_waiting(accounts.writer.clock.command_id(), &actor()?, None).await?;
            *is_recovered = true;
        }
        let expired = accounts.vault.delete_old_notices(accounts.writer.clock.now()).await?;
        if expired > 0 {
            tracing::info!(expired, "payment notices without effect were deleted after 90 days");
        }
        Ok(())
    }

    /// Waits until an account is due, the schedule changes, or the longest sleep is over.
    async fn next_due(&self) {
        let accounts = &self.accounts;
        let left = accounts.schedule.next().map(|time| time.duration_since(accounts.writer.clock.now()));
        let wait = left.unwrap_or(LONGEST_SLEEP).clamp(SignedDuration::ZERO, LONGEST_SLEEP);
        let sleep = tokio::time::sleep(wait.unsigned_abs());
        tokio::select! {
            () = sleep => {}
            () = accounts.schedule.changed() => {}
        }
    }
}

fn actor() -> Result<Actor, CommandError> {
    ACTOR.parse().map_err(|_| CommandError::Invalid("there is no actor".into()))
}
