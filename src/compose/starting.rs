//! What must be right before a role starts. Whatever only needs time gets some; all else ends the process, with what
//! is wrong.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use write::nats_role::NatsRole;

use crate::build_info::{COMMIT, FEATURES, VERSION};
use crate::config::Config;

/// How long NATS may take to be whole: the servers of a cluster that start together choose a leader first.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(500);

/// Logs which build starts as what, and the settings that differ from the defaults, secrets hidden.
pub fn announce(config: &Config, role: NatsRole) {
    let (role, commit, features) = (role.name(), COMMIT.unwrap_or("unknown"), FEATURES);
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

/// Tries until it succeeds, or fails in a way that does not pass, or for too long.
pub async fn settled<T, E: std::fmt::Display>(
    attempt: impl AsyncFn() -> Result<T, E>,
    may_pass: fn(&E) -> bool,
) -> Result<T, E> {
    let (begun, mut told) = (Instant::now(), false);
    loop {
        match attempt().await {
            Err(error) if may_pass(&error) && begun.elapsed() < PATIENCE => {
                if !std::mem::replace(&mut told, true) {
                    tracing::warn!("{error}; it is tried again for {} seconds", PATIENCE.as_secs());
                }
                sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_and_what_does_not_is_told_at_once() {
        let tries = Cell::new(0);
        let count = || tries.replace(tries.get() + 1);
        let third = settled(async || if count() < 2 { Err("away") } else { Ok(()) }, |_| true).await;
        assert_eq!((third, tries.get()), (Ok(()), 3));
        tries.set(0);
        let wrong = settled(
            async || {
                count();
                Err::<(), _>("wrong")
            },
            |error| *error == "away",
        )
        .await;
        assert_eq!((wrong, tries.get()), (Err("wrong"), 1));
        let begun = Instant::now();
        assert_eq!(settled(async || Err::<(), _>("away"), |_| true).await, Err("away"));
        assert!((PATIENCE..PATIENCE * 2).contains(&begun.elapsed()));
    }
}
