//! Copies every counted call from NATS into the ledger, and restores calls that NATS lost, so that a used-up quota stays used up.

mod reconcile;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::Client;
use futures::future::try_join_all;
use health::{Component, Health};
use nats::connection;
use schemas::clock::Clock;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::tier::Tiers;
use store_file::StoreError;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Ledger;
use crate::usage_streams::{NewStream, UsageStreamError, context, find, prepare_as};

/// The shortest and the longest delay after a failure.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));

/// How often the numbers of calls are compared by default.
const COMPARE_EVERY: Duration = Duration::from_secs(60 * 60);

/// How long the final copy to the end of the streams may take at shutdown.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// The reason why copying starts over.
#[derive(Debug, thiserror::Error)]
enum CopierError {
    /// The stream was deleted, created again, or lost messages.
    #[error("the stream {0} was replaced or lost messages")]
    StreamReplaced(String),
    /// There is no connection.
    #[error(
        "there is no connection to NATS, so calls are not copied into the ledger; the connection is tried again"
    )]
    Disconnected,
    /// NATS refused, or has a stream that must not be used for metering.
    #[error(transparent)]
    Stream(#[from] UsageStreamError),
    /// The ledger cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CopierError {
    fn nats(error: impl std::fmt::Display) -> CopierError {
        UsageStreamError::nats(error).into()
    }
}

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
struct Recovery<'a> {
    health: &'a Component,
    /// The number of streams that are not copied yet.
    pending: AtomicUsize,
}

impl Recovery<'_> {
    /// Records that one more stream is being copied.
    fn stream_recovered(&self) {
        if self.pending.fetch_sub(1, Ordering::Relaxed) == 1 {
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
        let new = if is_empty { NewStream::Open } else { NewStream::Closed };
        prepare_as(&self.client, &self.tiers, self.replicas, new).await
    }

    /// Copies calls until `stop`, retrying after every failure; then copies what the streams contain at that moment.
    pub async fn run(self, stop: CancellationToken) {
        let mut delay = RETRY_DELAYS.0;
        let mut sources = self.ledger.watch();
        while !stop.is_cancelled() {
            sources.mark_unchanged();
            let error = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = self.disconnected() => CopierError::Disconnected,
                error = self.copy() => error,
            };
            let progressed = sources.has_changed().unwrap_or_default();
            delay = if progressed { RETRY_DELAYS.0 } else { (delay * 2).min(RETRY_DELAYS.1) };
            self.health.failed(&error);
            stop.run_until_cancelled(self.connected_after(delay)).await;
        }
        self.finish().await;
    }

    /// Copies all streams concurrently; returns only when one fails.
    async fn copy(&self) -> CopierError {
        let copying = async {
            self.prepare().await?;
            let streams = self.streams().await?;
            let recovery = Recovery { health: &self.health, pending: AtomicUsize::new(streams.len()) };
            try_join_all(streams.iter().map(|name| stream::follow(self, name, &recovery))).await
        };
        match copying.await {
            Ok(never) => match never.into_iter().next() {
                Some(never) => match never {},
                None => CopierError::Disconnected,
            },
            Err(error) => error,
        }
    }

    /// Copies what the streams contain now, within a short time limit.
    async fn finish(&self) {
        let finishing = async {
            if !connection::is_connected(&self.client) {
                return Err(CopierError::Disconnected);
            }
            // Copying may have been stopped while a quota was being lowered; no stream must stay paused.
            self.prepare().await?;
            let streams = self.streams().await?;
            try_join_all(streams.iter().map(|name| stream::copy_to_the_end(self, name))).await
        };
        let left = match timeout(FINISH_TIMEOUT, finishing).await {
            Ok(Ok(_)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => format!("it took longer than {FINISH_TIMEOUT:?}"),
        };
        tracing::warn!(
            "the ledger is not at the end of its streams ({left}); the next start copies the rest"
        );
    }

    /// Returns the streams of the tiers, of overruns, and of former tiers that still exist.
    async fn streams(&self) -> Result<Vec<String>, CopierError> {
        let mut names: Vec<String> = self.tiers.iter().map(|tier| usage_stream(&tier.name)).collect();
        names.push(OVERRUN.to_owned());
        let known: Vec<String> =
            self.ledger.watch().borrow().iter().map(|source| source.stream.clone()).collect();
        let jetstream = context(&self.client);
        for former in known {
            if !names.contains(&former) && find(&jetstream, &former).await?.is_some() {
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
        connection::wait_until(&self.client, |client| !connection::is_connected(client)).await;
    }

    /// Sleeps, then waits for a connection.
    async fn connected_after(&self, delay: Duration) {
        sleep(delay).await;
        connection::wait_until(&self.client, connection::is_connected).await;
    }
}
