//! The places of open connections. When all are taken, a new connection gets that of the one on which nothing has been under way for the
//! longest time, so that connections which are only kept open keep nobody out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::timed_stream::Calls;

/// The part of the connections that is closed when all places are taken, as a divisor: looking for the longest idle ones costs more than
/// closing them, and whoever opens so many connections opens more.
const CLOSED_AT_ONCE: usize = 128;
/// How long a connection waits for a place until those that have become idle since are looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The minimum interval between two lines in the log about this.
const REPEAT: Duration = Duration::from_secs(60);

/// The places of a number of connections.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    free: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<u64, Arc<Calls>>>>,
    next: u64,
    logged: Option<Instant>,
}

/// The place of an open connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: Option<OwnedSemaphorePermit>,
    number: u64,
    taken: Arc<Mutex<HashMap<u64, Arc<Calls>>>>,
}

impl Places {
    /// Returns places for `most` connections.
    pub(super) fn new(most: usize) -> Places {
        Places { most, free: Arc::new(Semaphore::new(most)), taken: Arc::default(), next: 0, logged: None }
    }

    /// Returns a place for a connection with these calls, once there is one: a free one, or that of an idle connection. Cancellation-safe.
    pub(super) async fn take(&mut self, calls: &Arc<Calls>) -> Place {
        let permit = match self.free.clone().try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_full) => self.wait().await,
        };
        let number = self.next;
        self.next += 1;
        // A panic while the lock was held leaves a whole map.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(number, calls.clone());
        Place { _permit: permit, number, taken: self.taken.clone() }
    }

    async fn wait(&mut self) -> Option<OwnedSemaphorePermit> {
        self.log_full();
        loop {
            self.close_longest_idle();
            if let Ok(permit) = timeout(LOOK_AGAIN, self.free.clone().acquire_owned()).await {
                // The semaphore is never closed.
                return permit.ok();
            }
        }
    }

    /// Asks the connections on which nothing has been under way for the longest time to end.
    fn close_longest_idle(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = taken.values().filter_map(|calls| Some((calls.idle_since()?, calls)));
        let mut idle: Vec<(Instant, &Arc<Calls>)> = idle.collect();
        let closed = (self.most / CLOSED_AT_ONCE).max(1).min(idle.len());
        if closed > 0 {
            idle.select_nth_unstable_by_key(closed - 1, |(since, _)| *since);
        }
        idle.iter().take(closed).for_each(|(_, calls)| calls.want_place());
    }

    fn log_full(&mut self) {
        if self.logged.is_none_or(|at| at.elapsed() >= REPEAT) {
            self.logged = Some(Instant::now());
            tracing::warn!(
                "all {} connections are in use; those that have been idle for the longest time are closed for new ones",
                self.most
            );
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_gets_the_place_of_the_longest_idle_one() {
        let mut places = Places::new(3);
        let all: Vec<Arc<Calls>> = (0..3).map(|_| Arc::new(Calls::new())).collect();
        let mut held = Vec::new();
        for calls in &all {
            held.push(Some(places.take(calls).await));
        }
        // The first is within a call, the second has just ended one, and the third has never had one.
        all[0].begin();
        tokio::time::advance(Duration::from_secs(1)).await;
        all[1].begin();
        all[1].end(false);
        let new = Arc::new(Calls::new());
        {
            let mut taking = std::pin::pin!(places.take(&new));
            assert!(taking.as_mut().now_or_never().is_none(), "all places are taken");
            let must_end: Vec<bool> =
                all.iter().map(|calls| calls.must_end().now_or_never().is_some()).collect();
            assert_eq!(must_end, [false, false, true]);
            held[2] = None;
            let place = taking.await;
            assert_eq!(place.number, 3);
            held.push(Some(place));
        }
        new.begin();
        all[1].begin();
        let last = Arc::new(Calls::new());
        let mut taking = std::pin::pin!(places.take(&last));
        assert!(taking.as_mut().now_or_never().is_none());
        assert!(
            all.iter().all(|calls| calls.must_end().now_or_never().is_none()),
            "nothing within a call is closed"
        );
        all[0].end(false);
        let served = all[0].must_end();
        let (_, place) = futures::future::join(
            async {
                served.await;
                held[0] = None
            },
            taking,
        )
        .await;
        assert_eq!(place.number, 4, "what has become idle meanwhile is found");
    }
}
