//! A layer of the log that keeps the same warning from filling it.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// How long a warning that was logged is suppressed.
const PERIOD: Duration = Duration::from_secs(60);
/// The maximum number of different warnings that are remembered.
const MOST: usize = 1_000;

/// Lets each warning and error through once a minute, and reports afterwards how often it was repeated. Two events are the same
/// if they come from one place in the code and their message and fields are equal.
#[derive(Debug)]
pub struct RepeatedWarnings {
    target: &'static str,
    report: fn(u64, &str),
    logged: Mutex<HashMap<u64, LoggedWarning>>,
}

#[derive(Debug)]
struct LoggedWarning {
    at: Instant,
    /// The number of repetitions since.
    repeated: u64,
    message: String,
}

impl RepeatedWarnings {
    /// Returns a layer that reports repetitions by calling `report` with their number and the message. `report` logs under
    /// `target`, whose events are all let through.
    pub fn new(target: &'static str, report: fn(u64, &str)) -> RepeatedWarnings {
        RepeatedWarnings { target, report, logged: Mutex::default() }
    }

    /// Returns whether a warning is to be logged now, and the earlier ones whose repetitions are to be reported.
    fn check(&self, key: u64, message: String, now: Instant) -> (bool, Vec<(String, u64)>) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut repeated = Vec::new();
        logged.retain(|_, warning| {
            let is_over = now.duration_since(warning.at) >= PERIOD;
            if is_over && warning.repeated > 0 {
                repeated.push((std::mem::take(&mut warning.message), warning.repeated));
            }
            !is_over
        });
        if let Some(warning) = logged.get_mut(&key) {
            warning.repeated += 1;
            return (false, repeated);
        }
        if logged.len() < MOST {
            logged.insert(key, LoggedWarning { at: now, repeated: 0, message });
        }
        (true, repeated)
    }
}

impl<S: Subscriber> Layer<S> for RepeatedWarnings {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::WARN || metadata.target() == self.target {
            return true;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut hasher = DefaultHasher::new();
        (metadata.callsite(), &fields.message, &fields.others).hash(&mut hasher);
        let (is_new, repeated) = self.check(hasher.finish(), fields.message, Instant::now());
        for (message, times) in repeated {
            (self.report)(times, &message);
        }
        is_new
    }
}

/// The message of an event, and its other fields as text.
#[derive(Debug, Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.others, "{name}={value:?};"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings() -> RepeatedWarnings {
        RepeatedWarnings::new("test", |_, _| {})
    }

    #[test]
    fn a_warning_is_logged_once_a_minute_with_its_count() {
        let (warnings, begun) = (warnings(), Instant::now());
        let check = |key: u64, second: u64| {
            warnings.check(key, format!("warning {key}"), begun + Duration::from_secs(second))
        };
        assert_eq!(check(1, 0), (true, vec![]));
        assert_eq!(check(1, 1), (false, vec![]));
        assert_eq!(check(2, 30), (true, vec![]));
        assert_eq!(check(1, 59), (false, vec![]));
        assert_eq!(check(1, 60), (true, vec![("warning 1".to_owned(), 2)]));
        assert_eq!(check(1, 61), (false, vec![]));
        assert_eq!(check(3, 125), (true, vec![("warning 1".to_owned(), 1)]));
    }

    #[test]
    fn different_warnings_are_all_logged_and_memory_is_bounded() {
        let (warnings, now) = (warnings(), Instant::now());
        for key in 0..2 * MOST as u64 {
            assert!(warnings.check(key, String::new(), now).0, "{key}");
        }
        assert_eq!(warnings.logged.lock().unwrap().len(), MOST);
    }
}
