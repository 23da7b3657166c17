//! Takes a call to its outcome: counted by NATS, waiting for an election, in the spool, or refused.

use std::time::Duration;

use schemas::usage::{Call, Counted};
use tokio::time::Instant;

use super::breaker::{Breaker, RetryGuard, Turn};
use super::outage::ShareOfBudget;
use super::publisher::Published;
use super::unconfirmed::Reservation;
use super::waiting::Place;
use super::{Budget, Inner};

/// The timeout of one attempt to publish a call that the spool would take otherwise.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The timeout of a call on a node that refuses calls which NATS cannot count. After it, further calls are refused at once.
const STRICT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the connection to NATS may be lost before such calls are refused.
const RECONNECT_TIMEOUT: Duration = Duration::from_millis(250);
/// How long a call of unknown outcome is published again before it is answered; longer than a restart of nats-server.
const UNKNOWN_OUTCOME_TIMEOUT: Duration = Duration::from_secs(5);
/// The delay before a call is published again, and the least time that another attempt needs.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Why the outcome of a call at NATS is unknown.
struct UnknownOutcome {
    reason: String,
    /// Whether the call may count.
    may_count: bool,
}

/// What a call holds until its outcome is known.
#[derive(Default)]
struct Attempt {
    /// Held once it was published and may count, so that it must be answered unless NATS refuses it.
    retrying: Option<RetryGuard>,
    /// Its place among those that wait.
    place: Option<Place>,
    /// Its part of the node's share, where that binds.
    share: Option<ShareOfBudget>,
}

impl Attempt {
    fn may_count(&self) -> bool {
        self.retrying.is_some()
    }

    /// Keeps its part of the share: it counts.
    fn counts(self) {
        if let Some(share) = self.share {
            share.keep();
        }
    }
}

impl Inner {
    /// Returns whether the call counts, or why that is unknown. Waits while the stream may be electing its leader; afterwards the spool
    /// takes the call.
    pub(super) async fn count_or_spool(
        &self,
        budget: &Budget,
        call: &Call,
        limit: u64,
        counted: &impl Fn() -> Counted,
        until: Instant,
    ) -> Result<bool, String> {
        let breaker = self.breakers.of(&budget.tier);
        let mut attempt = Attempt::default();
        let is_open = loop {
            let turn = breaker.turn(attempt.may_count(), || self.spool.holds(&budget.tier));
            match turn {
                Turn::Divert => break true,
                Turn::Wait => {}
                Turn::Publish | Turn::Probe => {
                    self.take_share(&mut attempt, turn, (budget, limit), counted)?;
                    let began = std::time::Instant::now();
                    // Publishing the same id again is harmless and determines the outcome of the first attempt.
                    match self.publish(budget, call, &breaker, TIMEOUT).await {
                        Ok(true) => {
                            attempt.counts();
                            return Ok(true);
                        }
                        Ok(false) => return Ok(false),
                        Err(unknown) => {
                            if unknown.may_count && !attempt.may_count() {
                                attempt.retrying = Some(breaker.retrying());
                            }
                            breaker.failed(began, &unknown.reason);
                        }
                    }
                }
            }
            if Instant::now() + RETRY_DELAY >= until {
                break false;
            }
            if attempt.place.is_none() {
                let place = self.waiting.place(budget.key_id, attempt.may_count());
                attempt.place =
                    Some(place.ok_or("NATS does not count calls at present, and too many wait for it")?);
            }
            breaker.wait().await;
        };
        match is_open || attempt.may_count() {
            true => self.divert(call, (budget, limit), counted, attempt).await,
            false => Err("NATS does not count calls at present, and the time of this one is up".into()),
        }
    }

    /// Takes a call from the node's share where that binds. A call that may count is published whatever is left, and so is a probe once
    /// NATS answers again.
    fn take_share(
        &self,
        attempt: &mut Attempt,
        turn: Turn,
        (budget, limit): (&Budget, u64),
        counted: &impl Fn() -> Counted,
    ) -> Result<(), String> {
        if attempt.share.is_some() || !self.outage.is_limited() {
            return Ok(());
        }
        attempt.share = self.outage.take(budget, limit, || self.unconfirmed.usage(budget, counted()));
        let is_due = attempt.may_count() || (turn == Turn::Probe && !self.outage.is_away());
        match attempt.share.is_some() || is_due {
            true => Ok(()),
            false => {
                Err("NATS was away, and this node's share of what was left of the quota is used up".into())
            }
        }
    }

    /// Adds a call to the spool. One that may count is added in any case; another one within the node's share.
    async fn divert(
        &self,
        call: &Call,
        (budget, limit): (&Budget, u64),
        counted: &impl Fn() -> Counted,
        mut attempt: Attempt,
    ) -> Result<bool, String> {
        if !self.outage.is_limited() {
            self.outage.begin();
        }
        if attempt.share.is_none() {
            attempt.share = self.outage.take(budget, limit, || self.unconfirmed.usage(budget, counted()));
        }
        let may_count = attempt.may_count();
        let reservation = match may_count {
            true => self.unconfirmed.take(budget),
            false => match self.unconfirmed.reserve(budget, counted(), limit) {
                Some(reservation) => reservation,
                None => return Ok(false),
            },
        };
        if attempt.share.is_some() {
            // It still is: calls go to the spool.
            self.outage.begin();
        } else if !may_count {
            return Err("NATS is away, and this node's share of what was left of the quota is used up".into());
        }
        let added = self.add_to_spool(call, !may_count, reservation).await?;
        attempt.counts();
        Ok(added)
    }

    pub(super) async fn count_or_refuse(
        &self,
        budget: &Budget,
        call: &Call,
        until: Instant,
    ) -> Result<bool, String> {
        let breaker = self.breakers.of(&budget.tier);
        let began = std::time::Instant::now();
        let mut retry_guard = None;
        loop {
            let turn = || breaker.turn(false, || self.spool.holds(&budget.tier));
            if retry_guard.is_none() && !matches!(turn(), Turn::Publish | Turn::Probe) {
                return Err("NATS does not count calls at present".into());
            }
            let published = std::time::Instant::now();
            match self.publish(budget, call, &breaker, STRICT_TIMEOUT).await {
                Ok(counts) => return Ok(counts),
                Err(UnknownOutcome { reason, may_count: false }) if retry_guard.is_none() => {
                    if began.elapsed() >= RECONNECT_TIMEOUT {
                        breaker.failed(published, &reason);
                        return Err(reason);
                    }
                }
                Err(UnknownOutcome { reason, may_count }) => {
                    breaker.failed(published, &reason);
                    if may_count {
                        retry_guard.get_or_insert_with(|| breaker.retrying());
                    }
                }
            }
            if retry_guard.is_some()
                && (began.elapsed() >= UNKNOWN_OUTCOME_TIMEOUT || Instant::now() + RETRY_DELAY >= until)
            {
                break;
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        tracing::warn!(call = %call.id, "it is not known whether a call counts; it is answered, and published again \
                                         later");
        self.add_to_spool(call, false, self.unconfirmed.take(budget)).await
    }

    /// Publishes a call once; returns whether it counts.
    async fn publish(
        &self,
        budget: &Budget,
        call: &Call,
        breaker: &Breaker,
        time_limit: Duration,
    ) -> Result<bool, UnknownOutcome> {
        let unknown = |reason, may_count| {
            self.trouble.notify_one();
            Err(UnknownOutcome { reason, may_count })
        };
        let counts = match self.publisher.publish(call, time_limit).await {
            Published::Counted { sequence } => {
                self.unconfirmed.counted(budget, sequence);
                true
            }
            Published::Full => false,
            Published::NotStored(reason) => return unknown(reason, false),
            Published::Unknown(reason) => return unknown(reason, true),
        };
        breaker.succeeded();
        Ok(counts)
    }

    /// Adds a call to the spool.
    async fn add_to_spool(
        &self,
        call: &Call,
        is_unsent: bool,
        reservation: Reservation,
    ) -> Result<bool, String> {
        match self.spool.append(call, is_unsent, reservation).await {
            Ok(()) => {
                self.keeping.recovered();
                Ok(true)
            }
            Err(error) => {
                let reason = format!("NATS does not count calls, and the spool cannot take them: {error}");
                self.keeping.failed(&reason);
                Err(reason)
            }
        }
    }
}
