//! How many projects wait for vectors, for metrics, and how far those of another encoder have been replaced, for the log.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::Instant;

use super::pending::PendingProjects;

/// In how many parts the replacement of a whole catalog is logged.
const PARTS: usize = 10;

/// Counts of the embedding worker, for metrics.
#[derive(Debug, Default)]
pub struct EmbeddingCounts {
    waiting: AtomicUsize,
    outdated: AtomicUsize,
}

impl EmbeddingCounts {
    /// Returns the number of projects whose vectors are to be computed or are being computed.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of those whose recorded vectors another encoder has computed.
    pub fn outdated(&self) -> usize {
        self.outdated.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, pending: &PendingProjects) {
        self.waiting.store(pending.len(), Ordering::Relaxed);
        self.outdated.store(pending.outdated(), Ordering::Relaxed);
    }
}

/// The replacement of the vectors that another encoder has computed before the start.
#[derive(Debug)]
pub(super) struct Replacement {
    total: usize,
    /// The number of projects left when it was logged last.
    logged: usize,
    began: Instant,
}

impl Replacement {
    /// Logs how many there are, if any.
    pub(super) fn begin(encoder: &str, outdated: usize) -> Replacement {
        if outdated > 0 {
            tracing::info!(
                encoder,
                projects = outdated,
                "another encoder has computed the vectors of these projects; they are computed again"
            );
        }
        Replacement { total: outdated, logged: outdated, began: Instant::now() }
    }

    /// Logs each tenth, and the end.
    pub(super) fn observe(&mut self, left: usize) {
        if left >= self.logged || (left > 0 && self.logged - left < self.total.div_ceil(PARTS)) {
            return;
        }
        self.logged = left;
        let (projects, seconds) = (self.total, self.began.elapsed().as_secs());
        match left {
            0 => tracing::info!(projects, seconds, "all vectors of another encoder have been computed again"),
            left => tracing::info!(left, projects, seconds, "vectors of another encoder are computed again"),
        }
    }

    #[cfg(test)]
    fn has_logged(&self) -> usize {
        self.logged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_tenth_is_logged_once_and_the_end() {
        let mut replacement = Replacement::begin("loggia-1", 25);
        let mut logged = |left: usize| {
            replacement.observe(left);
            replacement.has_logged()
        };
        assert_eq!([25, 24, 23, 22, 21, 20, 19].map(&mut logged), [25, 25, 25, 22, 22, 22, 19]);
        // A project that is selected meanwhile is none of another encoder, and one that came from an older node may be.
        assert_eq!([20, 2, 1, 0, 3].map(&mut logged), [19, 2, 2, 0, 0]);
    }
}
