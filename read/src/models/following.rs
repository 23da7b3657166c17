//! Refreshes one model again and again, on a thread where it may block.

use std::panic::resume_unwind;
use std::time::Duration;

use health::{Component, Health};
use tokio::runtime::Handle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{ModelKind, ReadModels};
use crate::error::ModelError;

/// How often a new commit or generation is looked for.
pub const POLL: Duration = Duration::from_millis(25);

/// A refresh that takes longer than this is reported as failing until it ends.
const SLOW: Duration = Duration::from_secs(60);

impl ModelKind {
    /// How long to wait after a refresh that failed. Opening a damaged index may read much of it before it fails.
    fn pause(self) -> Duration {
        Duration::from_millis(if self.is_about_calls() { 250 } else { 1_000 })
    }
}

impl ReadModels {
    /// Refreshes one model until `stop`. A failure is reported to the health of the process and tried again: a
    /// generation may be swapped away between two looks.
    ///
    /// # Panics
    ///
    /// Panics if the refresh does.
    pub async fn follow(self, model: ModelKind, health: Health, stop: CancellationToken) {
        let failing = health.component(model.component()).patience(model.patience());
        while !stop.is_cancelled() {
            let pause = match self.refresh_aside(model, &failing).await {
                Ok(()) => {
                    failing.recovered();
                    POLL
                }
                Err(error) => {
                    failing.failed(format_args!("it could not be refreshed ({error})"));
                    model.pause()
                }
            };
            stop.run_until_cancelled(sleep(pause)).await;
        }
    }

    /// Refreshes on a thread for blocking work, since opening an index decodes files and a model may be taken in for
    /// seconds.
    async fn refresh_aside(&self, model: ModelKind, failing: &Component) -> Result<(), ModelError> {
        let (models, handle) = (self.clone(), Handle::current());
        let refresh = move || handle.block_on(models.refresh_one(model));
        let mut refreshing = tokio::task::spawn_blocking(refresh);
        loop {
            tokio::select! {
                ended = &mut refreshing => return match ended.map_err(tokio::task::JoinError::try_into_panic) {
                    Ok(refreshed) => refreshed,
                    Err(Ok(panic)) => resume_unwind(panic),
                    // The process ends.
                    Err(Err(_)) => Ok(()),
                },
                () = sleep(SLOW) => failing.failed("a refresh takes longer than a minute"),
            }
        }
    }
}
