//! Which project is computed next, after which events.

use kit::samples;
use schemas::event::{ComputedSide, PictureAttached, ProjectSelected, ProjectWithdrawn, VectorsRecorded};
use schemas::ids::StreamId;
use schemas::picture::{Picture, PictureFormat, PictureId};
use schemas::vector::Vector;

use super::*;

const MODEL: &str = "loggia-1+potion-base-8m";
const ROOM: Room = Room { with_picture: 2, without_picture: 2 };

fn project(number: u8) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}").parse().unwrap()
}

/// A log that these tests write.
#[derive(Debug)]
struct Log {
    head: u64,
    pending: PendingProjects,
}

impl Log {
    fn new() -> Log {
        Log { head: 0, pending: PendingProjects::new(MODEL) }
    }

    fn append(&mut self, id: ProjectId, actor: &str, event: &Event) {
        self.head += 1;
        let recorded = samples::recorded(Position(self.head), StreamId::project(id), event);
        self.pending.apply(&Recorded { actor: actor.parse().unwrap(), ..recorded });
    }

    fn select(&mut self, id: ProjectId) {
        let record = serde_json::from_str(r#"{"name":"A","category":"art"}"#).unwrap();
        let selected = ProjectSelected { slug: "a".parse().unwrap(), record, id: None };
        self.append(id, "Ada", &Event::ProjectSelected(selected));
    }

    fn attach(&mut self, id: ProjectId) {
        let picture = Picture {
            id: PictureId([7; 32]),
            format: PictureFormat::Png,
            width: 1,
            height: 1,
            palette: Vec::new(),
        };
        let attached = PictureAttached { source: "a.png".into(), picture };
        self.append(id, "Ada", &Event::PictureAttached(attached));
    }

    fn record_vectors(&mut self, id: ProjectId, actor: &str, vectors: VectorsRecorded) {
        self.append(id, actor, &Event::VectorsRecorded(vectors));
    }

    /// Starts a job for which there is room.
    fn start(&mut self, room: Room) -> Option<(ProjectId, Recording)> {
        self.pending.start(room).map(|job| (job.project, job.recording))
    }

    fn waiting(&self) -> (usize, usize) {
        (self.pending.len(), self.pending.outdated())
    }
}

fn vectors(model: &str) -> VectorsRecorded {
    let semantic = Some(Vector::new(vec![1.0]).unwrap());
    VectorsRecorded { model: model.into(), visual: None, semantic, computed: None }
}

fn both_sides(model: &str) -> VectorsRecorded {
    VectorsRecorded { visual: Some(Vector::new(vec![1.0]).unwrap()), ..vectors(model) }
}

#[test]
fn the_newest_event_comes_first_and_kinds_have_room_of_their_own() {
    let mut log = Log::new();
    (1..=5).for_each(|number| log.select(project(number)));
    [1, 2, 3].into_iter().for_each(|number| log.attach(project(number)));
    let order: Vec<_> =
        std::iter::from_fn(|| log.pending.start(ROOM)).map(|job| (job.project, job.has_picture)).collect();
    let expected = [(3, true), (2, true), (1, true), (5, false), (4, false)];
    assert_eq!(order, expected.map(|(number, has_picture)| (project(number), has_picture)));
    let running = log.pending.running();
    assert_eq!((running.with_picture, running.without_picture, log.waiting()), (3, 2, (5, 0)));

    let mut log = Log::new();
    (1..=3).for_each(|number| log.select(project(number)));
    log.attach(project(3));
    let texts_only = Room { with_picture: 0, without_picture: 1 };
    let none = Room { with_picture: 0, without_picture: 0 };
    let started = [texts_only, none, texts_only, texts_only].map(|room| log.start(room));
    let changed = |number| Some((project(number), Recording::Changed));
    assert_eq!(started, [changed(2), None, changed(1), None], "the picture of the newest has no room");
    log.select(project(1));
    assert_eq!(log.start(ROOM), changed(3), "a project that is being computed is not started twice");
}

#[test]
fn an_event_while_a_project_is_computed_queues_it_again() {
    let mut log = Log::new();
    log.select(project(1));
    let job = log.pending.start(ROOM).unwrap();
    log.pending.defer(job);
    let again = log.pending.start(ROOM).unwrap();
    assert_eq!(again, job, "its project was changed before its vectors were recorded");
    log.select(project(1));
    assert_eq!((log.pending.start(ROOM), log.waiting()), (None, (1, 0)));
    log.pending.finish(again, false);
    let newer = log.pending.start(ROOM).unwrap();
    assert_eq!((newer.project, newer.position), (project(1), Position(2)));
    log.record_vectors(project(1), COMPUTED_BY, vectors(MODEL));
    log.pending.finish(newer, false);
    assert_eq!(log.waiting(), (0, 0));
    log.pending.retry(project(1));
    log.select(project(2));
    let both = [log.start(ROOM), log.start(ROOM)].map(|started| started.unwrap().0);
    assert_eq!(both, [project(2), project(1)], "what is only tried again comes last");
}

#[test]
fn vectors_of_another_encoder_are_outdated_until_they_are_replaced() {
    let mut log = Log::new();
    for number in 1..=4 {
        log.select(project(number));
        log.record_vectors(project(number), COMPUTED_BY, vectors("loggia-1"));
    }
    assert_eq!(log.waiting(), (4, 4));
    log.record_vectors(project(1), COMPUTED_BY, vectors(MODEL));
    let withdrawn = ProjectWithdrawn { reason: "sold".into() };
    log.append(project(2), "Ada", &Event::ProjectWithdrawn(withdrawn));
    log.record_vectors(project(3), "Ada", both_sides("supplied"));
    assert_eq!(log.waiting(), (1, 1));
    // It had neither picture nor text any more, so nothing was recorded.
    let job = log.pending.start(ROOM).unwrap();
    log.pending.finish(job, false);
    assert_eq!((job.project, log.waiting()), (project(4), (0, 0)));
}

#[test]
fn supplied_vectors_are_kept_and_sent_ones_of_an_own_encoder_replaced() {
    let mut log = Log::new();
    log.record_vectors(project(1), "Ada", both_sides("supplied"));
    log.attach(project(1));
    assert_eq!(log.waiting(), (0, 0));
    log.record_vectors(project(1), "Ada", vectors("supplied"));
    assert_eq!(log.start(ROOM), Some((project(1), Recording::MissingSide)));
    let computed = ComputedSide { model: MODEL.into(), visual: None, semantic: None };
    let beside = VectorsRecorded { computed: Some(computed), ..vectors("supplied") };
    log.record_vectors(project(1), COMPUTED_BY, beside.clone());
    let job = Job {
        project: project(1),
        position: Position(3),
        has_picture: true,
        step: Step::Record,
        recording: Recording::MissingSide,
    };
    log.pending.finish(job, false);
    assert_eq!(log.waiting(), (0, 0));
    // An encoder that this service does not have here.
    log.record_vectors(project(1), "Ada", both_sides("loggia-1+efficientnet-lite0"));
    assert_eq!(log.start(ROOM), Some((project(1), Recording::Always)));
}

#[test]
fn vectors_of_another_encoder_are_replaced_at_once_when_all_are_computed() {
    let mut log = Log::new();
    for number in 1..=3 {
        log.select(project(number));
        log.record_vectors(project(number), COMPUTED_BY, vectors("loggia-1"));
    }
    log.select(project(4));
    let mut next = || log.pending.start(ROOM).map(|job| (job, (job.project, job.step)));
    let (newest, of_newest) = next().unwrap();
    assert_eq!(of_newest, (project(4), Step::Record), "what has no vectors yet does not wait for the others");
    let (third, of_third) = next().unwrap();
    let (second, _) = next().unwrap();
    assert_eq!(of_third, (project(3), Step::Stage));
    log.pending.finish(newest, false);
    log.pending.finish(third, true);
    log.pending.finish(second, true);
    assert_eq!((log.waiting(), log.pending.unstaged()), ((3, 3), 1));
    let first = log.pending.start(ROOM).unwrap();
    assert_eq!((first.project, first.step), (project(1), Step::Stage));
    assert_eq!(log.pending.start(ROOM), None, "one is not computed yet");
    // It is changed meanwhile, and so is one that was set aside.
    log.select(project(1));
    log.pending.finish(first, true);
    log.select(project(2));
    let again = [log.pending.start(ROOM).unwrap(), log.pending.start(ROOM).unwrap()];
    assert_eq!(
        again.map(|job| (job.project, job.step)),
        [(project(2), Step::Stage), (project(1), Step::Stage)]
    );
    again.into_iter().for_each(|job| log.pending.finish(job, true));
    let mut released: Vec<Job> = std::iter::from_fn(|| log.pending.start(ROOM)).take(4).collect();
    assert!(released.iter().all(|job| job.step == Step::Release), "{released:?}");
    released.sort_unstable_by_key(|job| job.project);
    assert_eq!(released.iter().map(|job| job.project).collect::<Vec<_>>(), [1, 2, 3].map(project));
    // The store failed.
    log.pending.defer(released[0]);
    let once_more = log.pending.start(ROOM).unwrap();
    assert_eq!(once_more, released[0]);
    for number in 1..=3 {
        log.record_vectors(project(number), COMPUTED_BY, vectors(MODEL));
    }
    released.into_iter().for_each(|job| log.pending.finish(job, false));
    assert_eq!((log.waiting(), log.pending.start(ROOM)), ((0, 0), None));
}

#[test]
fn what_was_set_aside_before_a_restart_is_taken_over_unless_the_project_was_changed() {
    let mut log = Log::new();
    for number in 1..=2 {
        log.select(project(number));
        log.record_vectors(project(number), COMPUTED_BY, vectors("loggia-1"));
    }
    log.pending.resume(project(1), Position(2));
    log.pending.resume(project(2), Position(3));
    log.pending.resume(project(3), Position(4));
    assert_eq!((log.waiting(), log.pending.unstaged()), ((2, 2), 1));
    let job = log.pending.start(ROOM).unwrap();
    assert_eq!((job.project, job.step), (project(2), Step::Stage));
    log.pending.finish(job, true);
    let released = log.pending.start(ROOM).unwrap();
    assert_eq!(released.step, Step::Release);
}
