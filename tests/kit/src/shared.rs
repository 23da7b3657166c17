//! What several tests of one program look at, started once.

use std::sync::{Arc, Weak};

use tokio::sync::Mutex;

/// Something that all tests of the moment share: the first of them starts it, and it ends with the last.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Weak<T>>);

impl<T> Shared<T> {
    /// Nothing yet.
    pub const fn new() -> Shared<T> {
        Shared(Mutex::const_new(Weak::new()))
    }

    /// What runs, or else what `start` gives; `None` where it cannot be started.
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
