//! Whose turn it is: the hosts of pictures are asked in turn, each by a few at once, and one that is silent rests.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::wanted::Wanted;

/// The most pictures of one host, or drawn, at once.
const OF_ONE_HOST: usize = 2;

/// Silent tries in a row after which a host rests as a whole.
const SILENT_TRIES: u32 = 3;

/// How long a silent host rests.
const REST: Duration = Duration::from_secs(10 * 60);

/// A host with what is wanted of it; that of drawings has no name.
#[derive(Debug, Default)]
struct Host {
    queue: VecDeque<Wanted>,
    under_way: usize,
    silent: u32,
    rests_until: Option<Instant>,
}

/// The hosts, in turn.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    hosts: HashMap<Option<String>, Host>,
    /// Those with something in their queue, each once.
    turn: VecDeque<Option<String>>,
    /// What is tried again, by when; the number keeps those of one moment apart.
    later: BTreeMap<(Instant, u64), Wanted>,
    put_off: u64,
}

impl Hosts {
    /// Puts a picture at the end of the queue of its host.
    pub(super) fn push(&mut self, wanted: Wanted) {
        let name = wanted.host();
        let host = self.hosts.entry(name.clone()).or_default();
        if host.queue.is_empty() {
            self.turn.push_back(name);
        }
        host.queue.push_back(wanted);
    }

    /// Puts a picture off until then.
    pub(super) fn put_off(&mut self, wanted: Wanted, until: Instant) {
        self.put_off += 1;
        self.later.insert((until, self.put_off), wanted);
    }

    /// The next picture, of those that still wait. The host that gave it goes to the end of the turn.
    pub(super) fn next(&mut self, now: Instant, waits: impl Fn(&Wanted) -> bool) -> Option<Wanted> {
        while self.later.first_key_value().is_some_and(|((until, _), _)| *until <= now) {
            if let Some((_, wanted)) = self.later.pop_first() {
                self.push(wanted);
            }
        }
        for _ in 0..self.turn.len() {
            let name = self.turn.pop_front()?;
            let host = self.hosts.entry(name.clone()).or_default();
            while host.queue.front().is_some_and(|wanted| !waits(wanted)) {
                host.queue.pop_front();
            }
            host.rests_until = host.rests_until.filter(|until| *until > now);
            let is_free = host.under_way < OF_ONE_HOST && host.rests_until.is_none();
            let wanted = if is_free { host.queue.pop_front() } else { None };
            host.under_way += usize::from(wanted.is_some());
            if !host.queue.is_empty() {
                self.turn.push_back(name);
            } else {
                self.forget(&name);
            }
            if wanted.is_some() {
                return wanted;
            }
        }
        None
    }

    /// Notes that a picture is not under way any more, and whether its host was silent.
    pub(super) fn ended(&mut self, wanted: &Wanted, silent: bool, now: Instant) {
        let name = wanted.host();
        let host = self.hosts.entry(name.clone()).or_default();
        host.under_way = host.under_way.saturating_sub(1);
        host.silent = if silent { host.silent + 1 } else { 0 };
        host.rests_until = (host.silent >= SILENT_TRIES).then(|| now + REST);
        self.forget(&name);
    }

    /// Keeps nothing of a host with which all is well and of which nothing is wanted.
    fn forget(&mut self, name: &Option<String>) {
        let is_idle = |host: &Host| host.queue.is_empty() && host.under_way == 0 && host.silent == 0;
        if self.hosts.get(name).is_some_and(is_idle) {
            self.hosts.remove(name);
        }
    }

    /// When the first that was put off, or the first host that rests, is due.
    pub(super) fn earliest(&self) -> Option<Instant> {
        let later = self.later.keys().next().map(|(until, _)| *until);
        let rests = self.turn.iter().filter_map(|name| self.hosts.get(name)?.rests_until).min();
        later.into_iter().chain(rests).min()
    }
}
