//! The supervisor of a private server: one loop that waits for its end, for a reason to restart it, or for the stop.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::NatsServer;
use super::free_space::{DiskMonitor, RestartReason, free_bytes};

/// The interval at which the free disk space is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A server that ran this long was healthy: after its end the delay starts from the shortest again.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);

/// Delays before restarts: short at first, doubling while the server ends soon after each start.
#[derive(Debug)]
struct Backoff {
    next: Duration,
}

impl Backoff {
    const MIN: Duration = Duration::from_millis(50);
    const MAX: Duration = Duration::from_secs(5);

    fn new() -> Self {
        Self { next: Self::MIN }
    }

    /// Returns the delay after a server that ran for `uptime`.
    fn delay_after(&mut self, uptime: Duration) -> Duration {
        if uptime >= HEALTHY_AFTER {
            self.next = Self::MIN;
        }
        let delay = self.next;
        self.next = (delay * 2).min(Self::MAX);
        delay
    }
}

impl NatsServer {
    /// Keeps the server running until `stop` is cancelled, then shuts it down and returns.
    ///
    /// It is restarted when it ends, when its disk was full and has space again, and when its streams were deleted on
    /// disk. Cancel `stop` only after everything that uses NATS is done.
    pub async fn supervise(self, stop: CancellationToken) {
        self.supervise_with(stop, CHECK_INTERVAL, free_bytes).await;
    }

    pub(super) async fn supervise_with(
        mut self,
        stop: CancellationToken,
        check_interval: Duration,
        free: impl Fn(&Path) -> io::Result<u64>,
    ) {
        let store = self.folder.store();
        let mut disk = DiskMonitor::new(self.options.low_space);
        let mut backoff = Backoff::new();
        let mut checks = interval(check_interval);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut started = Instant::now();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                ended = self.child.wait() => {
                    let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::warn!(how = status, "nats-server ended by itself; starting it again");
                }
                _ = checks.tick() => match disk.check(free(&store)) {
                    None => {
                        self.log_again();
                        continue;
                    }
                    Some(reason) => self.shut_down_for(reason).await,
                },
            }
            if !self.restart(&stop, &mut backoff, started.elapsed()).await {
                break;
            }
            started = Instant::now();
        }
        self.shut_down().await;
    }

    async fn shut_down_for(&mut self, reason: RestartReason) {
        match reason {
            RestartReason::SpaceReturned => {
                tracing::warn!(
                    "the disk has room again; restarting nats-server, which stays stuck otherwise"
                );
            }
            RestartReason::StoreDeleted => {
                tracing::warn!("the streams of nats-server were deleted; restarting it")
            }
        }
        self.shut_down().await;
    }

    /// Restarts the server, with retries until it answers; returns `false` if `stop` was cancelled first.
    async fn restart(&mut self, stop: &CancellationToken, backoff: &mut Backoff, uptime: Duration) -> bool {
        self.health.pid.store(0, std::sync::atomic::Ordering::Relaxed);
        let mut delay = backoff.delay_after(uptime);
        loop {
            let attempt = async {
                sleep(delay).await;
                self.relaunch().await
            };
            tokio::select! {
                () = stop.cancelled() => return false,
                result = attempt => match result {
                    Ok(()) => {
                        tracing::info!(pid = self.pid(), "nats-server is back");
                        return true;
                    }
                    Err(error) => {
                        delay = backoff.delay_after(Duration::ZERO);
                        tracing::warn!(%error, pause = ?delay, "nats-server cannot be started; trying again");
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
    fn delays_double_up_to_a_bound_and_a_long_uptime_resets_them() {
        let mut backoff = Backoff::new();
        let delays: Vec<_> =
            (0..9).map(|_| backoff.delay_after(Duration::from_secs(1)).as_millis()).collect();
        assert_eq!(delays, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(backoff.delay_after(HEALTHY_AFTER), Backoff::MIN);
    }
}
