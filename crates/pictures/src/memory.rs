//! The memory budget for pixels, shared by all pictures that are decoded in this process at once.

use std::sync::{Condvar, Mutex, PoisonError};

/// The budget of this process, in bytes.
const TOTAL: u64 = 256 << 20;

/// The budget of this process.
pub(super) static BUDGET: MemoryBudget = MemoryBudget::new(TOTAL);

/// A number of bytes that can be reserved.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    total: u64,
    free: Mutex<u64>,
    released: Condvar,
}

/// Bytes that are reserved until this is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: &'static MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    const fn new(total: u64) -> MemoryBudget {
        MemoryBudget { total, free: Mutex::new(total), released: Condvar::new() }
    }

    /// Reserves `bytes`, or the whole budget if that is less, and blocks the thread until they are free. A thread that has a
    /// reservation must not make another, or both could wait for each other.
    pub(super) fn reserve(&'static self, bytes: u64) -> Reservation {
        let bytes = bytes.min(self.total);
        // A panic while the lock was held leaves the number correct.
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.released.wait_while(free, |free| *free < bytes).unwrap_or_else(PoisonError::into_inner);
        *free -= bytes;
        Reservation { budget: self, bytes }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        *self.budget.free.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn reservations_never_exceed_the_budget() {
        static SMALL: MemoryBudget = MemoryBudget::new(100);
        let (now, peak) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for number in 0..12 {
                let (now, peak) = (&now, &peak);
                scope.spawn(move || {
                    for round in 0..50 {
                        // Some reserve more than the budget.
                        let reserved = SMALL.reserve(20 + (number * 13 + round * 7) % 110);
                        let sum = now.fetch_add(reserved.bytes, Ordering::SeqCst) + reserved.bytes;
                        peak.fetch_max(sum, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(reserved.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(peak.load(Ordering::SeqCst) <= 100, "{peak:?}");
        assert_eq!(*SMALL.free.lock().unwrap(), 100, "all is released");
    }
}
