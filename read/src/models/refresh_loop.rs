//! Refreshes a model when it was committed, on a thread for blocking work: at the signal of a worker of the same process, or by polling.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use health::{Component, Health};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{ModelKind, ReadModels};
use model::error::ModelError;

/// The interval of polling for new commits and generations of another process, and the shortest between two refreshes.
pub const POLL: Duration = Duration::from_millis(25);

/// The interval of refreshes without a signal where the workers of the process send one: what other processes change, as a repair of the
/// folder, and the month of the clock.
const IDLE_POLL: Duration = Duration::from_secs(2);

/// A refresh that takes longer is reported as failing until it ends.
const SLOW: Duration = Duration::from_secs(60);

impl ModelKind {
    /// Returns the delay after a failed refresh. Opening a damaged index may read much of it before it fails.
    fn retry_delay(self) -> Duration {
        Duration::from_millis(if self.is_about_calls() { 250 } else { 1_000 })
    }
}

/// Signals from the workers of a process to its readers that a model was committed or has another generation; clones share them.
#[derive(Debug, Clone, Default)]
pub struct CommitSignals {
    signals: Arc<[CommitSignal; ModelKind::ALL.len()]>,
}

/// The signal of one model; clones share it.
#[derive(Debug, Clone, Default)]
pub struct CommitSignal {
    notify: Arc<Notify>,
}

impl CommitSignals {
    /// Returns the signal of a model.
    pub fn of(&self, model: ModelKind) -> CommitSignal {
        self.signals[model as usize].clone()
    }
}

impl CommitSignal {
    /// Wakes the reader of the model, now or when it next waits.
    pub fn send(&self) {
        self.notify.notify_one();
    }
}

impl ReadModels {
    /// Refreshes one model until `stop` is cancelled. Failures are reported to the health of the process and retried: a generation may be
    /// removed between two steps of a refresh.
    ///
    /// # Panics
    ///
    /// Panics if the refresh does.
    pub async fn follow(self, model: ModelKind, health: Health, stop: CancellationToken) {
        let failing = health.component(model.component()).grace_period(model.grace_period());
        while !stop.is_cancelled() {
            let began = Instant::now();
            match self.refresh_blocking(model, &failing).await {
                Ok(()) => {
                    failing.recovered();
                    if let (ModelKind::Search, Some(signals)) = (model, &self.inner.signals) {
                        // The archive lists what the search index contains.
                        signals.of(ModelKind::Archive).send();
                    }
                    stop.run_until_cancelled(self.wait_for_commit(model, began)).await;
                }
                Err(error) => {
                    failing.failed(format_args!("it could not be refreshed ({error})"));
                    stop.run_until_cancelled(sleep(model.retry_delay())).await;
                }
            }
        }
    }

    /// Waits until a model may have changed since a refresh that began at this time.
    async fn wait_for_commit(&self, model: ModelKind, began: Instant) {
        let Some(signals) = &self.inner.signals else { return sleep(POLL).await };
        let signal = signals.of(model);
        tokio::select! {
            () = signal.notify.notified() => sleep_until(began + POLL).await,
            () = sleep(IDLE_POLL) => {}
        }
    }

    /// Refreshes on a thread for blocking work, since opening an index decodes files and loading a model may take seconds.
    async fn refresh_blocking(&self, model: ModelKind, failing: &Component) -> Result<(), ModelError> {
        let (models, handle) = (self.clone(), Handle::current());
        let refresh = move || handle.block_on(models.refresh_one(model));
        let mut refreshing = tokio::task::spawn_blocking(refresh);
        loop {
            tokio::select! {
                ended = &mut refreshing => return match ended.map_err(tokio::task::JoinError::try_into_panic) {
                    Ok(refreshed) => refreshed,
                    Err(Ok(panic)) => resume_unwind(panic),
                    // The runtime is shutting down.
                    Err(Err(_)) => Ok(()),
                },
                () = sleep(SLOW) => failing.failed("a refresh takes longer than a minute"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use schemas::clock::Clock;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_signal_ends_the_wait_of_its_model_alone() {
        let signals = CommitSignals::default();
        let models = ReadModels::with_signals("models", Clock::system(), Some(signals.clone()), None);
        let waited = async |model| {
            let began = Instant::now();
            models.wait_for_commit(model, began).await;
            began.elapsed()
        };
        assert_eq!(waited(ModelKind::Keys).await, IDLE_POLL);
        signals.of(ModelKind::Keys).send();
        signals.of(ModelKind::Keys).send();
        assert_eq!(waited(ModelKind::Catalog).await, IDLE_POLL, "another model");
        assert_eq!(waited(ModelKind::Keys).await, POLL, "sent before the wait");
        assert_eq!(waited(ModelKind::Keys).await, IDLE_POLL, "two signals before a refresh are one");
        let long_ago = Instant::now();
        sleep(2 * POLL).await;
        signals.of(ModelKind::Keys).send();
        let began = Instant::now();
        models.wait_for_commit(ModelKind::Keys, long_ago).await;
        assert_eq!(began.elapsed(), Duration::ZERO, "the last refresh began long ago");
    }

    #[tokio::test(start_paused = true)]
    async fn without_signals_a_model_is_polled() {
        let models = ReadModels::new("models", Clock::system());
        let began = Instant::now();
        models.wait_for_commit(ModelKind::Search, began).await;
        assert_eq!(began.elapsed(), POLL);
    }
}
