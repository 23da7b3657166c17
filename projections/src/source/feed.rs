//! One reading of the stream and those who follow it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use schemas::ids::Position;
use tokio_util::task::AbortOnDropHandle;

use super::SourceError;
use super::arrived::Arrived;
use super::window::{Bounds, Window};

/// Names a follower for as long as its process lives.
pub(super) type FollowerId = u64;

/// Whether a follower reads together with others. A reading of its own costs a consumer, and each event is decoded once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// With those at the same place. When the window is full, they wait for it for seconds.
    Shared,
    /// The same, but the others wait for it for a moment only: for one whose commits take long.
    Yielding,
    /// Alone, always: it waits for no other follower, and none waits for it.
    Apart,
}

/// A window, its followers, and what fills it. Dropping it ends the reading.
#[derive(Debug)]
pub(super) struct Feed {
    window: Window,
    bounds: Bounds,
    followers: BTreeMap<FollowerId, Follower>,
    sharing: Sharing,
    ended: Option<SourceError>,
    pub(super) pump: Option<AbortOnDropHandle<()>>,
}

#[derive(Debug)]
struct Follower {
    /// The last event that it took.
    after: Position,
    /// Whether it took any since the feed began to wait.
    took: bool,
    /// Whether the others need not wait for it.
    yields: bool,
}

/// Which followers a feed lets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Those that yield, if the others wait for nothing else.
    Yielding,
    /// All that stand still.
    All,
}

impl Feed {
    /// A feed that nobody follows or fills yet.
    pub(super) fn new(after: Position, sharing: Sharing, bounds: Bounds) -> Feed {
        let window = Window::new(after);
        Feed { window, bounds, followers: BTreeMap::new(), sharing, ended: None, pump: None }
    }

    /// Whether a follower at this position can read here.
    pub(super) fn welcomes(&self, after: Position) -> bool {
        self.sharing != Sharing::Apart && self.ended.is_none() && self.window.reaches(after)
    }

    /// Counts a follower among its own; it stands where the window reaches.
    pub(super) fn join(&mut self, id: FollowerId, after: Position, sharing: Sharing) {
        let yields = sharing == Sharing::Yielding;
        self.followers.insert(id, Follower { after, took: true, yields });
    }

    /// Forgets a follower, and tells whether there is none any more.
    pub(super) fn leave(&mut self, id: FollowerId) -> bool {
        self.followers.remove(&id);
        self.followers.is_empty()
    }

    /// Whether this follower is one of its own still, and was not let go.
    pub(super) fn counts(&self, id: FollowerId) -> bool {
        self.followers.contains_key(&id)
    }

    /// Gives one of its followers what comes behind its position. Behind the last event comes the error that ended the
    /// feed, if one did.
    pub(super) fn take(
        &mut self,
        id: FollowerId,
        most: usize,
        batch: &mut Vec<Arc<Arrived>>,
    ) -> Result<(), SourceError> {
        let Some(follower) = self.followers.get_mut(&id) else { return Ok(()) };
        let before = batch.len();
        batch.extend(self.window.behind(follower.after).take(most).cloned());
        match (batch.get(before..).and_then(<[_]>::last), &self.ended) {
            (Some(last), _) => (follower.after, follower.took) = (last.position, true),
            (None, Some(error)) => return Err(error.clone()),
            (None, None) => {}
        }
        Ok(())
    }

    /// Takes in the next events for as long as there is room.
    pub(super) fn push(&mut self, events: &mut VecDeque<Arc<Arrived>>) {
        let passed = self.followers.values().map(|follower| follower.after).min();
        while let Some(next) = events.front()
            && self.window.make_room(next.size, passed.unwrap_or(self.window.last()), &self.bounds)
        {
            events.pop_front().into_iter().for_each(|next| self.window.push(next));
        }
    }

    /// Begins to wait for its followers.
    pub(super) fn watch(&mut self) {
        self.followers.values_mut().for_each(|follower| follower.took = false);
    }

    /// Lets go of the followers that took nothing since it began to wait, though there was something, and tells how
    /// many; none if nobody else would gain by it.
    pub(super) fn let_go(&mut self, which: Standing) -> usize {
        let last = self.window.last();
        let stands = |follower: &Follower| !follower.took && follower.after < last;
        let standing = self.followers.values().filter(|follower| stands(follower)).count();
        let all_yield = self.followers.values().all(|follower| !stands(follower) || follower.yields);
        if standing == self.followers.len() || (which == Standing::Yielding && !all_yield) {
            return 0;
        }
        self.followers.retain(|_, follower| !stands(follower));
        standing
    }

    /// Takes in nothing more, for this reason.
    pub(super) fn end(&mut self, error: SourceError) {
        self.ended.get_or_insert(error);
    }
}
