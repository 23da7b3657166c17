//! Queues of pictures by host: hosts take turns, each is sent few requests at once, and one that times out is paused.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use schemas::ids::ProjectId;
use tokio::time::Instant;

/// Prefixes of the sources that are URLs of pictures.
pub(super) const SCHEMES: [&str; 2] = ["https://", "http://"];

/// Concurrent fetches per host, and concurrent generated pictures.
const MAX_PER_HOST: usize = 2;

/// Timeouts in a row after which the whole host is paused.
const MAX_TIMEOUTS: u32 = 3;

/// How long a host that timed out is paused.
const HOST_PAUSE: Duration = Duration::from_secs(10 * 60);

/// A picture to fetch or to generate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct FetchJob {
    pub(super) project: ProjectId,
    /// The source of the picture as the record names it.
    pub(super) source: String,
}

impl FetchJob {
    /// Returns the URL to fetch; `None` for a picture to generate. It is always https: the thumbnail that a record names may be
    /// http.
    pub(super) fn url(&self) -> Option<String> {
        let rest = SCHEMES.iter().find_map(|scheme| self.source.strip_prefix(scheme))?;
        Some(format!("https://{rest}"))
    }

    /// Returns the host of the URL, in lower case; `None` for a picture to generate.
    pub(super) fn host(&self) -> Option<String> {
        let rest = SCHEMES.iter().find_map(|scheme| self.source.strip_prefix(scheme))?;
        rest.split(['/', '?', '#']).next().map(str::to_ascii_lowercase)
    }
}

/// The queue of one host. Pictures to generate have one queue, without a host name.
#[derive(Debug, Default)]
struct HostQueue {
    jobs: VecDeque<FetchJob>,
    in_flight: usize,
    /// Timeouts since the last other outcome.
    timeouts: u32,
    paused_until: Option<Instant>,
}

/// The queues of all hosts, served round-robin.
#[derive(Debug, Default)]
pub(super) struct HostQueues {
    hosts: HashMap<Option<String>, HostQueue>,
    /// Hosts with a job in their queue, each once, in the order of their turns.
    turns: VecDeque<Option<String>>,
    /// Jobs in backoff by due time; the number tells jobs with the same time apart.
    delayed: BTreeMap<(Instant, u64), FetchJob>,
    delayed_count: u64,
}

impl HostQueues {
    /// Appends a job to the queue of its host.
    pub(super) fn push(&mut self, job: FetchJob) {
        let name = job.host();
        let host = self.hosts.entry(name.clone()).or_default();
        if host.jobs.is_empty() {
            self.turns.push_back(name);
        }
        host.jobs.push_back(job);
    }

    /// Appends a job to the queue of its host at `due`.
    pub(super) fn push_at(&mut self, job: FetchJob, due: Instant) {
        self.delayed_count += 1;
        self.delayed.insert((due, self.delayed_count), job);
    }

    /// Removes and returns the next job for which `is_waiting`; others before it are dropped. The host that is served goes to the
    /// end of the turns.
    pub(super) fn pop(&mut self, now: Instant, is_waiting: impl Fn(&FetchJob) -> bool) -> Option<FetchJob> {
        while self.delayed.first_key_value().is_some_and(|((due, _), _)| *due <= now) {
            if let Some((_, job)) = self.delayed.pop_first() {
                self.push(job);
            }
        }
        for _ in 0..self.turns.len() {
            let name = self.turns.pop_front()?;
            let host = self.hosts.entry(name.clone()).or_default();
            while host.jobs.front().is_some_and(|job| !is_waiting(job)) {
                host.jobs.pop_front();
            }
            host.paused_until = host.paused_until.filter(|until| *until > now);
            let is_free = host.in_flight < MAX_PER_HOST && host.paused_until.is_none();
            let job = if is_free { host.jobs.pop_front() } else { None };
            host.in_flight += usize::from(job.is_some());
            if !host.jobs.is_empty() {
                self.turns.push_back(name);
            } else {
                self.remove_if_idle(&name);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    /// Records that a job is no longer in flight, and whether its host timed out.
    pub(super) fn finish(&mut self, job: &FetchJob, timed_out: bool, now: Instant) {
        let name = job.host();
        let host = self.hosts.entry(name.clone()).or_default();
        host.in_flight = host.in_flight.saturating_sub(1);
        host.timeouts = if timed_out { host.timeouts + 1 } else { 0 };
        host.paused_until = (host.timeouts >= MAX_TIMEOUTS).then(|| now + HOST_PAUSE);
        self.remove_if_idle(&name);
    }

    /// Frees the memory of a host without jobs and without timeouts.
    fn remove_if_idle(&mut self, name: &Option<String>) {
        let is_idle = |host: &HostQueue| host.jobs.is_empty() && host.in_flight == 0 && host.timeouts == 0;
        if self.hosts.get(name).is_some_and(is_idle) {
            self.hosts.remove(name);
        }
    }

    /// Returns when the first delayed job is due or the first paused host resumes, whichever is earlier.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let delayed = self.delayed.keys().next().map(|(due, _)| *due);
        let paused = self.turns.iter().filter_map(|name| self.hosts.get(name)?.paused_until).min();
        delayed.into_iter().chain(paused).min()
    }
}
