//! The time, and the ids that are made from it. Nothing else on the write side asks what time it is.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, TimestampRound, Unit};
use ulid::Ulid;
use uuid::{ContextV7, Uuid};

use crate::ids::{AccountId, CommandId, EventId, ProjectId, StoreId};

/// Tells the time and makes ids that sort by it. Clones share one clock.
#[derive(Clone)]
pub struct Clock {
    source: Source,
    /// Keeps the ids of one millisecond in the order in which they were made.
    sequence: Arc<Mutex<ContextV7>>,
}

#[derive(Clone)]
enum Source {
    /// The machine's, so much ahead.
    System(SignedDuration),
    Manual(Arc<Mutex<Timestamp>>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock::ahead(SignedDuration::ZERO)
    }

    /// The machine's clock, set ahead, for rehearsals.
    pub fn ahead(by: SignedDuration) -> Clock {
        Clock { source: Source::System(by), sequence: Arc::default() }
    }

    /// A clock that stands still until it is moved, for tests.
    pub fn manual(start: Timestamp) -> Clock {
        Clock { source: Source::Manual(Arc::new(Mutex::new(start))), sequence: Arc::default() }
    }

    /// Moves a manual clock, forwards or back; the machine's clock cannot be moved.
    pub fn advance(&self, by: SignedDuration) {
        if let Source::Manual(time) = &self.source {
            let mut time = time.lock().unwrap_or_else(PoisonError::into_inner);
            *time = time.saturating_add(by).unwrap_or(*time);
        }
    }

    /// The time in whole microseconds, which is as fine as events keep it.
    pub fn now(&self) -> Timestamp {
        let now = match &self.source {
            Source::System(ahead) => {
                let now = system_time();
                now.saturating_add(*ahead).unwrap_or(now)
            }
            Source::Manual(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let whole = TimestampRound::new().smallest(Unit::Microsecond).mode(jiff::RoundMode::Trunc);
        now.round(whole).unwrap_or(now)
    }

    /// A new event's id; greater than every one made before by this clock, even if time went back meanwhile.
    pub fn event_id(&self) -> EventId {
        EventId(self.uuid())
    }

    /// A new command's id.
    pub fn command_id(&self) -> CommandId {
        CommandId(self.uuid())
    }

    /// A new project's id.
    pub fn project_id(&self) -> ProjectId {
        ProjectId(self.ulid())
    }

    /// A new account's id.
    pub fn account_id(&self) -> AccountId {
        AccountId(self.ulid())
    }

    /// A new event store's id.
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
