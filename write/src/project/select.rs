//! Adds a project to the catalog.

use schemas::event::{Event, ProjectSelected};
use schemas::import::ImportRecord;

use super::urls::reject_logins;
use super::{Project, Rejection};

/// Makes a project of the record; `holder` is the project that has the record's slug, if any.
pub fn select(holder: &Project, line: ImportRecord) -> Result<Vec<Event>, Rejection> {
    match holder {
        Project::Absent => {
            reject_logins(None, &line.record)?;
            let ImportRecord { slug, id, record, vectors, .. } = line;
            let mut events = vec![Event::ProjectSelected(ProjectSelected { slug, record, id })];
            events.extend(vectors.map(Event::VectorsRecorded));
            Ok(events)
        }
        Project::Listed(listing) => {
            Err(Rejection::SlugTaken { slug: line.slug, name: listing.record.name.clone() })
        }
        Project::Withdrawn { listing, reason } => {
            Err(Rejection::Withdrawn { slug: listing.slug.clone(), reason: reason.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    const BARE: &str = r#"{"slug":"a","name":"First","category":"art"}"#;

    #[test]
    fn a_new_project_is_selected() {
        let bare = line(BARE);
        given(&[]).when(|holder| select(holder, line(BARE))).then(&[Event::ProjectSelected(
            ProjectSelected { slug: bare.slug, record: bare.record, id: None },
        )]);
    }

    #[test]
    fn supplied_vectors_are_recorded() {
        let with_vectors =
            r#"{"slug":"a","name":"First","category":"art","vectors":{"visual":[1,2]},"vector_model":"m"}"#;
        let bare = line(BARE);
        given(&[]).when(|holder| select(holder, line(with_vectors))).then(&[
            Event::ProjectSelected(ProjectSelected { slug: bare.slug, record: bare.record, id: None }),
            vectors("m", &[1.0, 2.0]),
        ]);
    }

    #[test]
    fn a_slug_belongs_to_the_project_that_has_or_had_it() {
        let taken = "the slug “a” belongs to the project “First”; revise that one, or choose another slug";
        for past in [vec![selected()], vec![selected(), renamed("b")]] {
            given(&past).when(|holder| select(holder, line(BARE))).then_rejected(taken);
        }
    }

    #[test]
    fn a_withdrawn_project_cannot_be_selected() {
        given(&[selected(), withdrawn("sold")])
            .when(|holder| select(holder, line(BARE)))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }
}
