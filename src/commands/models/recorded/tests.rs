//! Counts of vectors in a log.

use kit::samples;
use schemas::event::{ComputedSide, ProjectRestored, ProjectSelected, ProjectWithdrawn, VectorsRecorded};
use schemas::vector::Vector;

use super::*;

#[test]
fn the_newest_vectors_of_listed_projects_are_counted() {
    let stream =
        |number: u8| StreamId::project(format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}").parse().unwrap());
    let record = serde_json::from_str(r#"{"name":"A","category":"art"}"#).unwrap();
    let selected = ProjectSelected { slug: "a".parse().unwrap(), record, id: None };
    let withdrawn = Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() });
    let vector = || Some(Vector::new(vec![1.0]).unwrap());
    let both = |model: &str| VectorsRecorded {
        model: model.into(),
        visual: vector(),
        semantic: vector(),
        computed: None,
    };
    let computed = ComputedSide { model: "loggia-1".into(), visual: None, semantic: vector() };
    let supplied = VectorsRecorded { semantic: None, computed: Some(computed), ..both("my-own") };
    let mut log: Vec<(StreamId, Event)> =
        (1..=4).map(|number| (stream(number), Event::ProjectSelected(selected.clone()))).collect();
    log.extend((1..=3).map(|number| (stream(number), Event::VectorsRecorded(both("loggia-1")))));
    log.push((stream(1), Event::VectorsRecorded(both("loggia-1+potion-base-8m"))));
    log.push((stream(2), withdrawn.clone()));
    log.extend([(stream(3), withdrawn), (stream(3), Event::ProjectRestored(ProjectRestored {}))]);
    log.push((stream(4), Event::VectorsRecorded(supplied)));
    let mut projects = Projects::default();
    for (position, (stream, event)) in (1..).zip(log) {
        projects.apply(&samples::recorded(Position(position), stream, &event)).unwrap();
    }
    let row = |encoder: &str, visual, semantic| RecordedVectors { encoder: encoder.into(), visual, semantic };
    assert_eq!(
        projects.by_encoder(),
        [row("loggia-1", 1, 2), row("loggia-1+potion-base-8m", 1, 1), row("my-own", 1, 0)]
    );
}
