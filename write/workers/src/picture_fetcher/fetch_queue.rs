//! The fetch queue: pictures that the latest revision of a listed project names and that have no recorded outcome.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::ProjectId;
use schemas::record::Record;
use schemas::versioned::Decoded;
use tokio::time::Instant;

use super::PictureGenerator;
use super::host_queues::{FetchJob, HostQueues, SCHEMES};

/// The backoff after each failed try; after the last retry the picture is given up.
const BACKOFF: [Duration; 4] = [
    Duration::from_secs(60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];

/// Prefixes of the event types that matter without naming a picture.
const LISTING_EVENTS: [&str; 2] = ["loggia.curation.project_withdrawn.", "loggia.curation.project_restored."];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FetchOutcome {
    /// The project still names the picture, and the outcome is in the log.
    Recorded(bool),
    /// The project no longer names the picture, or is not listed, so nothing was recorded.
    NotNamed,
    /// A temporary failure.
    Retry {
        /// The reason for the failure.
        reason: String,
        timed_out: bool,
    },
}

/// The pictures of a project that names or named some to fetch.
#[derive(Debug, Default)]
struct ProjectPictures {
    withdrawn: bool,
    /// The sources that the latest revision names.
    named: Vec<String>,
    /// Recorded outcomes by source: stored (`true`) or refused.
    outcomes: HashMap<String, bool>,
}

/// The fetch queue, derived from the event log.
#[derive(Debug, Default)]
pub(super) struct FetchQueue {
    generator: Option<PictureGenerator>,
    projects: HashMap<ProjectId, ProjectPictures>,
    /// Failed tries of each job that waits or is in flight.
    tries: HashMap<FetchJob, usize>,
    in_flight: HashSet<FetchJob>,
    hosts: HostQueues,
    refused: usize,
}

impl FetchQueue {
    pub(super) fn new(generator: Option<PictureGenerator>) -> FetchQueue {
        FetchQueue { generator, ..FetchQueue::default() }
    }

    /// Applies an event of the log.
    pub(super) fn apply(&mut self, recorded: &Recorded) {
        let Some(project) = recorded.stream.as_project() else { return };
        // A search of the raw text skips most events: decoding every record would take longer than fetching.
        let text = recorded.data.get();
        let prefix = self.generator.map(|generator| generator.prefix);
        let names_pictures = SCHEMES.into_iter().chain(prefix).any(|prefix| text.contains(prefix));
        let generated =
            self.generator.filter(|generator| recorded.actor.as_str() == generator.actor).and(prefix);
        let is_listing_event = LISTING_EVENTS.iter().any(|kind| recorded.kind.starts_with(kind));
        if !(names_pictures || is_listing_event || self.projects.contains_key(&project)) {
            return;
        }
        let Ok(Decoded::Known(event)) = recorded.decode() else { return };
        match *event {
            Event::ProjectSelected(selected) => self.set_record(project, &selected.record, generated),
            Event::ProjectRevised(revised) => self.set_record(project, &revised.record, generated),
            Event::PictureAttached(attached) => self.set_outcome(project, attached.source, true),
            Event::PictureRefused(refused) => self.set_outcome(project, refused.source, false),
            Event::ProjectWithdrawn(_) => self.set_listed(project, false),
            Event::ProjectRestored(_) => self.set_listed(project, true),
            // The source of an erased picture has an outcome already: it is not fetched again without a request.
            Event::PictureErased(_)
            | Event::ProjectRenamed(_)
            | Event::ProjectIdentified(_)
            | Event::VectorsRecorded(_)
            | Event::Account(_) => {}
        }
    }

    /// Returns the number of pictures that wait or are in flight, and of named pictures that were refused.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.tries.len(), self.refused)
    }

    /// Replaces the named sources of a project and queues refused ones again. `generated` is the prefix of sources to generate;
    /// an import sends the bytes of other files itself.
    fn set_record(&mut self, project: ProjectId, record: &Record, generated: Option<&str>) {
        let is_for_queue = |source: &&str| {
            let job = FetchJob { project, source: (*source).to_owned() };
            job.url().is_some() || generated.is_some_and(|prefix| source.starts_with(prefix))
        };
        let named: Vec<String> = record.picture_sources().filter(is_for_queue).map(str::to_owned).collect();
        if named.is_empty() && !self.projects.contains_key(&project) {
            return;
        }
        self.update(project, |pictures| {
            pictures.named = named;
            pictures.outcomes.retain(|_, is_stored| *is_stored);
        });
    }

    pub(super) fn retry_refused(&mut self, project: ProjectId) {
        if self.projects.contains_key(&project) {
            self.update(project, |pictures| pictures.outcomes.retain(|_, is_stored| *is_stored));
        }
    }

    fn set_outcome(&mut self, project: ProjectId, source: String, is_stored: bool) {
        self.update(project, |pictures| {
            pictures.outcomes.insert(source, is_stored);
        });
    }

    fn set_listed(&mut self, project: ProjectId, listed: bool) {
        self.update(project, |pictures| pictures.withdrawn = !listed);
    }

    /// Changes the state of a project, and adjusts the queue and the count of refused pictures.
    fn update(&mut self, project: ProjectId, change: impl FnOnce(&mut ProjectPictures)) {
        let pictures = self.projects.entry(project).or_default();
        let before = pictures.pending();
        self.refused -= pictures.refused();
        change(pictures);
        self.refused += pictures.refused();
        let after = pictures.pending();
        for source in before.into_iter().filter(|source| !after.contains(source)) {
            let job = FetchJob { project, source };
            if !self.in_flight.contains(&job) {
                // `HostQueues::pop` drops the job from the queue of its host.
                self.tries.remove(&job);
            }
        }
        after.into_iter().for_each(|source| self.enqueue(FetchJob { project, source }));
    }

    fn enqueue(&mut self, job: FetchJob) {
        if !self.tries.contains_key(&job) {
            self.tries.insert(job.clone(), 0);
            self.hosts.push(job);
        }
    }

    /// Returns the next job to start; it is in flight until [`FetchQueue::finish`].
    pub(super) fn pop(&mut self, now: Instant) -> Option<FetchJob> {
        let (tries, in_flight) = (&self.tries, &self.in_flight);
        let is_waiting = |job: &FetchJob| tries.contains_key(job) && !in_flight.contains(job);
        let job = self.hosts.pop(now, is_waiting)?;
        self.in_flight.insert(job.clone());
        Some(job)
    }

    /// Returns when the first job in backoff is due or the first paused host resumes, whichever is earlier.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.hosts.next_due()
    }

    /// Applies the outcome of a job; returns the reason to record if the picture is given up.
    pub(super) fn finish(&mut self, job: &FetchJob, outcome: FetchOutcome, now: Instant) -> Option<String> {
        let timed_out = matches!(outcome, FetchOutcome::Retry { timed_out: true, .. });
        self.in_flight.remove(job);
        self.hosts.finish(job, timed_out, now);
        match outcome {
            FetchOutcome::Recorded(stored) => self.remove(job, stored),
            FetchOutcome::NotNamed => {
                self.tries.remove(job);
                // A revision during the fetch may have named it again.
                if self.is_pending(job) {
                    self.enqueue(job.clone());
                }
            }
            FetchOutcome::Retry { reason, .. } => return self.back_off(job, &reason, now),
        }
        None
    }

    fn back_off(&mut self, job: &FetchJob, reason: &str, now: Instant) -> Option<String> {
        if !self.is_pending(job) {
            self.tries.remove(job);
            return None;
        }
        let tries = self.tries.get_mut(job)?;
        *tries += 1;
        match BACKOFF.get(*tries - 1) {
            Some(pause) => {
                self.hosts.push_at(job.clone(), now + *pause);
                None
            }
            None => {
                self.remove(job, false);
                Some(format!("It could not be fetched in {} tries: {reason}", BACKOFF.len() + 1))
            }
        }
    }

    /// Removes a finished job, and sets its outcome before the event arrives from the log.
    fn remove(&mut self, job: &FetchJob, is_stored: bool) {
        self.tries.remove(job);
        self.update(job.project, |pictures| {
            pictures.outcomes.entry(job.source.clone()).or_insert(is_stored);
        });
    }

    fn is_pending(&self, job: &FetchJob) -> bool {
        self.projects.get(&job.project).is_some_and(|pictures| pictures.pending().contains(&job.source))
    }
}

impl ProjectPictures {
    /// Returns the named sources without an outcome, in the order of the record.
    fn pending(&self) -> Vec<String> {
        if self.withdrawn {
            return Vec::new();
        }
        self.named.iter().filter(|source| !self.outcomes.contains_key(*source)).cloned().collect()
    }

    /// Returns the number of named sources that were refused.
    fn refused(&self) -> usize {
        if self.withdrawn {
            return 0;
        }
        self.named.iter().filter(|source| self.outcomes.get(*source) == Some(&false)).count()
    }
}

#[cfg(test)]
mod tests;
