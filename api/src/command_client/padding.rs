//! When an answer about an address comes: how long the write side took for it tells nothing of the address.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A known address takes a write to the disk, or a read, that an unknown one does not.
const BEAT: Duration = Duration::from_millis(400);

/// Waits for the next beat behind a beginning.
pub(crate) async fn on_the_beat(begun: Instant) {
    let beats = begun.elapsed().as_millis() / BEAT.as_millis() + 1;
    let beats = u32::try_from(beats).unwrap_or(1);
    sleep_until(begun + BEAT * beats).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_comes_at_a_multiple() {
        for (took, answered) in [(0, 400), (399, 400), (400, 800), (1_500, 1_600)] {
            let begun = Instant::now();
            tokio::time::advance(Duration::from_millis(took)).await;
            on_the_beat(begun).await;
            assert_eq!(begun.elapsed(), Duration::from_millis(answered), "after {took} ms");
        }
    }
}
