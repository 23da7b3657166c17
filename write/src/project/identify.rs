//! The external id of a project: whether it is that of a line, and whether the line records it.

use schemas::event::{Event, ProjectIdentified};
use schemas::external_id::ExternalId;
use schemas::import::{ImportRecord, SlugOrigin};

use super::{Listing, Rejection};

/// What the ids of a project say about a line with an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdMatch {
    /// The project has or had the id of the line.
    Same,
    /// The project has this id without a source, and the line has one: perhaps it was imported before there was a mapping.
    WithoutSource,
    /// No id of the project is known.
    Unknown,
    /// The project has another id.
    Other,
}

/// Compares the ids that a project has and had with that of a line.
pub fn match_ids(known: &[ExternalId], id: &ExternalId) -> IdMatch {
    if known.contains(id) {
        return IdMatch::Same;
    }
    match known.last() {
        None => IdMatch::Unknown,
        Some(current) if current.source.is_none() && current.id == id.id => IdMatch::WithoutSource,
        Some(_) => IdMatch::Other,
    }
}

/// Returns the event that records the id of a line, if there is something to record. An id without a source from which the slug was
/// made is not recorded later: the slug leads to the project.
pub(super) fn identified(listing: &Listing, line: &ImportRecord) -> Result<Option<Event>, Rejection> {
    let Some(id) = &line.id else { return Ok(None) };
    let is_given = line.origin == SlugOrigin::Given;
    match (match_ids(&listing.ids, id), listing.id()) {
        (IdMatch::Other, Some(known)) => {
            let reason = if is_given {
                format!(
                    "is {id}, and the project “{}” has the id {known}; leave out the slug or the id",
                    listing.slug
                )
            } else {
                format!(
                    "is {id}, and the slug that it makes ({}) belongs to the project with the id {known}; give a slug instead",
                    line.slug
                )
            };
            Err(Rejection::invalid("id", reason))
        }
        (IdMatch::Unknown, _) if id.source.is_none() && !is_given => Ok(None),
        (IdMatch::Unknown | IdMatch::WithoutSource, _) => {
            Ok(Some(Event::ProjectIdentified(ProjectIdentified { id: id.clone() })))
        }
        (IdMatch::Same | IdMatch::Other, _) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::super::{Change, Project, import, select};
    use super::*;

    fn identified_as(source: &str, id: &str) -> Event {
        let id = ExternalId { id: id.into(), source: source.parse().ok() };
        Event::ProjectIdentified(ProjectIdentified { id })
    }

    /// A line that says of the project [`selected`] what the log says, and this.
    fn with(members: &str) -> String {
        format!(
            r#"{{{members},"name":"First","category":"art","studio":"Nord","taste":{{"material":"oak"}},"provenance":{{"note":"seen"}}}}"#
        )
    }

    fn importing(text: &str) -> impl FnOnce(&Project) -> Result<Vec<Event>, Rejection> {
        let line = line(text);
        |project| import(project, line).map(|(_, events)| events)
    }

    /// The project with this id, given when it was selected.
    fn project(members: &str) -> Vec<Event> {
        select(&Project::Absent, line(&with(members))).unwrap()
    }

    #[test]
    fn an_id_with_a_source_or_with_a_slug_is_recorded_once() {
        for (members, source) in [
            (r#""id":"A","source":"tate""#, "tate"),
            (r#""slug":"a","id":"A","source":"tate""#, "tate"),
            (r#""slug":"a","id":"A""#, ""),
        ] {
            let line = with(members);
            let id = identified_as(source, "A");
            given(&[selected()]).when(importing(&line)).then(std::slice::from_ref(&id));
            given(&[selected(), id.clone()]).when(importing(&line)).then_nothing();
            given(&[selected(), id, renamed("b")]).when(importing(&line)).then_nothing();
        }
        // Its slug leads to it, as before.
        given(&[selected()]).when(importing(&with(r#""id":"A""#))).then_nothing();
    }

    #[test]
    fn recording_an_id_changes_the_id_and_nothing_else() {
        let change = |past: &[Event], members: &str| {
            let (change, _) = import(&Project::replay(past), line(&with(members))).unwrap();
            let Change::Changed { members, removed, removed_pictures } = change else { panic!("{change:?}") };
            assert_eq!((removed, removed_pictures), (Vec::<String>::new(), Vec::<String>::new()));
            members
        };
        assert_eq!(change(&[selected()], r#""id":"a","source":"tate""#), ["id"]);
        assert_eq!(change(&project(r#""id":"a""#), r#""id":"a","source":"tate""#), ["source"]);
    }

    #[test]
    fn an_id_without_a_source_gets_one_and_stays_an_id_of_the_project() {
        let mut past = project(r#""id":"a""#);
        let tate = with(r#""id":"a","source":"tate""#);
        given(&past).when(importing(&tate)).then(&[identified_as("tate", "a")]);
        past.push(identified_as("tate", "a"));
        for same in [&tate, &with(r#""id":"a""#), &with(r#""slug":"a""#)] {
            given(&past).when(importing(same)).then_nothing();
        }
        let current = Project::replay(&past).listing().unwrap().id().unwrap().to_string();
        assert_eq!(current, "“a” of tate");
    }

    #[test]
    fn another_id_is_never_taken_for_that_of_the_project() {
        let past = project(r#""id":"a","source":"tate""#);
        for (members, sentence) in [
            (
                r#""id":"a","source":"moma""#,
                "id is “a” of moma, and the slug that it makes (a) belongs to the project with the id “a” of tate; give a \
                 slug instead",
            ),
            (
                r#""id":"a""#,
                "id is “a”, and the slug that it makes (a) belongs to the project with the id “a” of tate; give a slug \
                 instead",
            ),
            (
                r#""slug":"a","id":"b","source":"tate""#,
                "id is “b” of tate, and the project “a” has the id “a” of tate; leave out the slug or the id",
            ),
        ] {
            given(&past).when(importing(&with(members))).then_rejected(sentence);
        }
    }
}
