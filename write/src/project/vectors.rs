//! Records the vectors that the embedding worker computed.

use schemas::event::{ComputedSide, Event, VectorsRecorded};
use schemas::slug::Slug;
use schemas::vector::BUILT_IN;
use serde_json::{Map, Value};

use super::{Project, Rejection};

/// The actor of vectors that the write side computes. They follow the record, as do those of its encoders from any
/// actor; other vectors were supplied and stay.
pub const COMPUTED_BY: &str = "loggia-vectors";

/// Returns whether vectors of this model are made by an encoder of this service, which need not be installed here.
pub fn is_own_encoder(model: &str) -> bool {
    model.strip_prefix(BUILT_IN).is_some_and(|weights| weights.is_empty() || weights.starts_with('+'))
}

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
    fn the_names_of_own_encoders_begin_with_the_built_in_one() {
        let own = ["loggia-1", "loggia-1+efficientnet-lite0", "loggia-1+efficientnet-lite0+potion-base-8m"];
        assert!(own.into_iter().all(is_own_encoder));
        let others = ["loggia-12", "loggia", "clip", "", "+loggia-1"];
        assert!(!others.into_iter().any(is_own_encoder));
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
