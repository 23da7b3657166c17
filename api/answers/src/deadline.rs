//! The deadline of a request. One deadline bounds all of it: the work, the charge, and the commands to the write side.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, timeout_at};

use crate::error::ApiError;

/// The time by which a request must be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Instant);

impl Deadline {
    /// Returns the deadline that is `time_limit` after `begun`.
    pub fn after(begun: Instant, time_limit: Duration) -> Deadline {
        Deadline(begun + time_limit)
    }

    /// Returns the deadline that is `time_limit` from now.
    pub fn within(time_limit: Duration) -> Deadline {
        Deadline::after(Instant::now(), time_limit)
    }

    /// Returns a deadline that is earlier by `rest`, for a part of the work that something follows.
    pub fn earlier_by(self, rest: Duration) -> Deadline {
        Deadline(self.0.checked_sub(rest).unwrap_or(self.0))
    }

    /// Returns it as an instant.
    pub fn instant(self) -> Instant {
        self.0
    }

    /// Returns the remaining time; zero once it has passed.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Returns whether it has passed.
    pub fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }

    /// Awaits work until the deadline.
    ///
    /// # Errors
    ///
    /// If the work panics or the deadline passes first.
    pub async fn bound<T>(self, work: impl Future<Output = T>) -> Result<T, ApiError> {
        let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
        // Most answers are ready at once and need no timer.
        let outcome = match futures::poll!(work.as_mut()) {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => timeout_at(self.0, work).await,
        };
        match outcome {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_panic)) => Err(ApiError::panicked()),
            Err(_elapsed) => Err(ApiError::timeout()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_ends_by_itself_by_its_deadline_or_by_a_panic() {
        let deadline = Deadline::within(Duration::from_secs(10));
        assert_eq!(deadline.earlier_by(Duration::from_secs(4)).remaining(), Duration::from_secs(6));
        assert_eq!(deadline.bound(async { 7 }).await.ok(), Some(7));
        let panicked: Result<(), ApiError> = deadline.bound(async { panic!("the inner text") }).await;
        let panicked = panicked.unwrap_err();
        assert_eq!(panicked.status(), 500);
        let late = deadline.bound(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!((late.status().as_u16(), deadline.has_passed()), (503, true));
    }
}
