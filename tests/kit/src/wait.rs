use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

/// The limit of every wait of a test. A test that is right never waits for so long, even on a busy machine: it passes as soon as
/// its condition holds, and only a test that fails reaches the limit.
pub const TIMEOUT: Duration = Duration::from_secs(120);

const PAUSE: Duration = Duration::from_millis(10);

/// Calls `check` until it returns true. Panics with `what` after `within`.
pub async fn wait_until(within: Duration, what: &str, mut check: impl AsyncFnMut() -> bool) {
    wait_for(within, what, async || check().await.then_some(())).await;
}

/// Calls `check` until it returns a value. Panics with `what` after `within`.
pub async fn wait_for<T>(within: Duration, what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + within;
    loop {
        match timeout_at(deadline, check()).await {
            Ok(Some(value)) => return value,
            Ok(None) if Instant::now() < deadline => sleep(PAUSE).await,
            Ok(None) | Err(_) => panic!("timed out after {within:?} waiting for {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_returns_once_the_condition_holds() {
        let mut polls = 0;
        let value = wait_for(Duration::from_secs(1), "the third time", async || {
            polls += 1;
            (polls == 3).then_some("there")
        });
        assert_eq!(value.await, "there");
        assert_eq!(polls, 3);
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "timed out after 1s waiting for rain")]
    async fn it_says_what_it_waited_for() {
        wait_until(Duration::from_secs(1), "rain", async || false).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "timed out after 1s waiting for an answer")]
    async fn a_check_that_hangs_times_out() {
        wait_until(Duration::from_secs(1), "an answer", std::future::pending).await;
    }
}
