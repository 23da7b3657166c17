//! Keeping a private server up: one visible loop that waits for its end, its ailments or our own stop.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::NatsServer;
use super::free_space::{Ailment, FreeSpace, free_bytes};

/// How often the disk is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A server that lived this long was healthy: its next end is met with a quick restart again.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);

/// Pauses before restarts: quick at first, doubling while the server keeps dying young.
#[derive(Debug)]
struct Backoff {
    next: Duration,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(5);

    fn new() -> Self {
        Self { next: Self::FIRST }
    }

    /// The pause after a server that lived for `lived`.
    fn pause_after(&mut self, lived: Duration) -> Duration {
        if lived >= HEALTHY_AFTER {
            self.next = Self::FIRST;
        }
        let pause = self.next;
        self.next = (pause * 2).min(Self::LONGEST);
        pause
    }
}

impl NatsServer {
    /// Keeps the server running until `stop` is cancelled, then ends it in order and returns.
    ///
    /// It is started anew when it ends, when its disk was full and has room again, and when its streams were deleted
    /// under it. Cancel `stop` only after everything that uses NATS is done.
    pub async fn supervise(self, stop: CancellationToken) {
        self.supervise_with(stop, LOOK_EVERY, free_bytes).await;
    }

    pub(super) async fn supervise_with(
        mut self,
        stop: CancellationToken,
        look_every: Duration,
        free: impl Fn(&Path) -> io::Result<u64>,
    ) {
        let store = self.folder.store();
        let mut space = FreeSpace::new(self.options.low_space);
        let mut backoff = Backoff::new();
        let mut looks = interval(look_every);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut started = Instant::now();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                ended = self.child.wait() => {
                    let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::warn!(how, "nats-server ended by itself; starting it again");
                }
                _ = looks.tick() => match space.look(free(&store)) {
                    None => continue,
                    Some(ailment) => self.end_for(ailment).await,
                },
            }
            if !self.bring_back(&stop, &mut backoff, started.elapsed()).await {
                break;
            }
            started = Instant::now();
        }
        self.halt().await;
    }

    async fn end_for(&mut self, ailment: Ailment) {
        match ailment {
            Ailment::WasFull => {
                tracing::warn!("the disk has room again; restarting nats-server, which stays stuck else");
            }
            Ailment::StoreDeleted => tracing::warn!("the streams of nats-server were deleted; restarting it"),
        }
        self.halt().await;
    }

    /// Tries until the server answers; false when `stop` came first.
    async fn bring_back(&mut self, stop: &CancellationToken, backoff: &mut Backoff, lived: Duration) -> bool {
        self.health.pid.store(0, std::sync::atomic::Ordering::Relaxed);
        let mut pause = backoff.pause_after(lived);
        loop {
            let attempt = async {
                sleep(pause).await;
                self.relaunch().await
            };
            tokio::select! {
                () = stop.cancelled() => return false,
                outcome = attempt => match outcome {
                    Ok(()) => {
                        tracing::info!(pid = self.pid(), "nats-server is back");
                        return true;
                    }
                    Err(error) => {
                        pause = backoff.pause_after(Duration::ZERO);
                        tracing::warn!(%error, ?pause, "nats-server cannot be started; trying again");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound_and_a_long_life_resets_them() {
        let mut backoff = Backoff::new();
        let young: Vec<_> = (0..9).map(|_| backoff.pause_after(Duration::from_secs(1)).as_millis()).collect();
        assert_eq!(young, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(backoff.pause_after(HEALTHY_AFTER), Backoff::FIRST);
    }
}
