//! All readings of the stream that are under way, and who reads from which.
//!
//! There is a feed for each place at which somebody reads. A follower whose next event an older feed holds, or gets
//! next, moves over to it, so all who are level read from the oldest; a feed ends with its last follower. One that is
//! behind (it was restarted, or stood still until it was let go) gets a feed of its own and comes back the same way.

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
use super::arrived::Arrived;
use super::feed::{Feed, FollowerId, Sharing, Standing};
use super::window::Bounds;

/// Counts feeds; of two feeds the smaller number is the older one.
type FeedId = u64;

/// Fills a feed until it cannot, and tells why.
type Pump = Box<dyn Fn(Feeder) -> BoxFuture<'static, ()> + Send + Sync>;

/// The feeds of a source.
pub(super) struct Feeds {
    bounds: Bounds,
    pump: Pump,
    state: Mutex<State>,
    /// Something came, or a feed ended: followers look again.
    arrived: Notify,
    /// Something was taken, or a follower left: feeds look again.
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    feeds: BTreeMap<FeedId, Feed>,
    made: FeedId,
    followers: FollowerId,
}

/// Where a follower reads.
#[derive(Debug)]
pub(super) struct Place {
    id: FollowerId,
    feed: FeedId,
    after: Position,
    sharing: Sharing,
}

impl Feeds {
    /// No feed yet; each will be filled by a pump of its own.
    pub(super) fn new<F>(bounds: Bounds, pump: impl Fn(Feeder) -> F + Send + Sync + 'static) -> Arc<Feeds>
    where
        F: Future<Output = SourceError> + Send + 'static,
    {
        let pump: Pump = Box::new(move |feeder| {
            let filling = AssertUnwindSafe(pump(feeder.clone()));
            let ended = |_| SourceError::Unavailable("the reader of the stream ended".into());
            async move { feeder.end(filling.catch_unwind().await.unwrap_or_else(ended)) }.boxed()
        });
        let state = Mutex::new(State::default());
        Arc::new(Feeds { bounds, pump, state, arrived: Notify::new(), taken: Notify::new() })
    }

    /// Returns a new follower's place, for everything after this position.
    pub(super) fn join(self: &Arc<Self>, after: Position, sharing: Sharing) -> Place {
        let mut state = self.lock();
        state.followers += 1;
        let mut place = Place { id: state.followers, feed: 0, after, sharing };
        self.seat(&mut state, &mut place);
        place
    }

    /// Gives a follower what there is for it, after moving it to where it can be had best.
    pub(super) fn take(
        self: &Arc<Self>,
        place: &mut Place,
        most: usize,
        batch: &mut Vec<Arc<Arrived>>,
    ) -> Result<(), SourceError> {
        let before = batch.len();
        let mut state = self.lock();
        let left = self.seat(&mut state, place);
        let outcome = match state.feeds.get_mut(&place.feed) {
            Some(feed) => feed.take(place.id, most, batch),
            None => Ok(()),
        };
        drop(state);
        if let Some(last) = batch.get(before..).and_then(<[_]>::last) {
            place.after = last.position;
            self.taken.notify_waiters();
        }
        drop(left);
        outcome
    }

    /// A follower is gone; a feed that nobody follows any more ends.
    pub(super) fn leave(&self, place: &Place) {
        let left = self.lock().leave(place);
        self.taken.notify_waiters();
        drop(left);
    }

    /// Wakes when there may be something to take.
    pub(super) fn arrived(&self) -> &Notify {
        &self.arrived
    }

    /// Moves a follower to the oldest feed that has what it needs, if that is older than its own; one that was let go
    /// takes any, or a new one. What it leaves empty ends when it is dropped.
    fn seat(self: &Arc<Self>, state: &mut State, place: &mut Place) -> Option<Feed> {
        let is_seated = state.feeds.get(&place.feed).is_some_and(|feed| feed.counts(place.id));
        let before = if is_seated { place.feed } else { FeedId::MAX };
        let mut better = state.feeds.range(..before);
        let better = match place.sharing {
            Sharing::Shared | Sharing::Yielding => {
                better.find(|(_, feed)| feed.welcomes(place.after)).map(|(id, _)| *id)
            }
            Sharing::Apart => None,
        };
        let left = match better {
            None if is_seated => return None,
            Some(_) | None => state.leave(place),
        };
        place.feed = better.unwrap_or_else(|| self.start(state, place.after, place.sharing));
        if let Some(feed) = state.feeds.get_mut(&place.feed) {
            feed.join(place.id, place.after, place.sharing);
        }
        self.taken.notify_waiters();
        left
    }

    fn start(self: &Arc<Self>, state: &mut State, after: Position, sharing: Sharing) -> FeedId {
        state.made += 1;
        let bounds = match sharing {
            Sharing::Shared | Sharing::Yielding => self.bounds,
            Sharing::Apart => self.bounds.doubled(),
        };
        let mut feed = Feed::new(after, sharing, bounds);
        let pump = (self.pump)(Feeder { feeds: self.clone(), feed: state.made, after });
        #[expect(clippy::disallowed_methods, reason = "the handle aborts the task with its last follower")]
        let pump = tokio::spawn(pump);
        feed.pump = Some(AbortOnDropHandle::new(pump));
        state.feeds.insert(state.made, feed);
        state.made
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change under the lock is whole; a panic in between would have to be one of the allocator.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn leave(&mut self, place: &Place) -> Option<Feed> {
        let is_empty = self.feeds.get_mut(&place.feed)?.leave(place.id);
        is_empty.then(|| self.feeds.remove(&place.feed)).flatten()
    }
}

impl fmt::Debug for Feeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feeds").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// Fills one feed.
#[derive(Debug, Clone)]
pub(super) struct Feeder {
    feeds: Arc<Feeds>,
    feed: FeedId,
    after: Position,
}

impl Feeder {
    /// The position behind which the feed begins.
    pub(super) fn after(&self) -> Position {
        self.after
    }

    /// Adds the events that come next, as soon as the followers let it; [`Bounds::moment`] and [`Bounds::patience`] tell
    /// how long they may not. Followers wake once for all that there is room for.
    pub(super) async fn push(&self, events: impl IntoIterator<Item = Arrived>) {
        let mut events: VecDeque<_> = events.into_iter().map(Arc::new).collect();
        while !self.offer(&mut events) {
            self.with(Feed::watch);
            let (began, bounds) = (tokio::time::Instant::now(), self.feeds.bounds);
            for (patience, which) in [(bounds.moment, Standing::Yielding), (bounds.patience, Standing::All)] {
                if !self.is_stuck(&mut events, began + patience).await {
                    break;
                }
                let let_go = self.with(|feed| feed.let_go(which)).unwrap_or_default();
                if let_go > 0 {
                    tracing::info!(let_go, "projections that stand still read on by themselves");
                    break;
                }
            }
        }
    }

    /// Waits until there was room for one of the events at least, and tells whether there was none for too long.
    async fn is_stuck(&self, events: &mut VecDeque<Arc<Arrived>>, until: tokio::time::Instant) -> bool {
        let waiting = events.len();
        loop {
            let taken = self.feeds.taken.notified();
            self.offer(events);
            if events.len() < waiting {
                return false;
            }
            if tokio::time::timeout_at(until, taken).await.is_err() {
                return true;
            }
        }
    }

    /// Adds the first of the events that there is room for, and tells whether these were all. Events that nobody waits
    /// for are gone.
    fn offer(&self, events: &mut VecDeque<Arc<Arrived>>) -> bool {
        let before = events.len();
        if self.with(|feed| feed.push(events)).is_none() {
            events.clear();
        }
        if events.len() < before {
            self.feeds.arrived.notify_waiters();
        }
        events.is_empty()
    }

    /// Nothing more comes, for this reason: every follower learns it behind the last event.
    fn end(&self, error: SourceError) {
        self.with(|feed| feed.end(error));
        self.feeds.arrived.notify_waiters();
    }

    fn with<T>(&self, change: impl FnOnce(&mut Feed) -> T) -> Option<T> {
        self.feeds.lock().feeds.get_mut(&self.feed).map(change)
    }
}

#[cfg(test)]
mod tests;
