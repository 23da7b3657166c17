//! Describing: a worker of the write side records what the project looks and reads like.

use schemas::event::{Event, VectorsRecorded};

use super::Project;

/// Decides what follows from computed vectors: they replace the ones before. Nothing follows for a project that is not in
/// the catalog, nor where they say nothing new.
pub fn describe(project: &Project, vectors: VectorsRecorded) -> Vec<Event> {
    match project {
        Project::Listed(listing) if listing.vectors.as_ref() != Some(&vectors) => {
            vec![Event::VectorsRecorded(vectors)]
        }
        Project::Listed(_) | Project::Absent | Project::Withdrawn { .. } => Vec::new(),
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
    fn vectors_are_recorded_once_and_replace_what_was_before() {
        let (first, second) = (vectors("m", &[1.0]), vectors("m", &[2.0]));
        let describe = |past: &[Event], event: &Event| describe(&Project::replay(past), of(event.clone()));
        assert_eq!(describe(&[selected()], &first), std::slice::from_ref(&first));
        assert_eq!(describe(&[selected(), first.clone()], &first), []);
        assert_eq!(describe(&[selected(), first.clone()], &second), std::slice::from_ref(&second));
        assert_eq!(describe(&[], &first), []);
        assert_eq!(describe(&[selected(), withdrawn("sold")], &first), []);
    }
}
