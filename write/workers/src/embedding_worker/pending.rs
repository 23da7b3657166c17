//! The projects whose vectors are to be computed, derived from the event log.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Position, ProjectId};
use schemas::versioned::Decoded;
use serde::Deserialize;
use write::project::{COMPUTED_BY, is_own_encoder};

/// A project whose vectors are computed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) project: ProjectId,
    /// The position of the newest event that changed what its vectors are computed from.
    pub(super) position: Position,
    /// Whether a picture was ever attached to it, which takes a thousand times as long as its texts.
    pub(super) has_picture: bool,
    pub(super) step: Step,
    pub(super) recording: Recording,
}

/// What is done with a project. Vectors of different encoders are not compared, so those of another one are replaced in two steps:
/// all are computed and set aside, and then all recorded at once. Until then lists keep what they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Its vectors are computed and recorded.
    Record,
    /// They are computed and set aside: the recorded ones are of another encoder.
    Stage,
    /// Those that were set aside are recorded.
    Release,
}

/// When computed vectors are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recording {
    /// If they differ from the recorded ones.
    Changed,
    /// Always: another actor sent vectors of an encoder of this service, for example by the import of an export. They are recorded
    /// once under the worker's actor, even if they are unchanged.
    Always,
    /// Only the side that the record does not supply, beside the other.
    MissingSide,
}

/// How many more projects of each kind may be computed now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) with_picture: usize,
    pub(super) without_picture: usize,
}

/// The projects whose vectors are to be computed, those with the newest events first: an edit does not wait for the rest of a
/// catalog.
#[derive(Debug, Default)]
pub(super) struct PendingProjects {
    /// The encoder of the worker.
    model: String,
    positions: HashMap<ProjectId, Position>,
    /// The same projects in order, without and with a picture.
    ordered: [BTreeSet<(Position, ProjectId)>; 2],
    running: HashMap<ProjectId, Job>,
    with_picture: HashSet<ProjectId>,
    /// Projects whose record supplies the vectors of both sides.
    supplied: HashSet<ProjectId>,
    /// Projects whose record supplies the vector of one side; the other is computed.
    supplied_one_side: HashSet<ProjectId>,
    /// Projects whose newest vectors are of an encoder of this service and were sent by another actor.
    sent: HashSet<ProjectId>,
    /// Projects whose computed vectors are of another encoder.
    outdated: HashSet<ProjectId>,
    /// Those of them whose vectors are set aside, as of these positions.
    staged: HashMap<ProjectId, Position>,
}

impl PendingProjects {
    /// Returns the projects of an empty log, for an encoder of this name.
    pub(super) fn new(model: &str) -> PendingProjects {
        PendingProjects { model: model.to_owned(), ..PendingProjects::default() }
    }

    /// Returns the number of projects that wait, are being computed, or are set aside.
    pub(super) fn len(&self) -> usize {
        let running = self.running.keys().filter(|id| !self.positions.contains_key(*id)).count();
        self.positions.len() + running + self.staged.len()
    }

    /// Returns the number of projects whose computed vectors are of another encoder.
    pub(super) fn outdated(&self) -> usize {
        self.outdated.len()
    }

    /// Returns the number of those of them whose vectors are not set aside yet.
    pub(super) fn unstaged(&self) -> usize {
        self.outdated.len().saturating_sub(self.staged.len() + self.releasing())
    }

    fn releasing(&self) -> usize {
        self.running.values().filter(|job| job.step == Step::Release).count()
    }

    /// Takes over vectors that were set aside before a restart, if the project was not changed since.
    pub(super) fn resume(&mut self, id: ProjectId, position: Position) {
        if self.outdated.contains(&id) && self.positions.get(&id) == Some(&position) {
            self.remove(id);
            self.staged.insert(id, position);
        }
    }

    /// Returns how many projects with and without a picture are being computed.
    pub(super) fn running(&self) -> Room {
        let with_picture = self.running.values().filter(|job| job.has_picture).count();
        Room { with_picture, without_picture: self.running.len() - with_picture }
    }

    /// Starts the newest project for which there is room and that is not being computed already.
    pub(super) fn start(&mut self, room: Room) -> Option<Job> {
        let kinds = [room.without_picture, room.with_picture];
        let waiting = self.ordered.iter().zip(kinds).filter(|(_, room)| *room > 0);
        let newest = waiting.filter_map(|(ordered, _)| {
            ordered.iter().rev().find(|(_, id)| !self.running.contains_key(id)).copied()
        });
        let Some((position, project)) = newest.max() else { return self.release(room) };
        self.remove(project);
        let step = if self.outdated.contains(&project) { Step::Stage } else { Step::Record };
        let has_picture = self.with_picture.contains(&project);
        Some(self.run(Job { project, position, has_picture, step, recording: self.recording(project) }))
    }

    /// Starts to record what was set aside, once that is all.
    fn release(&mut self, room: Room) -> Option<Job> {
        if room.without_picture == 0 || self.unstaged() > 0 {
            return None;
        }
        let (project, position) = self.staged.iter().next().map(|(id, position)| (*id, *position))?;
        self.staged.remove(&project);
        let (step, recording) = (Step::Release, self.recording(project));
        Some(self.run(Job { project, position, has_picture: false, step, recording }))
    }

    fn run(&mut self, job: Job) -> Job {
        self.running.insert(job.project, job);
        job
    }

    fn recording(&self, project: ProjectId) -> Recording {
        if self.supplied_one_side.contains(&project) {
            Recording::MissingSide
        } else if self.sent.contains(&project) {
            Recording::Always
        } else {
            Recording::Changed
        }
    }

    /// Ends a job whose vectors are recorded or set aside, or which has none.
    pub(super) fn finish(&mut self, job: Job, is_staged: bool) {
        self.running.remove(&job.project);
        if !is_staged {
            self.set_current(job.project);
        } else if !self.positions.contains_key(&job.project) && self.outdated.contains(&job.project) {
            self.staged.insert(job.project, job.position);
        }
    }

    /// Ends a job whose vectors could not be recorded, or which was changed meanwhile: it waits again.
    pub(super) fn defer(&mut self, job: Job) {
        self.running.remove(&job.project);
        if self.positions.contains_key(&job.project) {
            return;
        }
        match job.step {
            Step::Release if self.outdated.contains(&job.project) => {
                self.staged.insert(job.project, job.position);
            }
            Step::Record | Step::Stage | Step::Release => self.insert(job.project, job.position),
        }
    }

    /// Notes that no computed vectors of a project are of another encoder.
    fn set_current(&mut self, id: ProjectId) {
        self.outdated.remove(&id);
        self.staged.remove(&id);
    }

    /// Adds a project that is to be computed again without a new event, after all others.
    pub(super) fn retry(&mut self, id: ProjectId) {
        if !self.positions.contains_key(&id) {
            self.insert(id, Position::START);
        }
    }

    fn insert(&mut self, id: ProjectId, position: Position) {
        self.remove(id);
        self.staged.remove(&id);
        self.positions.insert(id, position);
        self.ordered[usize::from(self.with_picture.contains(&id))].insert((position, id));
    }

    fn remove(&mut self, id: ProjectId) {
        if let Some(position) = self.positions.remove(&id) {
            self.ordered.iter_mut().for_each(|ordered| _ = ordered.remove(&(position, id)));
        }
    }

    /// Applies an event of the log.
    pub(super) fn apply(&mut self, recorded: &Recorded) {
        let Some(id) = recorded.stream.as_project() else { return };
        // Every project has such an event; parsing only its model skips hundreds of numbers.
        if recorded.actor.as_str() == COMPUTED_BY {
            if let Ok(vectors) = serde_json::from_str(recorded.data.get()) {
                self.apply_computed(id, recorded.position, vectors);
            }
            return;
        }
        let Ok(Decoded::Known(event)) = recorded.decode() else { return };
        match *event {
            Event::VectorsRecorded(vectors) if is_own_encoder(&vectors.model) => {
                self.supplied.remove(&id);
                self.supplied_one_side.remove(&id);
                self.sent.insert(id);
                self.insert(id, recorded.position);
            }
            Event::VectorsRecorded(vectors) => {
                self.sent.remove(&id);
                self.set_current(id);
                if vectors.visual.is_some() && vectors.semantic.is_some() {
                    self.supplied_one_side.remove(&id);
                    self.supplied.insert(id);
                    self.remove(id);
                } else {
                    self.supplied.remove(&id);
                    self.supplied_one_side.insert(id);
                    self.insert(id, recorded.position);
                }
            }
            Event::ProjectWithdrawn(_) => {
                self.set_current(id);
                self.remove(id);
            }
            Event::ProjectSelected(_)
            | Event::ProjectRevised(_)
            | Event::ProjectRestored(_)
            | Event::PictureAttached(_)
            | Event::PictureErased(_) => {
                if matches!(*event, Event::PictureAttached(_)) {
                    self.remove(id);
                    self.with_picture.insert(id);
                }
                if !self.supplied.contains(&id) {
                    self.insert(id, recorded.position);
                }
            }
            Event::ProjectRenamed(_)
            | Event::ProjectIdentified(_)
            | Event::PictureRefused(_)
            | Event::Account(_) => {}
        }
    }

    /// Applies vectors that a worker has recorded.
    fn apply_computed(&mut self, id: ProjectId, position: Position, vectors: ComputedVectors<'_>) {
        let ComputedVectors { model, computed } = vectors;
        self.sent.remove(&id);
        if computed.is_none() {
            // The supplied vectors were unset before.
            self.supplied.remove(&id);
            self.supplied_one_side.remove(&id);
        }
        if computed.map_or(model, |side| side.model) == self.model {
            self.set_current(id);
            self.remove(id);
        } else {
            self.outdated.insert(id);
            self.insert(id, position);
        }
    }
}

/// The fields of a [`schemas::event::VectorsRecorded`] of a worker that [`PendingProjects`] reads.
#[derive(Deserialize)]
struct ComputedVectors<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    /// The computed side beside a supplied one.
    #[serde(borrow)]
    computed: Option<ComputedSide<'a>>,
}

#[derive(Deserialize)]
struct ComputedSide<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
}

#[cfg(test)]
mod tests;
