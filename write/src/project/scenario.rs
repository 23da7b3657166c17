//! Short names for events, for tests of the use cases.

use schemas::event::*;
use schemas::import::{ImportRecord, parse_line};
use schemas::picture::{Picture, PictureFormat, PictureId};
use schemas::vector::Vector;

use super::Project;
use crate::scenario::Given;

pub(super) fn given(events: &[Event]) -> Given<Project> {
    Given(Project::replay(events))
}

/// The project “First” at the slug `a`, with a studio, one taste dimension and a note.
pub(super) fn selected() -> Event {
    let line = line(
        r#"{"slug":"a","name":"First","category":"art","studio":"Nord","taste":{"material":"oak"},"provenance":{"note":"seen"}}"#,
    );
    Event::ProjectSelected(ProjectSelected { slug: line.slug, record: line.record, id: None })
}

/// A record with a name and a category only.
pub(super) fn revised(name: &str) -> Event {
    let line = line(&format!(r#"{{"name":"{name}","category":"art"}}"#));
    Event::ProjectRevised(ProjectRevised { record: line.record })
}

/// The record of [`selected`] with some members changed.
pub(super) fn revised_so(text: &str) -> Event {
    Event::ProjectRevised(ProjectRevised { record: line(text).record })
}

pub(super) fn renamed(slug: &str) -> Event {
    Event::ProjectRenamed(ProjectRenamed { slug: slug.parse().unwrap() })
}

pub(super) fn withdrawn(reason: &str) -> Event {
    Event::ProjectWithdrawn(ProjectWithdrawn { reason: reason.into() })
}

pub(super) fn restored() -> Event {
    Event::ProjectRestored(ProjectRestored {})
}

pub(super) fn vectors(model: &str, visual: &[f32]) -> Event {
    let visual = Some(Vector::new(visual.to_vec()).unwrap());
    Event::VectorsRecorded(VectorsRecorded { model: model.into(), visual, semantic: None, computed: None })
}

/// A picture whose name is made of this byte.
pub(super) fn picture(byte: u8) -> Picture {
    Picture {
        id: PictureId([byte; 32]),
        format: PictureFormat::Jpeg,
        width: 640,
        height: 480,
        palette: Vec::new(),
    }
}

pub(super) fn line(text: &str) -> ImportRecord {
    parse_line(text, false).unwrap()
}
