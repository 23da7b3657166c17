//! One consumer of the stream and its subscribers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use schemas::ids::Position;
use tokio_util::task::AbortOnDropHandle;

use super::window::{Bounds, Window};
use crate::source::SourceError;
use crate::source::delivery::Delivery;

/// Identifies a subscriber within the process.
pub(super) type SubscriberId = u64;

/// Whether a subscriber shares a consumer. A dedicated one costs the server a consumer, and decodes each event again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Shares. While the window is full, the others wait up to 10 seconds for this subscriber before it is evicted.
    Shared,
    /// Shares, but is evicted after 250 milliseconds: for a projection whose commits take long.
    LowPriority,
    /// Has its own consumer: neither waits for another subscriber nor is waited for.
    Dedicated,
}

/// A window, its subscribers, and the task that fills it. Dropping it ends the task.
#[derive(Debug)]
pub(super) struct SharedConsumer {
    window: Window,
    bounds: Bounds,
    subscribers: BTreeMap<SubscriberId, Subscriber>,
    sharing: Sharing,
    error: Option<SourceError>,
    pub(super) pump: Option<AbortOnDropHandle<()>>,
}

#[derive(Debug)]
struct Subscriber {
    /// The last event that it has read.
    after: Position,
    /// Whether it has read any since [`SharedConsumer::begin_wait`].
    has_read: bool,
    is_low_priority: bool,
}

/// The subscribers that an eviction may affect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Eviction {
    /// Stalled subscribers, if all of them have low priority.
    LowPriority,
    AllStalled,
}

impl SharedConsumer {
    /// Creates a consumer without subscribers and without a task.
    pub(super) fn new(after: Position, sharing: Sharing, bounds: Bounds) -> SharedConsumer {
        let window = Window::new(after);
        SharedConsumer { window, bounds, subscribers: BTreeMap::new(), sharing, error: None, pump: None }
    }

    /// Returns whether it can serve a subscriber that has read up to this position.
    pub(super) fn can_serve(&self, after: Position) -> bool {
        self.sharing != Sharing::Dedicated && self.error.is_none() && self.window.covers(after)
    }

    /// Adds a subscriber at a position that the window covers.
    pub(super) fn add(&mut self, id: SubscriberId, after: Position, sharing: Sharing) {
        let is_low_priority = sharing == Sharing::LowPriority;
        self.subscribers.insert(id, Subscriber { after, has_read: true, is_low_priority });
    }

    /// Removes a subscriber; returns whether it was the last one.
    pub(super) fn remove(&mut self, id: SubscriberId) -> bool {
        self.subscribers.remove(&id);
        self.subscribers.is_empty()
    }

    /// Returns whether it has this subscriber, which was not evicted.
    pub(super) fn has(&self, id: SubscriberId) -> bool {
        self.subscribers.contains_key(&id)
    }

    /// Appends up to `limit` events after the subscriber's position to the batch. Returns the error that closed the consumer
    /// once there are no more.
    pub(super) fn read(
        &mut self,
        id: SubscriberId,
        limit: usize,
        batch: &mut Vec<Arc<Delivery>>,
    ) -> Result<(), SourceError> {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return Ok(()) };
        let before = batch.len();
        batch.extend(self.window.events_after(subscriber.after).take(limit).cloned());
        match (batch.get(before..).and_then(<[_]>::last), &self.error) {
            (Some(last), _) => (subscriber.after, subscriber.has_read) = (last.position, true),
            (None, Some(error)) => return Err(error.clone()),
            (None, None) => {}
        }
        Ok(())
    }

    /// Moves the next events into the window while there is room.
    pub(super) fn push(&mut self, events: &mut VecDeque<Arc<Delivery>>) {
        let read = self.subscribers.values().map(|subscriber| subscriber.after).min();
        while let Some(next) = events.front()
            && self.window.make_room(next.size, read.unwrap_or(self.window.last()), &self.bounds)
        {
            events.pop_front().into_iter().for_each(|next| self.window.push(next));
        }
    }

    /// Starts to watch which subscribers read nothing.
    pub(super) fn begin_wait(&mut self) {
        self.subscribers.values_mut().for_each(|subscriber| subscriber.has_read = false);
    }

    /// Evicts the subscribers that have read nothing since [`SharedConsumer::begin_wait`] though there were events, and returns
    /// their number. Evicts none if all are stalled, because no other subscriber would gain.
    pub(super) fn evict(&mut self, eviction: Eviction) -> usize {
        let last = self.window.last();
        let is_stalled = |subscriber: &Subscriber| !subscriber.has_read && subscriber.after < last;
        let stalled = self.subscribers.values().filter(|subscriber| is_stalled(subscriber));
        let (count, all_low) =
            stalled.fold((0, true), |(count, all), stalled| (count + 1, all && stalled.is_low_priority));
        if count == self.subscribers.len() || (eviction == Eviction::LowPriority && !all_low) {
            return 0;
        }
        self.subscribers.retain(|_, subscriber| !is_stalled(subscriber));
        count
    }

    /// Closes it: subscribers receive this error after the last event.
    pub(super) fn close(&mut self, error: SourceError) {
        self.error.get_or_insert(error);
    }
}
