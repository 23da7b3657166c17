//! The failing components of a process, with duration and reason: one list for log lines, readiness and metrics.
//!
//! A component is a loop that can fail and retry: a refresh, a relay, a copier. The process registers it with
//! [`Health::component`]; the loop reports each failure with [`Component::failed`] and each success with [`Component::recovered`].
//! A failure is logged when it begins and once a minute while it lasts. Once it has lasted as long as the component's grace period,
//! [`Health::not_ready`] names it.
//!
//! ```
//! use std::time::Duration;
//!
//! let health = health::Health::default();
//! let relay = health.component("relay").grace_period(Duration::ZERO);
//! relay.failed("NATS refuses the stream EVENTS: the disk is full");
//! assert_eq!(health.failing()[0].component, "relay");
//! assert!(health.not_ready().is_some());
//! relay.recovered();
//! assert_eq!((health.failing().len(), health.not_ready()), (0, None));
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The default of [`Component::grace_period`].
pub const GRACE_PERIOD: Duration = Duration::from_secs(600);

/// The interval between log lines of one failure.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The shortest interval between log lines if the reason changes.
const CHANGED_LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The components of a process; clones share the list.
#[derive(Debug, Clone, Default)]
pub struct Health {
    components: Arc<Mutex<BTreeMap<String, State>>>,
}

/// One component, held by the loop that reports on it; clones report on the same component.
#[derive(Debug, Clone)]
pub struct Component {
    name: String,
    health: Health,
}

/// A failing component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// The component's name.
    pub component: String,
    /// The latest reason, a clause without a full stop.
    pub reason: String,
    /// The time since the failure began.
    pub duration: Duration,
    /// Whether the failure has lasted as long as the component's grace period, so that the process is not ready.
    pub is_not_ready: bool,
    /// Whether the reason may be published; see [`Component::with_public_reasons`].
    pub is_public: bool,
}

#[derive(Debug)]
struct State {
    grace_period: Duration,
    is_public: bool,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    since: Instant,
    reason: String,
    logged: Instant,
    logged_reason: String,
    /// Reports since the last log line.
    reports: u64,
}

impl Health {
    /// Returns the component with this name; a new one is registered as working.
    pub fn component(&self, name: impl Into<String>) -> Component {
        let name = name.into();
        let new = || State { grace_period: GRACE_PERIOD, is_public: false, failure: None };
        self.lock().entry(name.clone()).or_insert_with(new);
        Component { name, health: self.clone() }
    }

    /// Returns all components with the duration of their failure; zero for working ones.
    pub fn durations(&self) -> Vec<(String, Duration)> {
        let now = Instant::now();
        let lasting = |state: &State| {
            state.failure.as_ref().map_or(Duration::ZERO, |failure| now.duration_since(failure.since))
        };
        self.lock().iter().map(|(name, state)| (name.clone(), lasting(state))).collect()
    }

    /// Returns the failing components, sorted by name.
    pub fn failing(&self) -> Vec<Failing> {
        self.failing_at(Instant::now())
    }

    /// Returns why the process is not ready, as sentences for operators; `None` if it is ready.
    pub fn not_ready(&self) -> Option<String> {
        self.sentences(|_| true)
    }

    /// Returns why the process is not ready, without reasons that may quote a database or another server; `None` if it is ready.
    pub fn not_ready_public(&self) -> Option<String> {
        self.sentences(|failing| failing.is_public)
    }

    fn sentences(&self, with_reason: impl Fn(&Failing) -> bool) -> Option<String> {
        let sentence = |failing: Failing| {
            let (component, seconds) = (&failing.component, failing.duration.as_secs());
            match with_reason(&failing) {
                true => format!("{component} has failed for {seconds} s: {}.", failing.reason),
                false => format!("{component} has failed for {seconds} s."),
            }
        };
        let failing = self.failing().into_iter().filter(|failing| failing.is_not_ready);
        let sentences: Vec<String> = failing.map(sentence).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    /// Logs failures whose last log line is at least a minute old. Call it about once a second: a loop that is stuck in one attempt
    /// reports nothing itself.
    pub fn log_lasting(&self) {
        self.log_lasting_at(Instant::now());
    }

    fn log_lasting_at(&self, now: Instant) -> Vec<String> {
        let mut due = Vec::new();
        for (name, state) in self.lock().iter_mut() {
            if let Some(failure) = &mut state.failure
                && let Some(line) = failure.line_due(name, now)
            {
                due.push(line);
            }
        }
        for line in &due {
            tracing::warn!("{line}");
        }
        due
    }

    fn failing_at(&self, now: Instant) -> Vec<Failing> {
        let components = self.lock();
        let failing = components.iter().filter_map(|(name, state)| {
            let failure = state.failure.as_ref()?;
            let duration = now.duration_since(failure.since);
            Some(Failing {
                component: name.clone(),
                reason: failure.reason.clone(),
                duration,
                is_not_ready: duration >= state.grace_period,
                is_public: state.is_public,
            })
        });
        failing.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        // The values are consistent even if a thread panicked with the lock held.
        self.components.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Component {
    /// Sets how long the component may fail before the process is not ready; [`Duration::MAX`] if readiness does not depend on it.
    pub fn grace_period(self, grace_period: Duration) -> Component {
        if let Some(state) = self.health.lock().get_mut(&self.name) {
            state.grace_period = grace_period;
        }
        self
    }

    /// Declares that the reasons are texts of this program and never quote a database or another server, so that they may be
    /// published.
    pub fn with_public_reasons(self) -> Component {
        if let Some(state) = self.health.lock().get_mut(&self.name) {
            state.is_public = true;
        }
        self
    }

    /// Reports a failed attempt with its reason, a clause without a full stop.
    pub fn failed(&self, reason: impl Display) {
        if let Some(line) = self.failed_at(&reason, Instant::now()) {
            tracing::warn!("{line}");
        }
    }

    /// Reports a success. Does nothing if the component was not failing.
    pub fn recovered(&self) {
        let failure = self.health.lock().get_mut(&self.name).and_then(|state| state.failure.take());
        if let Some(failure) = failure {
            tracing::info!("{} works again after {} s", self.name, failure.since.elapsed().as_secs());
        }
    }

    fn failed_at(&self, reason: &dyn Display, now: Instant) -> Option<String> {
        let reason = reason.to_string();
        let mut components = self.health.lock();
        let state = components.get_mut(&self.name)?;
        match &mut state.failure {
            Some(failure) => {
                failure.reason = reason;
                failure.reports += 1;
                failure.line_due(&self.name, now)
            }
            none => {
                let line = format!("{}: {reason}", self.name);
                *none = Some(Failure {
                    since: now,
                    reason: reason.clone(),
                    logged: now,
                    logged_reason: reason,
                    reports: 0,
                });
                Some(line)
            }
        }
    }
}

impl Failure {
    fn line_due(&mut self, name: &str, now: Instant) -> Option<String> {
        let elapsed = now.duration_since(self.logged);
        let changed = self.reason != self.logged_reason && elapsed >= CHANGED_LOG_INTERVAL;
        if !changed && elapsed < LOG_INTERVAL {
            return None;
        }
        let lasting = now.duration_since(self.since).as_secs();
        let line = format!(
            "{name}: {} (failing for {lasting} s, {} attempts since the last line)",
            self.reason, self.reports
        );
        self.logged = now;
        self.logged_reason.clone_from(&self.reason);
        self.reports = 0;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn a_failure_is_logged_when_it_begins_and_each_minute_while_it_lasts() {
        let health = Health::default();
        let copier = health.component("ledger");
        let start = Instant::now();
        let logged: Vec<u64> = (0..=130)
            .filter(|second| copier.failed_at(&"bad request", start + seconds(*second)).is_some())
            .collect();
        assert_eq!(logged, [0, 60, 120]);
        let lines = health.log_lasting_at(start + seconds(181));
        assert_eq!(lines, ["ledger: bad request (failing for 181 s, 10 attempts since the last line)"]);
        assert!(health.log_lasting_at(start + seconds(182)).is_empty());
    }

    #[test]
    fn a_reason_that_changes_each_time_is_logged_every_ten_seconds() {
        let health = Health::default();
        let relay = health.component("relay");
        let start = Instant::now();
        let logged = (0..60)
            .filter(|second| relay.failed_at(&format!("at {second}"), start + seconds(*second)).is_some())
            .count();
        assert_eq!(logged, 6);
    }

    #[test]
    fn reasons_are_published_only_if_declared_public() {
        let health = Health::default();
        let at_once = |name: &str| health.component(name).grace_period(Duration::ZERO);
        at_once("relay").failed("cannot open /srv/data/store/events.db");
        at_once("settings").with_public_reasons().failed("tiers differ");
        assert_eq!(
            health.not_ready().unwrap(),
            "relay has failed for 0 s: cannot open /srv/data/store/events.db. settings has failed for 0 s: tiers differ."
        );
        assert_eq!(
            health.not_ready_public().unwrap(),
            "relay has failed for 0 s. settings has failed for 0 s: tiers differ."
        );
    }

    #[test]
    fn a_process_is_not_ready_once_a_failure_lasts_as_long_as_its_grace_period() {
        let health = Health::default();
        let (slow, quick) =
            (health.component("slow"), health.component("quick").grace_period(Duration::ZERO));
        let never = health.component("never").grace_period(Duration::MAX);
        let start = Instant::now();
        let not_ready = |now| -> Vec<String> {
            let failing = health.failing_at(now).into_iter().filter(|failing| failing.is_not_ready);
            failing.map(|failing| failing.component).collect()
        };
        for component in [&slow, &quick, &never] {
            component.failed_at(&"broken", start);
        }
        assert_eq!(not_ready(start + seconds(1)), ["quick"]);
        slow.failed_at(&"broken otherwise", start + seconds(599));
        assert_eq!(not_ready(start + seconds(599)), ["quick"]);
        assert_eq!(not_ready(start + seconds(600)), ["quick", "slow"]);
        quick.recovered();
        slow.recovered();
        assert!(not_ready(start + seconds(601)).is_empty());
        assert_eq!(health.durations().iter().filter(|(_, lasting)| lasting.is_zero()).count(), 2);
    }
}
