//! Copies every counted call from NATS into the ledger, and gives NATS back what it lost of it, so that a quota that
//! was used up stays used up.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use futures::future::try_join_all;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::tier::Tiers;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Ledger, stream};
use crate::clock::Clock;
use crate::event_store::StoreError;
use crate::usage_streams::{UsageStreamError, context, found, prepare};

/// How often the connection is looked at.
const CONNECTION: Duration = Duration::from_millis(100);

/// The shortest and the longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));

/// Why the copying starts over.
#[derive(Debug, thiserror::Error)]
pub(super) enum Interruption {
    /// The stream is not as it was: it was deleted, made anew or lost something.
    #[error("the stream {0} is not where it was left")]
    Moved(String),
    /// The connection is away.
    #[error("the connection to NATS is away, so calls are not copied into the ledger; it is tried again")]
    Disconnected,
    /// NATS cannot do it, or has a stream that must not be metered with.
    #[error(transparent)]
    Stream(#[from] UsageStreamError),
    /// The ledger cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Interruption {
    pub(super) fn nats(error: impl std::fmt::Display) -> Interruption {
        UsageStreamError::nats(error).into()
    }
}

/// Copies from one NATS into one ledger.
pub struct Copier {
    pub(super) ledger: Arc<Ledger>,
    pub(super) client: Client,
    tiers: Tiers,
    replicas: usize,
    clock: Clock,
}

impl Copier {
    /// A copier of the streams of these tiers, of the one of overruns, and of those that the ledger knows already.
    pub fn new(ledger: Arc<Ledger>, client: Client, tiers: Tiers, clock: Clock) -> Copier {
        Copier { ledger, client, tiers, replicas: 1, clock }
    }

    /// Keeps the streams on this many servers of a cluster.
    pub fn replicas(mut self, replicas: usize) -> Copier {
        self.replicas = replicas;
        self
    }

    /// Copies calls until `stop`, whatever happens to NATS meanwhile.
    pub async fn run(self, stop: CancellationToken) {
        let (mut pause, mut told) = (PAUSES.0, String::new());
        let mut sources = self.ledger.watch();
        loop {
            sources.mark_unchanged();
            let interruption = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.disconnected() => Interruption::Disconnected,
                interruption = self.copy() => interruption,
            };
            let progressed = sources.has_changed().unwrap_or_default();
            pause = if progressed { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            tell(&interruption, &mut told);
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.connected_for(pause) => {}
            }
        }
    }

    /// Copies from all streams at once; comes back only when one of them cannot go on.
    async fn copy(&self) -> Interruption {
        let copying = async {
            prepare(&self.client, &self.tiers, self.replicas).await?;
            let streams = self.streams().await?;
            try_join_all(streams.iter().map(|name| stream::follow(self, name))).await
        };
        match copying.await {
            Ok(never) => match never.into_iter().next() {
                Some(never) => match never {},
                None => Interruption::Disconnected,
            },
            Err(interruption) => interruption,
        }
    }

    /// The streams of the tiers and of the overruns, and those of former tiers that are still there.
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
        Ok(names)
    }

    /// The months whose calls NATS must hold: the one before the running one too, for it may have ended just now.
    pub(super) fn months(&self) -> [Month; 2] {
        let running = Month::of(self.clock.now());
        [running.previous(), running]
    }

    /// Comes back when the connection is away.
    async fn disconnected(&self) {
        while self.client.connection_state() == State::Connected {
            sleep(CONNECTION).await;
        }
    }

    /// Pauses, and then waits until there is a connection.
    async fn connected_for(&self, pause: Duration) {
        sleep(pause).await;
        while self.client.connection_state() != State::Connected {
            sleep(CONNECTION).await;
        }
    }
}

/// Tells an interruption where people look: once, however often it is met.
fn tell(interruption: &Interruption, told: &mut String) {
    let sentence = interruption.to_string();
    if *told == sentence {
        return;
    }
    match interruption {
        Interruption::Store(_)
        | Interruption::Stream(UsageStreamError::Refused(_) | UsageStreamError::Insufficient(_)) => {
            tracing::error!("{sentence}");
        }
        Interruption::Moved(_)
        | Interruption::Disconnected
        | Interruption::Stream(UsageStreamError::Nats(_)) => {
            tracing::warn!("{sentence}");
        }
    }
    *told = sentence;
}
