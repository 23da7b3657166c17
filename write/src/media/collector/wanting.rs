//! Which pictures are still to be fetched, as the log tells it, and when.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::ProjectId;
use schemas::record::Record;
use schemas::versioned::Decoded;
use tokio::time::Instant;

use crate::demo;

/// How long a host that did not answer is left alone before each further try; after the last one it is given up.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];

/// What addresses of pictures begin with.
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// A picture to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) project: ProjectId,
    pub(super) source: String,
}

impl Wanted {
    /// Whether it is drawn rather than fetched.
    pub(super) fn is_drawn(&self) -> bool {
        self.source.starts_with(demo::pictures::SOURCE)
    }

    /// Where it is fetched: always over TLS, for an image that a record brings from an address without it too.
    pub(super) fn address(&self) -> Option<String> {
        let rest = SCHEMES.iter().find_map(|scheme| self.source.strip_prefix(scheme))?;
        Some(format!("https://{rest}"))
    }
}

/// How it stands with a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It waits its turn.
    Waiting,
    /// It is being fetched, after so many tries.
    UnderWay(usize),
    /// It was tried so often, and is tried again from then on.
    PutOff(usize, Instant),
    /// It was looked at. A later revision that names it again does not make it wanted again.
    Settled,
}

/// What is to be fetched.
#[derive(Debug, Default)]
pub(super) struct Wanting {
    states: HashMap<Wanted, State>,
    turn: VecDeque<Wanted>,
}

impl Wanting {
    /// Takes in what an event says.
    pub(super) fn hear(&mut self, recorded: &Recorded) {
        let Some(project) = recorded.stream.as_project() else { return };
        // Many texts name none of either kind; reading every record would take longer than fetching.
        let drawn = recorded.actor.as_str() == demo::ACTOR;
        let text = recorded.data.get();
        if !SCHEMES.iter().any(|scheme| text.contains(scheme)) && !text.contains(demo::pictures::SOURCE) {
            return;
        }
        let Ok(Decoded::Known(event)) = recorded.decode() else { return };
        match *event {
            Event::ProjectSelected(selected) => self.want(project, &selected.record, drawn),
            Event::ProjectRevised(revised) => self.want(project, &revised.record, drawn),
            Event::PictureAttached(attached) => self.settle(project, attached.source),
            Event::PictureRefused(refused) => self.settle(project, refused.source),
            Event::ProjectRenamed(_)
            | Event::ProjectWithdrawn(_)
            | Event::ProjectRestored(_)
            | Event::VectorsRecorded(_)
            | Event::Account(_) => {}
        }
    }

    /// `drawn` tells whether the record is one of the demo catalog, whose pictures are drawn. Other files are brought by
    /// whoever imports them.
    fn want(&mut self, project: ProjectId, record: &Record, drawn: bool) {
        for source in record.picture_sources() {
            let wanted = Wanted { project, source: source.to_owned() };
            if !(wanted.address().is_some() || drawn && wanted.is_drawn()) {
                continue;
            }
            if !self.states.contains_key(&wanted) {
                self.states.insert(wanted.clone(), State::Waiting);
                self.turn.push_back(wanted);
            }
        }
    }

    fn settle(&mut self, project: ProjectId, source: String) {
        self.states.insert(Wanted { project, source }, State::Settled);
    }

    /// The next to be fetched.
    pub(super) fn next(&mut self, now: Instant) -> Option<Wanted> {
        while let Some(wanted) = self.turn.pop_front() {
            // It may have been settled while it waited.
            if let Some(state @ State::Waiting) = self.states.get_mut(&wanted) {
                *state = State::UnderWay(0);
                return Some(wanted);
            }
        }
        let due = self.states.iter_mut().find_map(|(wanted, state)| match *state {
            State::PutOff(tries, until) if until <= now => Some((wanted, state, tries)),
            _ => None,
        });
        let (wanted, state, tries) = due?;
        *state = State::UnderWay(tries);
        Some(wanted.clone())
    }

    /// When the first of those that were put off is due.
    pub(super) fn earliest(&self) -> Option<Instant> {
        let due = |state: &State| match state {
            State::PutOff(_, until) => Some(*until),
            State::Waiting | State::UnderWay(_) | State::Settled => None,
        };
        self.states.values().filter_map(due).min()
    }

    /// Puts a picture off for a later try; gives the reason to record where there is none left.
    pub(super) fn put_off(&mut self, wanted: &Wanted, reason: String, now: Instant) -> Option<String> {
        let state = self.states.get_mut(wanted)?;
        let State::UnderWay(tries) = *state else { return None };
        match PAUSES.get(tries) {
            Some(pause) => {
                *state = State::PutOff(tries + 1, now + *pause);
                None
            }
            None => Some(format!("It could not be fetched in {} tries: {reason}", PAUSES.len() + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pictures: &[&str]) -> Record {
        let pictures: Vec<String> =
            pictures.iter().map(|source| format!("{{\"source\":\"{source}\"}}")).collect();
        let text = format!(r#"{{"name":"A","category":"art","pictures":[{}]}}"#, pictures.join(","));
        serde_json::from_str(&text).unwrap()
    }

    fn project(byte: u8) -> ProjectId {
        format!("01ARZ3NDEKTSV4RRFFQ69G5F{byte:02}").parse().unwrap()
    }

    const ONE: &str = "https://x.org/1";
    const TWO: &str = "https://x.org/2";

    fn wanted(source: &str) -> Wanted {
        Wanted { project: project(1), source: source.into() }
    }

    #[test]
    fn each_is_fetched_once_and_files_never() {
        let (mut wanting, now) = (Wanting::default(), Instant::now());
        wanting.want(project(1), &record(&[ONE, "a.jpg", "demo/a.jpg", TWO]), false);
        wanting.want(project(1), &record(&[TWO, ONE]), false);
        assert_eq!(wanting.next(now), Some(wanted(ONE)));
        wanting.settle(project(1), TWO.into());
        assert_eq!(wanting.next(now), None, "the other was settled while it waited");
        wanting.want(project(1), &record(&[ONE, TWO]), false);
        assert_eq!(wanting.next(now), None);
        wanting.want(project(2), &record(&[ONE]), false);
        assert_eq!(wanting.next(now), Some(Wanted { project: project(2), source: ONE.into() }));
    }

    #[test]
    fn the_image_that_a_record_brings_itself_is_fetched_like_a_picture() {
        let (mut wanting, now) = (Wanting::default(), Instant::now());
        let brings = |thumbnail: &str| Record { thumbnail: Some(thumbnail.into()), ..record(&[ONE]) };
        wanting.want(project(1), &brings(TWO), false);
        assert_eq!([wanting.next(now), wanting.next(now)], [Some(wanted(ONE)), Some(wanted(TWO))]);
        wanting.want(project(1), &brings(ONE), false);
        assert_eq!(wanting.next(now), None, "each once");
        wanting.want(project(1), &brings("http://x.org/3"), false);
        let brought = wanting.next(now).unwrap();
        assert_eq!(
            (brought.source.as_str(), brought.address().as_deref()),
            ("http://x.org/3", Some("https://x.org/3"))
        );
    }

    #[test]
    fn pictures_of_the_demo_catalog_are_drawn_for_it_alone() {
        let (mut wanting, now) = (Wanting::default(), Instant::now());
        wanting.want(project(1), &record(&["demo/a.jpg", "b.jpg"]), true);
        let drawn = wanting.next(now).unwrap();
        assert_eq!((drawn.source.as_str(), drawn.is_drawn()), ("demo/a.jpg", true));
        assert_eq!(wanting.next(now), None);
    }

    #[test]
    fn one_that_does_not_come_is_tried_again_and_then_given_up() {
        let (mut wanting, mut now) = (Wanting::default(), Instant::now());
        wanting.want(project(1), &record(&[ONE]), false);
        for pause in PAUSES {
            assert_eq!(wanting.next(now), Some(wanted(ONE)));
            assert_eq!(wanting.put_off(&wanted(ONE), "It was silent.".into(), now), None);
            assert_eq!(wanting.earliest(), Some(now + pause));
            assert_eq!(wanting.next(now + pause - Duration::from_millis(1)), None);
            now += pause;
        }
        assert_eq!(wanting.next(now), Some(wanted(ONE)));
        assert_eq!(
            wanting.put_off(&wanted(ONE), "It was silent.".into(), now),
            Some("It could not be fetched in 5 tries: It was silent.".into())
        );
        assert_eq!((wanting.earliest(), wanting.next(now)), (None, None));
    }
}
