//! Creates or updates a project from an import line.

use std::collections::BTreeSet;

use schemas::command::{ImportOptions, LineForm};
use schemas::event::Event;
use schemas::import::{ImportRecord, parse_members, patched};
use schemas::record::Record;
use schemas::slug::Slug;
use serde_json::{Map, Value};

use super::identify::identified;
use super::revise::current;
use super::urls::reject_logins;
use super::{Listing, Project, Rejection, select};

/// The effect of an import line on its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new project.
    New,
    /// Changes of an existing project.
    Changed {
        /// The changed members in the record's order, for example `intro` or `taste.light`.
        members: Vec<String>,
        /// Those of them that are removed, without pictures.
        removed: Vec<String>,
        /// The sources of the pictures that are removed.
        removed_pictures: Vec<String>,
    },
    /// No change.
    Same,
}

/// Applies a line to the project that has or had its slug. An existing project keeps its slug, so a line with a former slug
/// updates the project that was renamed.
pub fn import(project: &Project, line: ImportRecord) -> Result<(Change, Vec<Event>), Rejection> {
    let listing = match project {
        Project::Absent => return Ok((Change::New, select(project, line)?)),
        Project::Listed(_) | Project::Withdrawn { .. } => project.listed(&line.slug)?,
    };
    let identified = identified(listing, &line)?;
    reject_logins(Some(&listing.record), &line.record)?;
    let mut events = listing.revisions(line.record, line.vectors);
    events.extend(identified);
    if events.is_empty() {
        return Ok((Change::Same, events));
    }
    Ok((changes(listing, &events)?, events))
}

/// Completes a partial line: members that it leaves out are as the project has them, or absent.
pub fn apply_patch(
    project: &Project,
    slug: &Slug,
    part: Map<String, Value>,
    options: ImportOptions,
) -> Result<ImportRecord, Rejection> {
    let mut known = match (project, options.lines) {
        (Project::Absent, _) | (_, LineForm::Record | LineForm::Cells) => Map::new(),
        (Project::Listed(_) | Project::Withdrawn { .. }, LineForm::Patch) => current(project.listed(slug)?)?,
    };
    known.insert("slug".to_owned(), slug.as_str().into());
    let part =
        part.into_iter().filter(|(name, _)| !matches!(name.as_str(), "slug" | "id" | "source")).collect();
    let whole = patched(known, part).map_err(Rejection::Invalid)?;
    parse_members(whole, options.ignore_unknown).map_err(Rejection::Invalid)
}

fn changes(listing: &Listing, after: &[Event]) -> Result<Change, Rejection> {
    let (mut differing, mut removed_pictures) = (Differing::default(), Vec::new());
    for event in after {
        match event {
            Event::ProjectRevised(revised) => {
                differing.compare("", &members(&listing.record)?, &members(&revised.record)?);
                let after = &revised.record.pictures;
                let before = listing.record.pictures.iter().map(|picture| &picture.source);
                let gone = before.filter(|source| after.iter().all(|picture| picture.source != **source));
                removed_pictures.extend(gone.cloned());
            }
            Event::ProjectIdentified(_) => {
                let name = if listing.ids.is_empty() { "id" } else { "source" };
                differing.names.push(name.to_owned());
            }
            _ => differing.names.push("vectors".to_owned()),
        }
    }
    let Differing { names, mut removed } = differing;
    removed.retain(|name| name != "pictures");
    Ok(Change::Changed { members: names, removed, removed_pictures })
}

/// Returns the members that differ, and those of them that are removed.
#[derive(Default)]
struct Differing {
    names: Vec<String>,
    removed: Vec<String>,
}

impl Differing {
    /// Returns the names of members that differ; those of an object one by one.
    fn compare(&mut self, prefix: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let empty = Map::new();
        let mut seen = BTreeSet::new();
        for name in after.keys().chain(before.keys()).filter(|name| seen.insert(name.as_str())) {
            match (before.get(name), after.get(name)) {
                (before, after) if before == after => {}
                (Some(Value::Object(before)), Some(Value::Object(after))) => {
                    self.compare(&format!("{prefix}{name}."), before, after);
                }
                (Some(Value::Object(before)), None) => {
                    self.compare(&format!("{prefix}{name}."), before, &empty);
                }
                (None, Some(Value::Object(after))) => {
                    self.compare(&format!("{prefix}{name}."), &empty, after);
                }
                (_, after) => {
                    self.names.push(format!("{prefix}{name}"));
                    if after.is_none() {
                        self.removed.push(format!("{prefix}{name}"));
                    }
                }
            }
        }
    }
}

fn members(record: &Record) -> Result<Map<String, Value>, Rejection> {
    match serde_json::to_value(record) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Rejection::invalid("", format!("cannot be compared: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    const FIRST: &str = r#"{"slug":"a","name":"First","category":"art","studio":"Nord","taste":{"material":"oak"},"provenance":{"note":"seen"}}"#;

    fn importing(text: &str) -> impl FnOnce(&Project) -> Result<Vec<Event>, Rejection> {
        let line = line(text);
        |project| import(project, line).map(|(_, events)| events)
    }

    fn change(past: &[Event], text: &str) -> Change {
        import(&Project::replay(past), line(text)).unwrap().0
    }

    #[test]
    fn a_line_with_a_new_slug_selects_a_project() {
        given(&[]).when(importing(FIRST)).then(&[selected()]);
        assert_eq!(change(&[], FIRST), Change::New);
    }

    #[test]
    fn a_line_without_a_difference_changes_nothing() {
        given(&[selected()]).when(importing(FIRST)).then_nothing();
        assert_eq!(change(&[selected()], FIRST), Change::Same);
    }

    #[test]
    fn a_line_that_differs_revises_the_project_and_lists_the_members() {
        let other = r#"{"slug":"a","name":"First","category":"design","intro":"Now.","taste":{"material":"ash","light":"dusk"}}"#;
        given(&[selected()]).when(importing(other)).then(&[revised_so(other)]);
        let members = ["category", "intro", "taste.material", "taste.light", "studio", "provenance.note"]
            .map(String::from);
        let removed = vec!["studio".to_owned(), "provenance.note".to_owned()];
        assert_eq!(
            change(&[selected()], other),
            Change::Changed { members: members.into(), removed, removed_pictures: Vec::new() }
        );
    }

    #[test]
    fn a_line_with_a_former_slug_updates_its_project_and_the_slug_stays() {
        let other = r#"{"slug":"a","name":"Second","category":"art"}"#;
        given(&[selected(), renamed("b")]).when(importing(other)).then(&[revised("Second")]);
    }

    #[test]
    fn another_id_is_never_taken_for_that_of_the_project() {
        let with = |id: &str| format!(r#"{{"id":"{id}","name":"First","category":"art"}}"#);
        let project = |id: &str| select(&Project::Absent, line(&with(id))).unwrap();
        for (known, other) in [("A7", "a7"), ("A7", "\u{c4}7"), ("A.1", "A-1")] {
            let past = project(known);
            given(&past).when(importing(&with(known))).then_nothing();
            let slug = line(&with(other)).slug;
            given(&past).when(importing(&with(other))).then_rejected(&format!(
                "id is “{other}”, and the slug that it makes ({slug}) belongs to the project with the id “{known}”; give a slug \
                 instead"
            ));
        }
    }

    #[test]
    fn vectors_are_recorded_only_when_they_differ() {
        let with = |numbers: &str| {
            let mut text = FIRST.trim_end_matches('}').to_owned();
            text.push_str(&format!(r#"}},"vectors":{{"visual":{numbers}}},"vector_model":"m"}}"#));
            text
        };
        let past = [selected(), vectors("m", &[1.0, 2.0])];
        assert_eq!(change(&past, &with("[1,2]")), Change::Same);
        assert_eq!(change(&past, FIRST), Change::Same, "a line without vectors leaves them as they are");
        let changed = Change::Changed {
            members: vec!["vectors".into()],
            removed: Vec::new(),
            removed_pictures: Vec::new(),
        };
        assert_eq!(change(&past, &with("[1,3]")), changed);
        given(&past).when(importing(&with("[1,3]"))).then(&[vectors("m", &[1.0, 3.0])]);
    }

    #[test]
    fn a_withdrawn_project_must_be_restored_before_it_is_imported() {
        given(&[selected(), withdrawn("sold")])
            .when(importing(FIRST))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }
}
