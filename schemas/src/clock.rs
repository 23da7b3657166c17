//! The time, and the ids that contain it. Everything that needs the time takes it from here, so that tests can set it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, TimestampRound, Unit};
use ulid::Ulid;
use uuid::{ContextV7, Uuid};

use crate::ids::{AccountId, CommandId, EventId, ProjectId, StoreId};

/// A clock, and a source of ids that sort by its time. Clones share one clock.
///
/// ```
/// use jiff::SignedDuration;
/// use schemas::clock::Clock;
///
/// let clock = Clock::manual("2026-11-20T08:30:00Z".parse()?);
/// clock.advance(SignedDuration::from_mins(1));
/// assert_eq!(clock.now().to_string(), "2026-11-20T08:31:00Z");
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Clock {
    /// The time of a manual clock without its offset; `None` is the machine's.
    fixed: Option<Timestamp>,
    /// Nanoseconds that it is ahead.
    offset: Arc<AtomicI64>,
    /// Keeps the ids of one millisecond in the order in which they were made.
    sequence: Arc<Mutex<ContextV7>>,
}

impl Clock {
    /// Returns the machine's clock.
    pub fn system() -> Clock {
        Clock { fixed: None, offset: Arc::default(), sequence: Arc::default() }
    }

    /// Returns a clock that stands still until it is moved, for tests.
    pub fn manual(start: Timestamp) -> Clock {
        Clock { fixed: Some(start), ..Clock::system() }
    }

    /// Sets the clock and its clones ahead, or back by a negative duration; by at most 292 years in all.
    pub fn advance(&self, by: SignedDuration) {
        let by = i64::try_from(by.as_nanos()).unwrap_or(if by.is_negative() { i64::MIN } else { i64::MAX });
        let added = |offset: i64| offset.saturating_add(by);
        self.offset.update(Ordering::Relaxed, Ordering::Relaxed, added);
    }

    /// Returns by how much it is ahead.
    pub fn offset(&self) -> SignedDuration {
        SignedDuration::from_nanos(self.offset.load(Ordering::Relaxed))
    }

    /// Returns the time in whole microseconds, which is the resolution of events.
    pub fn now(&self) -> Timestamp {
        let now = self.fixed.unwrap_or_else(system_time);
        let now = now.saturating_add(self.offset()).unwrap_or(now);
        let whole = TimestampRound::new().smallest(Unit::Microsecond).mode(jiff::RoundMode::Trunc);
        now.round(whole).unwrap_or(now)
    }

    /// Returns a new event's id; greater than every one made before by this clock, even if it was set back meanwhile.
    pub fn event_id(&self) -> EventId {
        EventId(self.uuid())
    }

    /// Returns a new command's id.
    pub fn command_id(&self) -> CommandId {
        CommandId(self.uuid())
    }

    /// Returns a new project's id.
    pub fn project_id(&self) -> ProjectId {
        ProjectId(self.ulid())
    }

    /// Returns a new account's id.
    pub fn account_id(&self) -> AccountId {
        AccountId(self.ulid())
    }

    /// Returns a new event log's id.
    pub fn store_id(&self) -> StoreId {
        StoreId(self.ulid())
    }

    fn uuid(&self) -> Uuid {
        let now = self.now();
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
        let sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        Uuid::new_v7(uuid::Timestamp::from_unix(&*sequence, seconds, nanoseconds))
    }

    fn ulid(&self) -> Ulid {
        let milliseconds = u64::try_from(self.now().as_millisecond()).unwrap_or_default();
        Ulid::from_parts(milliseconds, random())
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the clock that everything else takes its time from")]
fn system_time() -> Timestamp {
    Timestamp::now()
}

#[allow(clippy::disallowed_methods, reason = "an id must differ from every other; nothing is decided by it")]
fn random() -> u128 {
    rand::random()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_they_were_made_even_when_time_goes_back() {
        let clock = Clock::manual("2026-11-20T08:30:00Z".parse().unwrap());
        let mut ids = Vec::new();
        for _ in 0..1_000 {
            ids.push(clock.event_id());
        }
        clock.advance(SignedDuration::from_hours(-1));
        for _ in 0..1_000 {
            ids.push(clock.event_id());
        }
        clock.advance(SignedDuration::from_hours(2));
        ids.push(clock.event_id());
        assert!(ids.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn the_time_is_cut_to_microseconds() {
        let clock = Clock::manual("2026-11-20T08:30:00.123456789Z".parse().unwrap());
        assert_eq!(clock.now().to_string(), "2026-11-20T08:30:00.123456Z");
        clock.advance(SignedDuration::from_secs(1));
        assert_eq!(clock.now().to_string(), "2026-11-20T08:30:01.123456Z");
    }

    #[test]
    fn a_project_id_carries_its_time() {
        let clock = Clock::manual("2026-11-20T08:30:00.5Z".parse().unwrap());
        assert_eq!(clock.project_id().0.timestamp_ms(), 1_795_163_400_500);
        assert_ne!(clock.project_id(), clock.project_id());
    }
}
