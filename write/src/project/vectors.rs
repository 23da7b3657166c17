//! Records the vectors that the embedding worker computed.

use schemas::event::{ComputedSide, Event, VectorsRecorded};
use schemas::slug::Slug;
pub use schemas::vector::is_own_encoder;
use serde_json::{Map, Value};

use super::{Project, Rejection};

/// The actor of vectors that the write side computes. They follow the record, as do those of its encoders from any
/// actor; other vectors were supplied and stay.
pub const COMPUTED_BY: &str = "loggia-vectors";

/// Replaces the vectors by computed ones. No events for a project that is not listed, or if nothing changes.
pub fn record_vectors(project: &Project, vectors: VectorsRecorded) -> Vec<Event> {
    match project {
        Project::Listed(listing) if listing.vectors.as_ref() != Some(&vectors) => {
            vec![Event::VectorsRecorded(vectors)]
        }
        Project::Listed(_) | Project::Absent | Project::Withdrawn { .. } => Vec::new(),
    }
}

/// Adds the computed side to a project that was imported with a vector of the other side.
pub fn record_missing_side(project: &Project, vectors: VectorsRecorded) -> Vec<Event> {
    let Project::Listed(listing) = project else { return Vec::new() };
    let Some(known) = &listing.vectors else { return Vec::new() };
    let beside = ComputedSide {
        model: vectors.model,
        visual: vectors.visual.filter(|_| known.visual.is_none()),
        semantic: vectors.semantic.filter(|_| known.semantic.is_none()),
    };
    if known.computed.is_none() && beside.visual.is_none() && beside.semantic.is_none() {
        return Vec::new();
    }
    record_vectors(project, VectorsRecorded { computed: Some(beside), ..known.clone() })
}

/// Returns whether changes of a record only remove its vectors, which returns the project to the encoder.
pub fn returns_to_encoder(changes: &Map<String, Value>) -> bool {
    changes.len() == 1 && changes.get("vectors").is_some_and(Value::is_null)
}

/// Returns the project requested as `slug` to the encoder: records its vectors again, as computed ones.
pub fn return_to_encoder(project: &Project, slug: &Slug) -> Result<Vec<Event>, Rejection> {
    match &project.listed(slug)?.vectors {
        Some(vectors) if !is_own_encoder(&vectors.model) => {
            Ok(vec![Event::VectorsRecorded(VectorsRecorded { computed: None, ..vectors.clone() })])
        }
        Some(_) | None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn of(event: Event) -> VectorsRecorded {
        let Event::VectorsRecorded(vectors) = event else { panic!("these are vectors") };
        vectors
    }

    #[test]
    fn only_supplied_vectors_are_returned_to_the_encoder() {
        let return_to_encoder = |project: &Project| return_to_encoder(project, &"a".parse().unwrap());
        given(&[selected(), vectors("m", &[1.0])]).when(return_to_encoder).then(&[vectors("m", &[1.0])]);
        given(&[selected()]).when(return_to_encoder).then_nothing();
        given(&[selected(), vectors("loggia-1", &[1.0])]).when(return_to_encoder).then_nothing();
        given(&[selected(), withdrawn("sold")])
            .when(return_to_encoder)
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }

    #[test]
    fn vectors_are_recorded_once_and_replace_older_ones() {
        let (first, second) = (vectors("m", &[1.0]), vectors("m", &[2.0]));
        let recorded =
            |history: &[Event], event: &Event| record_vectors(&Project::replay(history), of(event.clone()));
        assert_eq!(recorded(&[selected()], &first), std::slice::from_ref(&first));
        assert_eq!(recorded(&[selected(), first.clone()], &first), []);
        assert_eq!(recorded(&[selected(), first.clone()], &second), std::slice::from_ref(&second));
        assert_eq!(recorded(&[], &first), []);
        assert_eq!(recorded(&[selected(), withdrawn("sold")], &first), []);
    }
}
