//! Servers that several tests of one program share.

use std::sync::{Arc, Weak};

use tokio::sync::Mutex;

/// A value that concurrent tests share: the first creates it, and it is dropped with the last.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Weak<T>>);

impl<T> Shared<T> {
    /// Returns an empty cell.
    pub const fn new() -> Shared<T> {
        Shared(Mutex::const_new(Weak::new()))
    }

    /// Returns the running value, or creates it by `start`; `None` if `start` returns `None`.
    pub async fn get(&self, start: impl AsyncFnOnce() -> Option<T>) -> Option<Arc<T>> {
        let mut shared = self.0.lock().await;
        if let Some(running) = shared.upgrade() {
            return Some(running);
        }
        let started = Arc::new(start().await?);
        *shared = Arc::downgrade(&started);
        Some(started)
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Shared<T> {
        Shared::new()
    }
}
