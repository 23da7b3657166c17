//! Metering: counts each call exactly once against the monthly quota of its key. The API charges every call here before it
//! answers it; the binary shows the spool and `loggia bench` measures it.
//!
//! NATS decides: the stream of a tier takes as many messages under one subject as the quota allows and refuses the next,
//! atomically, for any number of nodes. A call is published and acknowledged before it is answered, so that a refused call never
//! counts. While NATS is unreachable, calls go to a durable spool beside the node and are published with the same ids afterwards
//! (ADR 8).
//!
//! [`Meter`] is the only entrance. `publisher` publishes a call to its stream, with a definite outcome or none; `unconfirmed` has
//! the calls that the counters have not seen yet; `breaker` diverts calls from a failing stream to the `spool`, and `drain`
//! publishes the spool afterwards.

mod breaker;
mod drain;
mod publisher;
mod spool;
mod unconfirmed;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use health::{Component, Health};
use schemas::clock::Clock;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};
use schemas::usage::{Call, Counted};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use breaker::{Breaker, Breakers};
use publisher::{Published, UsagePublisher};
use spool::Spool;
use unconfirmed::{Reservation, UnconfirmedUsage};

pub use spool::{SpoolError, abandoned_calls};

/// The timeout of one attempt to publish a call that the spool would take otherwise.
const TIMEOUT: Duration = Duration::from_millis(500);
/// How long a stream may fail before calls are spooled: longer than a cluster needs to elect a leader.
const ELECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// The timeout of a call on a node that refuses calls which NATS cannot count. After it, further calls are refused at once.
const STRICT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the connection to NATS may be lost before such calls are refused.
const RECONNECT_TIMEOUT: Duration = Duration::from_millis(250);
/// How long a call of unknown outcome is published again before it is answered; longer than a restart of nats-server.
const UNKNOWN_OUTCOME_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a node may refuse calls before it is not ready.
const STRICT_READINESS: Duration = Duration::from_secs(2);
/// The delay before a call is published again.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// What becomes of calls that NATS cannot count at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// They are answered against the last known remaining quota and counted afterwards.
    Spool,
    /// They are refused, except those of unknown outcome that may count.
    Refuse,
}

/// The settings of metering.
#[derive(Clone)]
pub struct MeterSettings {
    /// The folder of the spool; several nodes may share it.
    pub folder: PathBuf,
    /// What becomes of calls that NATS cannot count at present.
    pub policy: Policy,
    /// The maximum size of this node's spool in bytes; further calls are refused.
    pub spool_limit: u64,
    /// The tiers that have streams.
    pub tiers: Tiers,
    /// Receives the failures of streams and spool.
    pub health: Health,
    /// The clock.
    pub clock: Clock,
}

/// The quota of one key in one month and tier.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Budget {
    /// The key.
    pub key_id: KeyId,
    /// Its tier.
    pub tier: Arc<TierName>,
    /// The month.
    pub month: Month,
}

/// The outcome of charging a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It counts, now or later, and must be answered.
    Counted {
        /// The number of calls that count against the budget now.
        used: u64,
    },
    /// The budget is used up; the call does not count.
    Exceeded,
    /// It cannot be counted at present; the reason is for the log.
    Unavailable(String),
}

/// Counts the calls of one node; clones share it.
#[derive(Clone)]
pub struct Meter {
    inner: Arc<Inner>,
}

struct Inner {
    publisher: UsagePublisher,
    unconfirmed: Arc<UnconfirmedUsage>,
    spool: Arc<Spool>,
    breakers: Breakers,
    policy: Policy,
    tiers: Tiers,
    /// Reports whether the spool can be published.
    draining: Component,
    /// Reports whether calls can be spooled.
    keeping: Component,
    clock: Clock,
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("policy", &self.inner.policy).finish_non_exhaustive()
    }
}

impl Meter {
    /// Meters over this connection. Adopts the spool files of processes that have ended and reads them once, which takes time for a
    /// large spool and blocks on the disk.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read or written.
    pub fn open(client: async_nats::Client, settings: MeterSettings) -> Result<Meter, SpoolError> {
        let MeterSettings { folder, policy, spool_limit, tiers, health, clock } = settings;
        let (spool, left) = Spool::open(&folder, spool_limit)?;
        let unconfirmed = Arc::new(UnconfirmedUsage::default());
        for (budget, calls) in left {
            unconfirmed.spooled(&budget, calls);
        }
        let breakers = match policy {
            // Calls are still answered, so readiness does not depend on it.
            Policy::Spool => Breakers::new(ELECTION_TIMEOUT, Duration::MAX, health.clone()),
            Policy::Refuse => Breakers::new(Duration::ZERO, STRICT_READINESS, health.clone()),
        };
        let draining = health.component("spool").grace_period(Duration::MAX);
        let keeping = health.component("spool writes").grace_period(Duration::ZERO);
        let (publisher, spool) = (UsagePublisher::new(client), Arc::new(spool));
        let inner =
            Inner { publisher, unconfirmed, spool, breakers, policy, tiers, draining, keeping, clock };
        Ok(Meter { inner: Arc::new(inner) })
    }

    /// Publishes the spool whenever NATS is reachable, until `stop`. The next process on the folder publishes the rest.
    ///
    /// # Errors
    ///
    /// If the thread that writes the spool has ended: no further call could be spooled.
    pub async fn run(self, stop: CancellationToken) -> Result<(), SpoolError> {
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            () = drain::run(&self.inner) => Ok(()),
            failure = self.inner.spool.writer_ended() => Err(failure),
        }
    }

    /// Returns the number of calls in the spool.
    pub fn spooled(&self) -> u64 {
        self.inner.spool.waiting()
    }

    /// Returns the size of the spool in bytes.
    pub fn spooled_bytes(&self) -> u64 {
        self.inner.spool.bytes()
    }

    /// Returns the number of calls that count against a budget as far as this node knows: the counters, and its own calls that they
    /// have not seen yet.
    pub fn used(&self, budget: &Budget, counted: Counted) -> u64 {
        self.inner.unconfirmed.used(budget, counted)
    }

    /// Charges a call before it is answered. `counted` is the budget's counter and `limit` its quota. After `until` no further
    /// attempt is made, and the outcome follows from those made.
    pub async fn count(
        &self,
        budget: &Budget,
        call: &Call,
        limit: u64,
        counted: Counted,
        until: Instant,
    ) -> Outcome {
        let outcome = match self.inner.policy {
            Policy::Spool => self.inner.count_or_spool(budget, call, limit, counted, until).await,
            Policy::Refuse => self.inner.count_or_refuse(budget, call, until).await,
        };
        match outcome {
            Ok(true) => Outcome::Counted { used: self.used(budget, counted) },
            Ok(false) => Outcome::Exceeded,
            Err(reason) => Outcome::Unavailable(reason),
        }
    }
}

impl Budget {
    fn of(call: &Call) -> Budget {
        Budget { key_id: call.key_id, tier: Arc::new(call.tier.clone()), month: call.month }
    }
}

/// Why the outcome of a call at NATS is unknown.
struct UnknownOutcome {
    reason: String,
    /// Whether the call may count.
    may_count: bool,
}

impl Inner {
    /// Returns whether the call counts, or why that is unknown.
    async fn count_or_spool(
        &self,
        budget: &Budget,
        call: &Call,
        limit: u64,
        counted: Counted,
        until: Instant,
    ) -> Result<bool, String> {
        let breaker = self.breakers.of(&budget.tier);
        let mut may_count = false;
        while breaker.may_publish(|| self.spool.holds(&budget.tier)) {
            // Publishing the same id again is harmless and determines the outcome of the first attempt.
            match self.publish(budget, call, &breaker, TIMEOUT).await {
                Ok(counts) => return Ok(counts),
                Err(unknown) => {
                    may_count |= unknown.may_count;
                    breaker.failed(&unknown.reason);
                }
            }
            if Instant::now() + RETRY_DELAY >= until {
                break;
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        let reservation = match may_count {
            // It may count, so it must be answered.
            true => self.unconfirmed.take(budget),
            false => match self.unconfirmed.reserve(budget, counted, limit) {
                Some(reservation) => reservation,
                None => return Ok(false),
            },
        };
        self.add_to_spool(call, !may_count, reservation).await
    }

    async fn count_or_refuse(&self, budget: &Budget, call: &Call, until: Instant) -> Result<bool, String> {
        let breaker = self.breakers.of(&budget.tier);
        let began = Instant::now();
        let mut retry_guard = None;
        loop {
            if retry_guard.is_none() && !breaker.may_publish(|| self.spool.holds(&budget.tier)) {
                return Err("NATS does not count calls at present".into());
            }
            match self.publish(budget, call, &breaker, STRICT_TIMEOUT).await {
                Ok(counts) => return Ok(counts),
                Err(UnknownOutcome { reason, may_count: false }) if retry_guard.is_none() => {
                    if began.elapsed() >= RECONNECT_TIMEOUT {
                        breaker.failed(&reason);
                        return Err(reason);
                    }
                }
                Err(UnknownOutcome { reason, may_count }) => {
                    breaker.failed(&reason);
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
        let counts = match self.publisher.publish(call, time_limit).await {
            Published::Counted { sequence } => {
                self.unconfirmed.counted(budget, sequence);
                true
            }
            Published::Full => false,
            Published::NotStored(reason) => return Err(UnknownOutcome { reason, may_count: false }),
            Published::Unknown(reason) => return Err(UnknownOutcome { reason, may_count: true }),
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
