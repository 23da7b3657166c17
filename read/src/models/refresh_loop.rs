//! Refreshes a model periodically, on a thread for blocking work.

use std::panic::resume_unwind;
use std::time::Duration;

use health::{Component, Health};
use tokio::runtime::Handle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{ModelKind, ReadModels};
use crate::error::ModelError;

/// The interval of polling for new commits and generations.
pub const POLL: Duration = Duration::from_millis(25);

/// A refresh that takes longer is reported as failing until it ends.
const SLOW: Duration = Duration::from_secs(60);

impl ModelKind {
    /// Returns the delay after a failed refresh. Opening a damaged index may read much of it before it fails.
    fn retry_delay(self) -> Duration {
        Duration::from_millis(if self.is_about_calls() { 250 } else { 1_000 })
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
            let delay = match self.refresh_blocking(model, &failing).await {
                Ok(()) => {
                    failing.recovered();
                    POLL
                }
                Err(error) => {
                    failing.failed(format_args!("it could not be refreshed ({error})"));
                    model.retry_delay()
                }
            };
            stop.run_until_cancelled(sleep(delay)).await;
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
