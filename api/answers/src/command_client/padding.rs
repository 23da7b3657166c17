//! Response padding: an answer about an email address is sent at a multiple of a fixed time, so that the time that the write side
//! took reveals nothing about the address.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// More than the disk access that a known address takes and an unknown one does not.
const RESPONSE_QUANTUM: Duration = Duration::from_millis(400);

/// Waits until the next multiple of the quantum after `begun`.
pub async fn pad_response_time(begun: Instant) {
    let quanta = begun.elapsed().as_millis() / RESPONSE_QUANTUM.as_millis() + 1;
    let quanta = u32::try_from(quanta).unwrap_or(1);
    sleep_until(begun + RESPONSE_QUANTUM * quanta).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_comes_at_a_multiple() {
        for (took, answered) in [(0, 400), (399, 400), (400, 800), (1_500, 1_600)] {
            let begun = Instant::now();
            tokio::time::advance(Duration::from_millis(took)).await;
            pad_response_time(begun).await;
            assert_eq!(begun.elapsed(), Duration::from_millis(answered), "after {took} ms");
        }
    }
}
