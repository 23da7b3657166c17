//! Keeps the same warning from filling the log.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// How long a warning is not logged again.
const PERIOD: Duration = Duration::from_secs(60);
/// How many different warnings are remembered at the most.
const MOST: usize = 1_000;

/// Lets each warning and error through once in a period, and says afterwards how often it came meanwhile. Two are the same
/// if they come from one place in the code and all that they say is alike.
#[derive(Debug, Default)]
pub struct Repeated {
    seen: Mutex<HashMap<u64, Seen>>,
}

#[derive(Debug)]
struct Seen {
    logged: Instant,
    /// How often it came since.
    held_back: u64,
    text: String,
}

impl Repeated {
    /// Returns whether a warning is to be logged now, and the ones of which it is to be told how often they came.
    fn judge(&self, key: u64, text: String, now: Instant) -> (bool, Vec<(String, u64)>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = Vec::new();
        seen.retain(|_, known| {
            let is_over = now.duration_since(known.logged) >= PERIOD;
            if is_over && known.held_back > 0 {
                told.push((std::mem::take(&mut known.text), known.held_back));
            }
            !is_over
        });
        if let Some(known) = seen.get_mut(&key) {
            known.held_back += 1;
            return (false, told);
        }
        if seen.len() < MOST {
            seen.insert(key, Seen { logged: now, held_back: 0, text });
        }
        (true, told)
    }
}

impl<S: Subscriber> Layer<S> for Repeated {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::WARN || metadata.target() == TARGET {
            return true;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut hasher = DefaultHasher::new();
        (metadata.callsite(), &fields.message, &fields.others).hash(&mut hasher);
        let (is_new, told) = self.judge(hasher.finish(), fields.message, Instant::now());
        for (text, times) in told {
            tracing::warn!(target: TARGET, times, "came again within a minute: {text}");
        }
        is_new
    }
}

/// The target of what is said of repetitions, which are not repetitions themselves.
const TARGET: &str = "loggia::repeated";

/// What an event says.
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

    #[test]
    fn a_warning_is_logged_once_a_minute_with_its_count() {
        let (repeated, begun) = (Repeated::default(), Instant::now());
        let judge = |key: u64, second: u64| {
            repeated.judge(key, format!("warning {key}"), begun + Duration::from_secs(second))
        };
        assert_eq!(judge(1, 0), (true, vec![]));
        assert_eq!(judge(1, 1), (false, vec![]));
        assert_eq!(judge(2, 30), (true, vec![]));
        assert_eq!(judge(1, 59), (false, vec![]));
        assert_eq!(judge(1, 60), (true, vec![("warning 1".to_owned(), 2)]));
        assert_eq!(judge(1, 61), (false, vec![]));
        assert_eq!(judge(3, 125), (true, vec![("warning 1".to_owned(), 1)]));
    }

    #[test]
    fn different_warnings_are_all_logged_and_memory_is_bounded() {
        let (repeated, now) = (Repeated::default(), Instant::now());
        for key in 0..2 * MOST as u64 {
            assert!(repeated.judge(key, String::new(), now).0, "{key}");
        }
        assert_eq!(repeated.seen.lock().unwrap().len(), MOST);
    }
}
