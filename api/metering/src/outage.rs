//! What a node may admit by itself while NATS is away: its share of what was left of each quota, so that all nodes together stay
//! within it.
//!
//! The share is what was left divided by the nodes that were last seen ([`NodesSeen`]), less the node's own calls that wait. It
//! also binds for a moment after NATS has returned: other nodes may not have published yet what they admitted.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Budget;

/// How long shares bind after NATS has returned: longer than nodes take to connect again and to begin to publish their spools.
const SETTLING: Duration = Duration::from_secs(10);
/// How long a node counts that was seen: it may be cut off, and admit calls by itself.
const REMEMBERED: Duration = Duration::from_secs(600);
/// The name of the file with the number of nodes, in the folder of the spool: for a process that starts while NATS is away.
pub const NODES_FILE: &str = "nodes";

/// The end of a time that has none yet.
const OPEN_END: u64 = u64::MAX;

/// The present outage of NATS, if there is one, and the shares that are left of this node.
#[derive(Debug)]
pub(super) struct Outage {
    began: Instant,
    /// The number of nodes that were last seen, at least one.
    nodes: AtomicU64,
    /// Until when shares bind, in milliseconds since `began`; 0 if they do not, [`OPEN_END`] while NATS is away.
    until: AtomicU64,
    shares: Mutex<Shares>,
}

#[derive(Debug, Default)]
struct Shares {
    /// The number of the outage.
    outage: u64,
    /// The calls that this node may still admit, by budget.
    left: HashMap<Budget, u64>,
}

/// What a budget has, as far as this node knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    /// The calls that NATS has counted.
    pub(super) counted: u64,
    /// The calls in the spool of this node.
    pub(super) spooled: u64,
}

/// A call of this node's share. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct ShareOfBudget {
    outage: Arc<Outage>,
    taken_from: Option<(u64, Budget)>,
}

impl Outage {
    pub(super) fn new(nodes: u64) -> Outage {
        Outage {
            began: Instant::now(),
            nodes: AtomicU64::new(nodes.max(1)),
            until: AtomicU64::new(0),
            shares: Mutex::default(),
        }
    }

    /// Records the number of nodes.
    pub(super) fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Returns the number of nodes that were last seen, at least one.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Records that NATS is away.
    pub(super) fn begin(&self) {
        self.begin_at(self.now());
    }

    fn begin_at(&self, now: u64) {
        if self.until.load(Ordering::Relaxed) == OPEN_END {
            return;
        }
        let mut shares = self.shares();
        let before = self.until.swap(OPEN_END, Ordering::Relaxed);
        if before <= now {
            *shares = Shares { outage: shares.outage + 1, left: HashMap::new() };
        }
    }

    /// Records that NATS answers. Does nothing if it was not away.
    pub(super) fn returned(&self) {
        self.returned_at(self.now());
    }

    fn returned_at(&self, now: u64) {
        let end = now + millis(SETTLING);
        let _not_away = self.until.compare_exchange(OPEN_END, end, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether NATS is away, as far as this node has noticed.
    pub(super) fn is_away(&self) -> bool {
        self.until.load(Ordering::Relaxed) == OPEN_END
    }

    /// Returns whether this node may admit its share of a budget and no more. A node alone has no shares.
    pub(super) fn is_limited(&self) -> bool {
        self.is_limited_at(|| self.now())
    }

    fn is_limited_at(&self, now: impl FnOnce() -> u64) -> bool {
        // Nearly always 0.
        let until = self.until.load(Ordering::Relaxed);
        if until == 0 || self.nodes() == 1 {
            return false;
        }
        if until > now() {
            return true;
        }
        let mut shares = self.shares();
        if self.until.compare_exchange(until, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            *shares = Shares { outage: shares.outage + 1, left: HashMap::new() };
        }
        false
    }

    /// Takes a call from this node's share of a budget; `None` if it is used up. `usage` is looked up for the first call of an outage.
    pub(super) fn take(
        self: &Arc<Self>,
        budget: &Budget,
        limit: u64,
        usage: impl FnOnce() -> Usage,
    ) -> Option<ShareOfBudget> {
        let nodes = self.nodes();
        if nodes == 1 {
            return Some(ShareOfBudget { outage: self.clone(), taken_from: None });
        }
        let mut shares = self.shares();
        let outage = shares.outage;
        let left = shares.left.entry(budget.clone()).or_insert_with(|| share(limit, usage(), nodes));
        *left = left.checked_sub(1)?;
        Some(ShareOfBudget { outage: self.clone(), taken_from: Some((outage, budget.clone())) })
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the milliseconds since the start, never 0.
    fn now(&self) -> u64 {
        1 + millis(self.began.elapsed())
    }
}

impl ShareOfBudget {
    /// Keeps the call taken: it was admitted.
    pub(super) fn keep(mut self) {
        self.taken_from = None;
    }
}

impl Drop for ShareOfBudget {
    fn drop(&mut self) {
        let Some((outage, budget)) = self.taken_from.take() else { return };
        let mut shares = self.outage.shares();
        if shares.outage == outage
            && let Some(left) = shares.left.get_mut(&budget)
        {
            *left += 1;
        }
    }
}

/// Returns the calls that one of `nodes` may admit. What waits in its spool is part of its share: the others have not seen it.
fn share(limit: u64, usage: Usage, nodes: u64) -> u64 {
    (limit.saturating_sub(usage.counted) / nodes).saturating_sub(usage.spooled)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The numbers of nodes that were seen lately. The highest counts: one that is missing now may be cut off.
#[derive(Debug)]
pub(super) struct NodesSeen {
    /// The higher ones of the past, each followed by lower ones only.
    lately: VecDeque<(Instant, u64)>,
    /// The number of the last observation.
    last: Option<u64>,
    path: PathBuf,
    stored: Option<u64>,
}

impl NodesSeen {
    /// Reads the number that the last process on the folder left.
    pub(super) fn read(folder: &Path) -> NodesSeen {
        let path = folder.join(NODES_FILE);
        let stored = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        let lately = stored.map(|nodes| (Instant::now(), nodes)).into_iter().collect();
        NodesSeen { lately, last: None, path, stored }
    }

    /// Returns the number of nodes; one if none was ever seen.
    pub(super) fn number(&self) -> u64 {
        self.lately.front().map_or(1, |(_, nodes)| *nodes).max(1)
    }

    /// Records an observation. A higher number counts once it was observed twice: for a moment there are consumers that look up old calls.
    pub(super) fn observe(&mut self, nodes: u64, now: Instant) {
        let lasting = self.last.replace(nodes).map_or(nodes, |before| before.min(nodes));
        self.lately.retain(|(at, _)| now.saturating_duration_since(*at) < REMEMBERED);
        while self.lately.back().is_some_and(|(_, seen)| *seen <= lasting) {
            self.lately.pop_back();
        }
        self.lately.push_back((now, lasting));
    }

    /// Returns the file and its new content if the number has changed since it was written.
    pub(super) fn unsaved(&mut self) -> Option<(PathBuf, u64)> {
        let number = self.number();
        (self.stored.replace(number) != Some(number)).then(|| (self.path.clone(), number))
    }
}

/// Writes the number of nodes in one step. Blocks on the disk.
pub(super) fn save(path: &Path, number: u64) -> std::io::Result<()> {
    let new = path.with_extension(uuid::Uuid::new_v4().simple().to_string());
    std::fs::write(&new, format!("{number}\n"))?;
    std::fs::rename(&new, path).inspect_err(|_| {
        // Nothing else refers to it.
        let _ = std::fs::remove_file(&new);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(key: &str) -> Budget {
        Budget {
            key_id: key.parse().unwrap(),
            tier: Arc::new("free".parse().unwrap()),
            month: "2026-11".parse().unwrap(),
        }
    }

    fn usage(counted: u64, spooled: u64) -> Usage {
        Usage { counted, spooled }
    }

    #[test]
    fn the_shares_of_all_nodes_together_are_what_was_left() {
        let admitted = |usage: Usage| {
            let outage = Arc::new(Outage::new(3));
            outage.begin();
            let taken = (0..500).map_while(|_| outage.take(&budget("Ab3dEf9h"), 500, || usage));
            taken.map(ShareOfBudget::keep).count()
        };
        assert_eq!(admitted(usage(400, 0)), 33);
        assert_eq!(admitted(usage(499, 0)), 0);
        assert_eq!(admitted(usage(600, 0)), 0);
        assert_eq!(admitted(usage(410, 23)), 7, "what waits since the last outage is part of it");
    }

    #[test]
    fn a_share_binds_until_the_others_have_published_what_they_admitted() {
        let (outage, budget) = (Arc::new(Outage::new(2)), budget("Ab3dEf9h"));
        assert!(!outage.is_limited_at(|| 5), "NATS was never away");
        outage.returned_at(5);
        assert!(!outage.is_limited_at(|| 5));
        outage.begin_at(10);
        assert!(outage.is_away() && outage.is_limited_at(|| 20));
        outage.take(&budget, 10, || usage(4, 0)).unwrap().keep();
        outage.returned_at(30);
        outage.begin_at(40);
        outage.returned_at(50);
        assert!(!outage.is_away() && outage.is_limited_at(|| 10_049));
        for _ in 0..2 {
            outage.take(&budget, 10, || usage(0, 0)).unwrap().keep();
        }
        assert!(outage.take(&budget, 10, || usage(0, 0)).is_none(), "the same outage, the same share");
        assert!(!outage.is_limited_at(|| 10_050));
        outage.begin_at(10_060);
        assert!(outage.take(&budget, 10, || usage(0, 0)).is_some(), "another outage");
    }

    #[test]
    fn a_call_that_was_not_admitted_is_given_back() {
        let (outage, budget) = (Arc::new(Outage::new(2)), budget("Ab3dEf9h"));
        outage.begin_at(1);
        let taken = outage.take(&budget, 2, || usage(0, 0)).unwrap();
        assert!(outage.take(&budget, 2, || usage(0, 0)).is_none());
        drop(taken);
        let taken = outage.take(&budget, 2, || usage(0, 0)).unwrap();
        outage.returned_at(2);
        assert!(!outage.is_limited_at(|| 20_000));
        outage.begin_at(30_000);
        outage.take(&budget, 2, || usage(0, 0)).unwrap().keep();
        drop(taken);
        assert!(outage.take(&budget, 2, || usage(0, 0)).is_none(), "it was of an earlier outage");
    }

    #[test]
    fn a_node_alone_has_no_shares() {
        let (outage, budget) = (Arc::new(Outage::new(0)), budget("Ab3dEf9h"));
        outage.begin();
        assert!(outage.is_away() && !outage.is_limited());
        assert!((0..9).all(|_| outage.take(&budget, 1, || usage(1, 1)).is_some()));
    }

    #[test]
    fn nodes_count_that_were_seen_lately_or_by_the_last_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = NodesSeen::read(folder.path());
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut number = |nodes, seconds| {
            seen.observe(nodes, after(seconds));
            seen.number()
        };
        let numbers = [number(3, 0), number(4, 3), number(3, 6), number(0, 9), number(0, 12)];
        assert_eq!(numbers, [3; 5], "a consumer too many for a moment is none");
        assert_eq!([number(2, 500), number(2, 503)], [3, 3], "a node that is missing may be cut off");
        assert_eq!([number(2, 700), number(5, 703), number(5, 706)], [2, 2, 5]);
        let (path, unsaved) = seen.unsaved().unwrap();
        save(&path, unsaved).unwrap();
        assert_eq!(seen.unsaved(), None);
        assert_eq!(NodesSeen::read(folder.path()).number(), 5);
        std::fs::write(&path, "five").unwrap();
        assert_eq!(NodesSeen::read(folder.path()).number(), 1);
    }
}
