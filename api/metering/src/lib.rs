//! Metering: counts each call exactly once against the monthly quota of its key. The API charges every call here before it
//! answers it; the binary shows the spool and `loggia bench` measures it.
//!
//! NATS decides: the stream of a tier takes as many messages under one subject as the quota allows and refuses the next,
//! atomically, for any number of nodes. A call is published and acknowledged before it is answered, so that a refused call never
//! counts (ADR 8).
//!
//! A cluster that lost a server counts nothing until it has elected another leader, which takes 4 to 9 s. Calls wait for it, a bounded
//! number on each node, and so they do for a single server that restarts; the rest are refused and do not count. What was published
//! and not acknowledged is published again under its id until its outcome is known, so that it counts once. Only when NATS stays away
//! for longer do calls go to a durable spool beside the node, of each quota no more than the node's share of what was left; they are
//! published with the same ids afterwards.
//!
//! [`Meter`] is the only entrance. `counting` takes a call to its outcome: `publisher` publishes it to its stream, with a definite
//! outcome or none; `breaker` lets it wait while the stream fails, in a place of `waiting`, and diverts it to the `spool` when that
//! lasts, within the shares of `outage`. `observer` notices outages and counts the nodes, `unconfirmed` has the calls that the
//! counters have not seen yet, and `drain` publishes the spool afterwards.

mod breaker;
mod counting;
mod drain;
mod observer;
mod outage;
mod publisher;
mod spool;
mod unconfirmed;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use health::{Component, Health};
use schemas::clock::Clock;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};
use schemas::usage::{Call, Counted};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use breaker::Breakers;
use observer::{CountedStream, Observer, leave_hanging_servers};
use outage::{NodesSeen, Outage};
use publisher::UsagePublisher;
use spool::Spool;
use unconfirmed::UnconfirmedUsage;
use waiting::WaitingCalls;

pub use outage::NODES_FILE;
pub use spool::{SpoolError, abandoned_calls};

/// How long calls wait for a stream that fails before they are spooled. A cluster elects a leader within 9 s by the constants of
/// nats-server. It is less than the 10 s of a request, so that a call which meets the failure first is spooled, not refused.
const ELECTION_TIMEOUT: Duration = Duration::from_millis(9_500);
/// How long a node may refuse calls before it is not ready.
const STRICT_READINESS: Duration = Duration::from_secs(2);

/// What becomes of calls that NATS cannot count at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// They wait for an election. Then they are answered, up to the node's share of what was left, and counted afterwards.
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
    /// Whether the NATS user may ask about these streams; that of the role `serve` may not.
    pub may_read_calls: bool,
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
    outage: Arc<Outage>,
    waiting: Arc<WaitingCalls>,
    /// Notified when a call is not counted.
    trouble: Notify,
    client: async_nats::Client,
    /// The stream whose consumers tell how many nodes there are.
    counted: CountedStream,
    /// The folder of the spool.
    folder: PathBuf,
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
        let MeterSettings { folder, policy, spool_limit, tiers, may_read_calls, health, clock } = settings;
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
        let outage = Arc::new(Outage::new(NodesSeen::read(&folder).number()));
        let inner = Inner {
            publisher: UsagePublisher::new(client.clone()),
            unconfirmed,
            spool: Arc::new(spool),
            breakers,
            outage,
            waiting: Arc::default(),
            trouble: Notify::new(),
            client,
            counted: CountedStream::of(&tiers.first().name, may_read_calls),
            folder,
            policy,
            tiers,
            draining,
            keeping,
            clock,
        };
        Ok(Meter { inner: Arc::new(inner) })
    }

    /// Publishes the spool whenever NATS is reachable, and observes NATS, until `stop`. The next process on the folder publishes the
    /// rest.
    ///
    /// # Errors
    ///
    /// If the thread that writes the spool has ended: no further call could be spooled.
    pub async fn run(self, stop: CancellationToken) -> Result<(), SpoolError> {
        let inner = &self.inner;
        let nodes = NodesSeen::read(&inner.folder);
        let observer =
            Observer::new(inner.client.clone(), inner.counted.clone(), inner.outage.clone(), nodes);
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            () = drain::run(inner) => Ok(()),
            () = observer.run() => Ok(()),
            () = leave_hanging_servers(&inner.client, &inner.trouble) => Ok(()),
            failure = self.inner.spool.writer_ended() => Err(failure),
        }
    }

    /// Returns the number of calls in the spool.
    pub fn spooled(&self) -> u64 {
        self.inner.spool.waiting()
    }

    /// Returns the number of calls that wait until NATS counts again.
    pub fn waiting(&self) -> u64 {
        self.inner.waiting.number()
    }

    /// Returns the number of nodes that were last seen, at least one.
    pub fn nodes(&self) -> u64 {
        self.inner.outage.nodes()
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

    /// Charges a call before it is answered. `counted` returns the budget's counter, also later: a call may wait; `limit` is its quota.
    /// After `until` no further attempt is made, and the outcome follows from those made.
    pub async fn count(
        &self,
        budget: &Budget,
        call: &Call,
        limit: u64,
        counted: impl Fn() -> Counted,
        until: Instant,
    ) -> Outcome {
        let outcome = match self.inner.policy {
            Policy::Spool => self.inner.count_or_spool(budget, call, limit, &counted, until).await,
            Policy::Refuse => self.inner.count_or_refuse(budget, call, until).await,
        };
        match outcome {
            Ok(true) => Outcome::Counted { used: self.used(budget, counted()) },
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
