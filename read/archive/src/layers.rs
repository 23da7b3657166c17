//! A table that only grows, in two layers: most of its values are shared between snapshots, and a commit copies the recent ones alone.

use std::sync::Arc;

/// Recent values are merged into the others once there are more than this many, and more than a sixteenth of the others.
pub(crate) const MAX_RECENT: usize = 1_024;

/// Values by number, of which those of `base` have the lowest numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers<L> {
    pub(crate) base: Arc<L>,
    pub(crate) recent: L,
}

/// Some consecutive values, with what they are found by.
pub(crate) trait Layer: Clone + Default {
    type Value;

    /// Returns the values in the order of their numbers.
    fn values(&self) -> &[Self::Value];

    /// Appends the values that follow.
    fn extend(&mut self, others: Self);

    /// Returns the approximate memory in use, in bytes.
    fn bytes(&self) -> usize;
}

impl<L: Layer> Layers<L> {
    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.base.values().len() + self.recent.values().len()
    }

    /// Returns a value by its index.
    pub(crate) fn at(&self, index: usize) -> &L::Value {
        match index.checked_sub(self.base.values().len()) {
            None => &self.base.values()[index],
            Some(recent) => &self.recent.values()[recent],
        }
    }

    /// Merges the recent values into the others if there are many.
    pub(crate) fn merge_if_many(&mut self) {
        if self.recent.values().len() > MAX_RECENT.max(self.base.values().len() / 16) {
            let recent = std::mem::take(&mut self.recent);
            Arc::make_mut(&mut self.base).extend(recent);
        }
    }

    /// Returns the approximate memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.base.bytes() + self.recent.bytes()
    }
}
