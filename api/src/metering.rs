//! Counts calls exactly. NATS decides: the stream of a tier takes as many messages under one subject as the quota
//! allows and refuses the next, atomically, for any number of nodes. A call is published and acknowledged before it is
//! answered, so that a refused call never counts. While NATS is away, calls go to a durable spool beside the node and
//! are published with the same ids afterwards.

mod drain;
mod gate;
mod own;
mod spool;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use read::counters::Counted;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::Call;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use gate::{Gate, Published};
use own::OwnCalls;
use spool::Spool;

pub use spool::SpoolError;

/// How long NATS may take to say whether a call is counted, before the spool takes it.
const PATIENCE: Duration = Duration::from_millis(250);
/// The same where calls are refused that NATS cannot count; longer than a restart of nats-server takes.
const LONG_PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait before a call is published again.
const PAUSE: Duration = Duration::from_millis(20);
/// Once NATS did not answer, one call in this time finds out whether it is back.
const PROBE: Duration = Duration::from_millis(500);

/// What becomes of calls that NATS cannot count at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// They are answered from what is left as last known, and counted afterwards.
    Spool,
    /// They are refused, but for those that were on their way when NATS went and may count.
    Refuse,
}

/// What the calls of one key are taken out of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Which key.
    pub key_id: KeyId,
    /// Its tier.
    pub tier: Arc<TierName>,
    /// Which month.
    pub month: Month,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It counts, or will: it must be answered.
    Counted {
        /// So many calls count against the budget now.
        used: u64,
    },
    /// The budget is used up; it does not count.
    Exceeded,
    /// It cannot be counted at present, for a reason that is for the log.
    Unavailable(String),
}

/// Counts the calls of one node; clones share it.
#[derive(Clone)]
pub struct Meter {
    inner: Arc<Inner>,
}

struct Inner {
    gate: Gate,
    own: OwnCalls,
    spool: Spool,
    policy: Policy,
    /// When NATS may be tried again after it did not answer, in milliseconds since `began`; 0 while it answers.
    away: AtomicU64,
    began: Instant,
    now: Clock,
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("policy", &self.inner.policy).finish_non_exhaustive()
    }
}

impl Meter {
    /// Counts over this connection, with the spool in a folder that other nodes may share. What processes left there
    /// that are gone is taken over.
    pub fn open(
        client: async_nats::Client,
        folder: &Path,
        policy: Policy,
        now: Clock,
    ) -> Result<Meter, SpoolError> {
        let (spool, left) = Spool::open(folder)?;
        let own = OwnCalls::default();
        for call in &left {
            own.spooled(&Budget::of(call));
        }
        let away = AtomicU64::new(0);
        let inner = Inner { gate: Gate::new(client), own, spool, policy, away, began: Instant::now(), now };
        Ok(Meter { inner: Arc::new(inner) })
    }

    /// Publishes what the spool holds whenever NATS is there, until it is told to stop. What is left then is published
    /// by the next process on the folder.
    ///
    /// # Errors
    ///
    /// Fails when the thread that writes the spool has ended: no call could be kept any more.
    pub async fn run(self, stop: CancellationToken) -> Result<(), SpoolError> {
        tokio::select! {
            () = drain::run(&self.inner, &stop) => Ok(()),
            failure = self.inner.spool.writer_ended() => Err(failure),
        }
    }

    /// How many calls wait in the spool.
    pub fn spooled(&self) -> u64 {
        self.inner.spool.waiting()
    }

    /// How many calls count against a budget, as far as this node knows: what the counters say, and its own calls that
    /// they have not seen.
    pub(crate) fn used(&self, budget: &Budget, counted: Counted) -> u64 {
        self.inner.own.used(budget, counted)
    }

    /// Counts a call that is about to be answered. `counted` is what the counters say of its budget, `limit` its quota.
    pub async fn count(&self, budget: &Budget, call: &Call, limit: u64, counted: Counted) -> Outcome {
        let outcome = match self.inner.policy {
            Policy::Spool => self.inner.count_or_spool(budget, call, limit, counted).await,
            Policy::Refuse => self.inner.count_or_refuse(budget, call).await,
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

impl Inner {
    /// Whether the call counts; an error tells why that cannot be said.
    async fn count_or_spool(
        &self,
        budget: &Budget,
        call: &Call,
        limit: u64,
        counted: Counted,
    ) -> Result<bool, String> {
        if self.may_try() {
            match self.gate.publish(call, PATIENCE).await {
                Published::Counted { sequence } => {
                    self.back();
                    self.own.counted(budget, sequence);
                    return Ok(true);
                }
                Published::Full => {
                    self.back();
                    return Ok(false);
                }
                Published::Unknown(reason) => self.gone(&reason),
            }
            // NATS may have counted it all the same: it must be answered, whatever is left.
            self.own.spooled(budget);
        } else if !self.own.reserve(budget, counted, limit) {
            return Ok(false);
        }
        self.keep(budget, call).await
    }

    async fn count_or_refuse(&self, budget: &Budget, call: &Call) -> Result<bool, String> {
        let (began, mut sent) = (Instant::now(), None);
        while began.elapsed() < LONG_PATIENCE {
            // Without a connection the client would keep it, and send it long after it was refused.
            if self.gate.is_connected() {
                // The same id again is harmless, and settles what became of it the first time.
                match self.gate.publish(call, PATIENCE).await {
                    Published::Counted { sequence } => {
                        self.own.counted(budget, sequence);
                        return Ok(true);
                    }
                    Published::Full => return Ok(false),
                    Published::Unknown(reason) => sent = Some(reason),
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        let Some(reason) = sent else { return Err("NATS is away".into()) };
        tracing::warn!(reason, call = %call.id, "a call may count or not; it is answered, and settled afterwards");
        self.own.spooled(budget);
        self.keep(budget, call).await
    }

    /// Puts a call that was taken out of what is left into the spool.
    async fn keep(&self, budget: &Budget, call: &Call) -> Result<bool, String> {
        match self.spool.append(call).await {
            Ok(()) => Ok(true),
            Err(error) => {
                self.own.unspooled(budget, None);
                Err(format!("NATS is away and the spool cannot be written: {error}"))
            }
        }
    }

    /// Whether NATS is there as far as known; while it is away, one call in a while is let through to find out.
    fn may_try(&self) -> bool {
        let next = self.away.load(Ordering::Relaxed);
        if next == 0 {
            return true;
        }
        let now = self.milliseconds();
        now >= next
            && self
                .away
                .compare_exchange(next, now + millis(PROBE), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    fn gone(&self, reason: &str) {
        if self.away.swap(self.milliseconds() + millis(PROBE), Ordering::Relaxed) == 0 {
            tracing::warn!(
                reason,
                "calls cannot be counted at present; they are kept and counted afterwards"
            );
        }
    }

    fn back(&self) {
        // Nearly always it was never away: a plain read leaves the memory shared between the processors.
        if self.away.load(Ordering::Relaxed) != 0 && self.away.swap(0, Ordering::Relaxed) != 0 {
            tracing::info!("calls are counted again");
        }
    }

    /// Since the start, and never 0.
    fn milliseconds(&self) -> u64 {
        1 + millis(self.began.elapsed())
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
