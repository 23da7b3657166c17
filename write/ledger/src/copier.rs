//! Copies every counted call from NATS into the ledger, and restores calls that NATS lost, so that a used-up quota stays used up.

mod reconcile;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use futures::future::try_join_all;
use health::{Component, Health};
use schemas::clock::Clock;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::tier::Tiers;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Ledger;
use super::error::Interruption;
use crate::usage_streams::{New, UsageStreamError, context, found, prepare_as};

/// How often the connection is checked.
const CONNECTION: Duration = Duration::from_millis(100);

/// The shortest and the longest delay after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));

/// How often the numbers of calls are compared by default.
const COMPARE_EVERY: Duration = Duration::from_secs(60 * 60);

/// How long the final copy to the end of the streams may take at shutdown.
const FINISH: Duration = Duration::from_secs(3);

/// Copies from one NATS into one ledger.
pub struct Copier {
    ledger: Arc<Ledger>,
    client: Client,
    tiers: Tiers,
    replicas: usize,
    clock: Clock,
    health: Component,
    /// How often the numbers of calls in a stream and in the ledger are compared.
    compare_every: Duration,
}

/// Reports recovery once all streams are copied again.
struct Working<'a> {
    health: &'a Component,
    /// The number of streams that are not copied yet.
    waiting: AtomicUsize,
}

impl Working<'_> {
    /// Records that one more stream is being copied.
    fn follows(&self) {
        if self.waiting.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.health.recovered();
        }
    }
}

impl Copier {
    /// Returns a copier of the streams of these tiers, of overruns, and of all streams that are in the ledger already.
    pub fn new(ledger: Arc<Ledger>, client: Client, tiers: Tiers, clock: Clock) -> Copier {
        let health = Health::default().component("ledger");
        Copier { ledger, client, tiers, replicas: 1, clock, health, compare_every: COMPARE_EVERY }
    }

    /// Sets the interval at which the calls of a stream are compared with the ledger; the default is an hour.
    pub fn compare_every(mut self, interval: Duration) -> Copier {
        self.compare_every = interval;
        self
    }

    /// Reports failures to a component of the process.
    pub fn reporting_to(mut self, health: Component) -> Copier {
        self.health = health;
        self
    }

    /// Sets the number of replicas of the streams in a cluster.
    pub fn replicas(mut self, replicas: usize) -> Copier {
        self.replicas = replicas;
        self
    }

    /// Creates the streams, or updates their quotas. A new stream accepts no calls until the ledger's calls are restored to it, if
    /// there may be any.
    pub async fn prepare(&self) -> Result<(), UsageStreamError> {
        let is_empty = self.ledger.head().await.is_ok_and(|head| head.position == Position::START);
        let new = if is_empty { New::Open } else { New::Closed };
        prepare_as(&self.client, &self.tiers, self.replicas, new).await
    }

    /// Copies calls until `stop`, and retries whatever happens to NATS; then copies what the streams contain at that moment.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = PAUSES.0;
        let mut sources = self.ledger.watch();
        while !stop.is_cancelled() {
            sources.mark_unchanged();
            let interruption = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = self.disconnected() => Interruption::Disconnected,
                interruption = self.copy() => interruption,
            };
            let progressed = sources.has_changed().unwrap_or_default();
            pause = if progressed { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            self.health.failed(&interruption);
            stop.run_until_cancelled(self.connected_for(pause)).await;
        }
        self.finish().await;
    }

    /// Copies all streams concurrently; returns only when one is interrupted.
    async fn copy(&self) -> Interruption {
        let copying = async {
            self.prepare().await?;
            let streams = self.streams().await?;
            let working = Working { health: &self.health, waiting: AtomicUsize::new(streams.len()) };
            try_join_all(streams.iter().map(|name| stream::follow(self, name, &working))).await
        };
        match copying.await {
            Ok(never) => match never.into_iter().next() {
                Some(never) => match never {},
                None => Interruption::Disconnected,
            },
            Err(interruption) => interruption,
        }
    }

    /// Copies what the streams contain now, within a short time limit.
    async fn finish(&self) {
        let finishing = async {
            if self.client.connection_state() != State::Connected {
                return Err(Interruption::Disconnected);
            }
            // Copying may have been stopped while a quota was being lowered; no stream must stay paused.
            self.prepare().await?;
            let streams = self.streams().await?;
            try_join_all(streams.iter().map(|name| stream::copy_to_the_end(self, name))).await
        };
        let left = match timeout(FINISH, finishing).await {
            Ok(Ok(_)) => return,
            Ok(Err(interruption)) => interruption.to_string(),
            Err(_elapsed) => format!("it takes longer than {FINISH:?}"),
        };
        tracing::warn!(
            "the ledger is not at the end of its streams ({left}); the next start copies the rest"
        );
    }

    /// Returns the streams of the tiers, of overruns, and of former tiers that still exist.
    async fn streams(&self) -> Result<Vec<String>, Interruption> {
        let mut names: Vec<String> = self.tiers.iter().map(|tier| usage_stream(&tier.name)).collect();
        names.push(OVERRUN.to_owned());
        let known: Vec<String> =
            self.ledger.watch().borrow().iter().map(|source| source.stream.clone()).collect();
        let jetstream = context(&self.client);
        for former in known {
            if !names.contains(&former) && found(&jetstream, &former).await?.is_some() {
                names.push(former);
            }
        }
        self.ledger.ends().retain(|name, _| names.contains(name));
        Ok(names)
    }

    /// Returns the months whose calls NATS must contain: the current one and the one before, which may just have ended.
    fn months(&self) -> [Month; 2] {
        let running = Month::of(self.clock.now());
        [running.previous(), running]
    }

    /// Returns when the connection is lost.
    async fn disconnected(&self) {
        while self.client.connection_state() == State::Connected {
            sleep(CONNECTION).await;
        }
    }

    /// Sleeps, then waits for a connection.
    async fn connected_for(&self, pause: Duration) {
        sleep(pause).await;
        while self.client.connection_state() != State::Connected {
            sleep(CONNECTION).await;
        }
    }
}
