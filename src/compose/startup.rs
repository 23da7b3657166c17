//! The beginning of a role: its line in the log, and waiting for conditions that only need time.

use std::time::Duration;

use process_role::ProcessRole;
use tokio::time::{Instant, sleep};

use crate::config::Config;
use crate::process::{COMMIT, FEATURES, VERSION};

/// How long NATS may take to become available: the servers of a cluster that start together elect a leader first.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Logs the role and the build, and the settings that were set, secrets hidden.
pub fn announce(config: &Config, role: ProcessRole) {
    let (role, commit, features) = (role.name(), COMMIT.unwrap_or("unknown"), FEATURES.as_str());
    let data = config.server.data.display();
    tracing::info!(role, version = VERSION, commit, features, %data, "starting");
    for setting in config.set() {
        let value = setting.value.as_deref().unwrap_or_default();
        tracing::info!(
            setting = setting.name,
            value,
            source = setting.source,
            "a setting differs from its default"
        );
    }
}

/// Tries again until an attempt succeeds or fails permanently, but at most for 30 seconds. Fails as the last attempt
/// does.
pub async fn retry_temporary<T, E: std::fmt::Display>(
    attempt: impl AsyncFn() -> Result<T, E>,
    is_temporary: fn(&E) -> bool,
) -> Result<T, E> {
    let (begun, mut is_logged) = (Instant::now(), false);
    loop {
        match attempt().await {
            Err(error) if is_temporary(&error) && begun.elapsed() < TIMEOUT => {
                if !std::mem::replace(&mut is_logged, true) {
                    tracing::warn!("{error}; trying again for {} seconds", TIMEOUT.as_secs());
                }
                sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests;
