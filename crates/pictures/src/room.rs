//! Room for pixels: all pictures that are being decoded in this process share it, whoever sends them.

use std::sync::{Condvar, Mutex, PoisonError};

/// The most that the pixels of all pictures may take together.
const MOST: u64 = 256 << 20;

/// The room of this process.
pub(super) static ROOM: Room = Room::new(MOST);

/// A number of bytes that is shared.
#[derive(Debug)]
pub(super) struct Room {
    most: u64,
    free: Mutex<u64>,
    given_back: Condvar,
}

/// Bytes that are taken out of the room of the process until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    room: &'static Room,
    bytes: u64,
}

impl Room {
    const fn new(most: u64) -> Room {
        Room { most, free: Mutex::new(most), given_back: Condvar::new() }
    }

    /// Takes so many bytes, and waits until they are free. More than there are is all of them. It is for threads that may
    /// wait; one that holds bytes already must not ask for more.
    pub(super) fn hold(&'static self, bytes: u64) -> Held {
        let bytes = bytes.min(self.most);
        // A panic while the lock was held leaves the number right.
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.given_back.wait_while(free, |free| *free < bytes).unwrap_or_else(PoisonError::into_inner);
        *free -= bytes;
        Held { room: self, bytes }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.room.free.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.room.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn what_many_hold_never_exceeds_the_room() {
        static SMALL: Room = Room::new(100);
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for number in 0..12 {
                let (now, most) = (&now, &most);
                scope.spawn(move || {
                    for round in 0..50 {
                        // Some ask for more than there is.
                        let held = SMALL.hold(20 + (number * 13 + round * 7) % 110);
                        let sum = now.fetch_add(held.bytes, Ordering::SeqCst) + held.bytes;
                        most.fetch_max(sum, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(held.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 100, "{most:?}");
        assert_eq!(*SMALL.free.lock().unwrap(), 100, "all is given back");
    }
}
