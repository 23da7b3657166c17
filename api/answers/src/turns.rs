//! The turns of dear reads. A read runs on a thread of the runtime, which answers nothing else meanwhile: a few dear ones at once would
//! keep everybody waiting, health checks too. So they wait for one of a few turns, in the order in which they came, and those that have
//! one leave the threads of the runtime to all other requests.

use std::num::NonZero;
use std::thread::available_parallelism;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio::task::block_in_place;

/// As many turns as there are processors.
#[derive(Debug)]
pub struct Turns(Semaphore);

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    _permit: Result<SemaphorePermit<'a>, AcquireError>,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns(Semaphore::new(Turns::at_once()))
    }
}

impl Turns {
    /// Returns the number of dear reads that run at once.
    pub fn at_once() -> usize {
        available_parallelism().map_or(1, NonZero::get)
    }

    /// Waits for a turn, which the caller bounds by the deadline of its request.
    pub async fn take(&self) -> Turn<'_> {
        // The semaphore is never closed.
        Turn { _permit: self.0.acquire().await }
    }
}

impl Turn<'_> {
    /// Runs a read apart.
    pub fn run<T>(self, read: impl FnOnce() -> T) -> T {
        apart(read)
    }
}

/// Runs work that takes milliseconds while another thread serves what waits for this one.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        // Another runtime has no thread to spare.
        _ => work(),
    }
}
