//! The shared consumers of a node, and which subscription reads from which.
//!
//! There is one consumer for each position at which subscriptions read. A subscription whose next event an older consumer
//! has, or receives next, is assigned to that one, so all that have caught up read from the oldest; a consumer ends with its
//! last subscription. A lagging subscription (its worker was restarted, or stalled until it was evicted) gets a consumer of
//! its own, and is assigned to a shared one again when it has caught up.

mod shared_consumer;
mod window;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use schemas::ids::Position;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::SourceError;
use super::delivery::Delivery;
use shared_consumer::{Eviction, SharedConsumer, SubscriberId};

pub use shared_consumer::Sharing;
pub(super) use window::Bounds;

/// Identifies a consumer; older ones have smaller numbers.
type ConsumerId = u64;

/// Sends events to a consumer until that fails, and closes it with the error.
type Pump = Box<dyn Fn(EventSender) -> BoxFuture<'static, ()> + Send + Sync>;

/// The consumers of a source.
pub(super) struct SharedConsumers {
    bounds: Bounds,
    pump: Pump,
    state: Mutex<State>,
    /// Wakes subscriptions: there are new events, or a consumer was closed.
    events_added: Notify,
    /// Wakes senders: events were read, or a subscription has moved or ended.
    events_read: Notify,
}

#[derive(Debug, Default)]
struct State {
    consumers: BTreeMap<ConsumerId, SharedConsumer>,
    last_consumer: ConsumerId,
    last_subscriber: SubscriberId,
}

/// The consumer that a subscription reads from, and how far it has read.
#[derive(Debug)]
struct Assignment {
    id: SubscriberId,
    consumer: ConsumerId,
    after: Position,
    sharing: Sharing,
}

/// Reads the events after a position at its own pace. Dropping the last subscription of a consumer ends the consumer.
#[derive(Debug)]
pub struct Subscription {
    consumers: Arc<SharedConsumers>,
    assignment: Assignment,
}

impl Subscription {
    pub(super) fn new(consumers: &Arc<SharedConsumers>, after: Position, sharing: Sharing) -> Subscription {
        Subscription { consumers: consumers.clone(), assignment: consumers.subscribe(after, sharing) }
    }

    /// Waits for at least one event and returns up to `limit` of those that are there.
    ///
    /// # Errors
    ///
    /// Returns the error that closed the consumer, after its last event. No more events come then; subscribe again.
    pub async fn next(&mut self, limit: usize) -> Result<Vec<Arc<Delivery>>, SourceError> {
        let mut batch = Vec::new();
        loop {
            let added = self.consumers.events_added.notified();
            self.consumers.read(&mut self.assignment, limit, &mut batch)?;
            if !batch.is_empty() {
                return Ok(batch);
            }
            added.await;
        }
    }

    /// Appends the events that are there already, up to `limit` in the whole batch.
    ///
    /// # Errors
    ///
    /// Returns the error that closed the consumer, after its last event.
    pub fn take_ready(&mut self, batch: &mut Vec<Arc<Delivery>>, limit: usize) -> Result<(), SourceError> {
        match limit.saturating_sub(batch.len()) {
            0 => Ok(()),
            limit => self.consumers.read(&mut self.assignment, limit, batch),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.consumers.unsubscribe(&self.assignment);
    }
}

impl SharedConsumers {
    /// Creates an empty set; `pump` fills each consumer that is created.
    pub(super) fn new<F>(
        bounds: Bounds,
        pump: impl Fn(EventSender) -> F + Send + Sync + 'static,
    ) -> Arc<SharedConsumers>
    where
        F: Future<Output = SourceError> + Send + 'static,
    {
        let pump: Pump = Box::new(move |sender| {
            let pumping = AssertUnwindSafe(pump(sender.clone()));
            let panicked = |_| SourceError::Unavailable("the reader of the stream ended".into());
            async move { sender.close(pumping.catch_unwind().await.unwrap_or_else(panicked)) }.boxed()
        });
        let state = Mutex::new(State::default());
        Arc::new(SharedConsumers {
            bounds,
            pump,
            state,
            events_added: Notify::new(),
            events_read: Notify::new(),
        })
    }

    /// Assigns a new subscription to all events after this position.
    fn subscribe(self: &Arc<Self>, after: Position, sharing: Sharing) -> Assignment {
        let mut state = self.lock();
        state.last_subscriber += 1;
        let mut assignment = Assignment { id: state.last_subscriber, consumer: 0, after, sharing };
        self.assign(&mut state, &mut assignment);
        assignment
    }

    /// Appends up to `limit` events to the batch, after assigning the subscription to the best consumer.
    fn read(
        self: &Arc<Self>,
        assignment: &mut Assignment,
        limit: usize,
        batch: &mut Vec<Arc<Delivery>>,
    ) -> Result<(), SourceError> {
        let before = batch.len();
        let mut state = self.lock();
        let abandoned = self.assign(&mut state, assignment);
        let outcome = match state.consumers.get_mut(&assignment.consumer) {
            Some(consumer) => consumer.read(assignment.id, limit, batch),
            None => Ok(()),
        };
        drop(state);
        if let Some(last) = batch.get(before..).and_then(<[_]>::last) {
            assignment.after = last.position;
            self.events_read.notify_waiters();
        }
        drop(abandoned);
        outcome
    }

    fn unsubscribe(&self, assignment: &Assignment) {
        let abandoned = self.lock().remove(assignment);
        self.events_read.notify_waiters();
        drop(abandoned);
    }

    /// Assigns a subscription to the oldest consumer that can serve it, if that is older than its own; after an eviction to
    /// any that can, or to a new one. Returns the consumer that has no subscription left, which the caller drops without the
    /// lock.
    fn assign(self: &Arc<Self>, state: &mut State, assignment: &mut Assignment) -> Option<SharedConsumer> {
        let own = state.consumers.get(&assignment.consumer);
        let is_assigned = own.is_some_and(|consumer| consumer.has(assignment.id));
        let before = if is_assigned { assignment.consumer } else { ConsumerId::MAX };
        let mut older = state.consumers.range(..before);
        let better = match assignment.sharing {
            Sharing::Shared | Sharing::LowPriority => {
                older.find(|(_, consumer)| consumer.can_serve(assignment.after)).map(|(id, _)| *id)
            }
            Sharing::Dedicated => None,
        };
        if better.is_none() && is_assigned {
            return None;
        }
        let abandoned = state.remove(assignment);
        assignment.consumer =
            better.unwrap_or_else(|| self.start(state, assignment.after, assignment.sharing));
        if let Some(consumer) = state.consumers.get_mut(&assignment.consumer) {
            consumer.add(assignment.id, assignment.after, assignment.sharing);
        }
        self.events_read.notify_waiters();
        abandoned
    }

    fn start(self: &Arc<Self>, state: &mut State, after: Position, sharing: Sharing) -> ConsumerId {
        state.last_consumer += 1;
        let bounds = match sharing {
            Sharing::Shared | Sharing::LowPriority => self.bounds,
            Sharing::Dedicated => self.bounds.doubled(),
        };
        let mut consumer = SharedConsumer::new(after, sharing, bounds);
        let pump = (self.pump)(EventSender { consumers: self.clone(), consumer: state.last_consumer, after });
        #[expect(
            clippy::disallowed_methods,
            reason = "the handle aborts the task with the last subscription"
        )]
        let pump = tokio::spawn(pump);
        consumer.pump = Some(AbortOnDropHandle::new(pump));
        state.consumers.insert(state.last_consumer, consumer);
        state.last_consumer
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Only an allocation can panic under the lock, and each change is complete before it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes a subscription from its consumer. Returns the consumer if it was the last one.
    fn remove(&mut self, assignment: &Assignment) -> Option<SharedConsumer> {
        let is_last = self.consumers.get_mut(&assignment.consumer)?.remove(assignment.id);
        is_last.then(|| self.consumers.remove(&assignment.consumer)).flatten()
    }
}

impl fmt::Debug for SharedConsumers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedConsumers").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// The sending half of one consumer.
#[derive(Debug, Clone)]
pub(super) struct EventSender {
    consumers: Arc<SharedConsumers>,
    consumer: ConsumerId,
    after: Position,
}

impl EventSender {
    /// Returns the position after which the consumer begins.
    pub(super) fn after(&self) -> Position {
        self.after
    }

    /// Adds the next events to the window, waiting for room until stalled subscribers are evicted: for
    /// [`Bounds::low_priority_timeout`] or [`Bounds::time_limit`]. Subscribers wake once for all events that there is room for.
    pub(super) async fn send(&self, events: impl IntoIterator<Item = Delivery>) {
        let mut events: VecDeque<_> = events.into_iter().map(Arc::new).collect();
        while !self.offer(&mut events) {
            self.with(SharedConsumer::begin_wait);
            let (began, bounds) = (tokio::time::Instant::now(), self.consumers.bounds);
            let evictions = [
                (bounds.low_priority_timeout, Eviction::LowPriority),
                (bounds.time_limit, Eviction::AllStalled),
            ];
            for (time_limit, eviction) in evictions {
                if !self.is_stuck(&mut events, began + time_limit).await {
                    break;
                }
                let evicted = self.with(|consumer| consumer.evict(eviction)).unwrap_or_default();
                if evicted > 0 {
                    tracing::info!(evicted, "stalled projections were evicted from the shared consumer");
                    break;
                }
            }
        }
    }

    /// Waits until at least one of the events has room; returns whether none has by `until`.
    async fn is_stuck(&self, events: &mut VecDeque<Arc<Delivery>>, until: tokio::time::Instant) -> bool {
        let waiting = events.len();
        loop {
            let read = self.consumers.events_read.notified();
            self.offer(events);
            if events.len() < waiting {
                return false;
            }
            if tokio::time::timeout_at(until, read).await.is_err() {
                return true;
            }
        }
    }

    /// Adds the events that there is room for; returns whether these were all. Discards them if the consumer has ended.
    fn offer(&self, events: &mut VecDeque<Arc<Delivery>>) -> bool {
        let before = events.len();
        if self.with(|consumer| consumer.push(events)).is_none() {
            events.clear();
        }
        if events.len() < before {
            self.consumers.events_added.notify_waiters();
        }
        events.is_empty()
    }

    fn close(&self, error: SourceError) {
        self.with(|consumer| consumer.close(error));
        self.consumers.events_added.notify_waiters();
    }

    fn with<T>(&self, change: impl FnOnce(&mut SharedConsumer) -> T) -> Option<T> {
        self.consumers.lock().consumers.get_mut(&self.consumer).map(change)
    }
}

#[cfg(test)]
mod tests;
