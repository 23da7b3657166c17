//! What runs out without anybody telling: each account is looked at when its time comes.

use std::time::Duration;

use event_log::{EventLog, Namespace, StoreError};
use health::Component;
use jiff::{SignedDuration, Timestamp};
use schemas::command::{Answer, Command, CommandMessage};
use schemas::ids::{AccountId, Actor};
use tokio_util::sync::CancellationToken;

use crate::account::{self, Account};
use crate::service::CommandService;
use crate::service::accounts::past::AccountPast;
use crate::service::refused::Refused;

/// How many accounts are looked at for one page.
const PAGE: usize = 200;

/// How long is slept at most: the clock may be set meanwhile.
const LONGEST: SignedDuration = SignedDuration::from_secs(30);

/// How long to wait before something that did not work is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// A clock that is synchronised goes back by less than this.
const SET_BACK: SignedDuration = SignedDuration::from_secs(2);

/// Who acts when time does.
const ACTOR: &str = "loggia";

/// An account that something was ever paid for, as it is.
#[derive(Debug)]
pub struct Paying {
    /// Its id.
    pub id: AccountId,
    /// What happened to it.
    pub account: Account,
}

/// Every account that something was ever paid for, erased ones included.
pub async fn read_payers(store: &EventLog) -> Result<Vec<Paying>, StoreError> {
    let pasts = read_payer_pasts(store).await?;
    Ok(pasts.into_iter().map(|past| Paying { id: past.id, account: past.into_account() }).collect())
}

/// What happened to every account that something was ever paid for.
pub(super) async fn read_payer_pasts(store: &EventLog) -> Result<Vec<AccountPast>, StoreError> {
    let (mut pasts, mut after) = (Vec::new(), String::new());
    loop {
        let claims = store.claims(Namespace::PAYER, &after, PAGE).await?;
        let Some((last, _)) = claims.last() else { return Ok(pasts) };
        after.clone_from(last);
        let streams: Vec<_> = claims.into_iter().map(|(_, stream)| stream).collect();
        let mut events = store.read_streams(&streams).await?;
        for (stream, id) in streams.iter().filter_map(|stream| Some((stream, stream.as_account()?))) {
            pasts.push(AccountPast::of(id, &events.remove(stream).unwrap_or_default())?);
        }
    }
}

impl CommandService {
    /// Ends what was paid for when its time comes, until `stop`; reports failures to a component of the process.
    pub async fn settle_payments(self, stop: CancellationToken, health: Component) {
        while let Err(error) = self.make_agenda().await {
            health.failed(format_args!("payments cannot be read from the log: {error}"));
            if stop.run_until_cancelled(tokio::time::sleep(PAUSE)).await.is_none() {
                return;
            }
        }
        let (mut is_looked_through, mut latest) = (false, self.clock.now());
        while !stop.is_cancelled() {
            let unread = self.follow_clock(&mut latest).await.err();
            let unread = unread.map(|error| format!("payments cannot be read from the log: {error}"));
            let unsettled = self.settle_due().await;
            let untidied = self.tidy(&mut is_looked_through).await.err();
            let untidied = untidied.map(|error| format!("payment notices that wait cannot be read: {error}"));
            match unread.or(unsettled).or(untidied) {
                Some(reason) => health.failed(reason),
                None => health.recovered(),
            }
            stop.run_until_cancelled(self.next_due()).await;
        }
    }

    /// Makes the agenda from the log.
    pub(in crate::service) async fn make_agenda(&self) -> Result<(), Refused> {
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        let now = self.clock.now();
        for Paying { id, account } in read_payers(&self.store).await? {
            accounts.agenda.note(id, account::next_settling(&account, &accounts.tiers, now));
        }
        Ok(())
    }

    /// Makes the agenda again where the clock was set back since `latest`: what had ended by the former time may be paid for
    /// still.
    pub(in crate::service) async fn follow_clock(&self, latest: &mut Timestamp) -> Result<(), Refused> {
        let now = self.clock.now();
        if now.duration_since(*latest) <= -SET_BACK {
            self.make_agenda().await?;
        }
        *latest = now;
        Ok(())
    }

    /// Finishes erasures and records what waited when the last process ended, unless that is done, and deletes notices that
    /// are too old to matter.
    pub(in crate::service) async fn tidy(&self, is_looked_through: &mut bool) -> Result<(), Refused> {
        if !*is_looked_through {
            self.sweep_erasures().await?;
        }
        let accounts = self.accounts.as_deref().ok_or(Refused::NoVault)?;
        let _turn = accounts.turn.lock().await;
        if !*is_looked_through {
            self.finish_moves(accounts).await?;
            self.take_waiting(accounts, self.clock.command_id(), &settler()?, None).await?;
            *is_looked_through = true;
        }
        let expired = accounts.vault.expire_notices(self.clock.now()).await?;
        if expired > 0 {
            tracing::info!(expired, "payment notices without effect were deleted after 90 days");
        }
        Ok(())
    }

    /// Brings the keys of each account whose time has come to where its payments have them. Returns why the last one that
    /// could not be settled was refused; it is tried again.
    pub(in crate::service) async fn settle_due(&self) -> Option<String> {
        let accounts = self.accounts.as_deref()?;
        let mut unsettled = None;
        for account in accounts.agenda.due(self.clock.now()) {
            let actor = settler().ok()?;
            let id = self.clock.command_id();
            let command = Command::SettlePayments { account };
            if let Answer::Refused(refusal) =
                self.handle(CommandMessage { id, actor, correlation: id, command, not_after: None }).await
            {
                unsettled = Some(format!(
                    "the keys of account {account} cannot follow its payments: {}",
                    refusal.detail
                ));
                tokio::time::sleep(PAUSE).await;
            }
        }
        unsettled
    }

    async fn next_due(&self) {
        let Some(accounts) = self.accounts.as_deref() else { return };
        let left = accounts.agenda.next().map(|time| time.duration_since(self.clock.now()));
        let wait = left.unwrap_or(LONGEST).clamp(SignedDuration::ZERO, LONGEST);
        let sleep = tokio::time::sleep(wait.unsigned_abs());
        tokio::select! {
            () = sleep => {}
            () = accounts.agenda.changed() => {}
        }
    }
}

fn settler() -> Result<Actor, Refused> {
    ACTOR.parse().map_err(|_| Refused::Impossible("nobody acts".into()))
}
