//! Importing: the project shall say what a line says.

use std::collections::BTreeSet;

use schemas::event::Event;
use schemas::import::ImportRecord;
use schemas::record::Record;
use serde_json::{Map, Value};

use super::{Listing, Project, Rejection, select};

/// What a line means for its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The project was not there before.
    New,
    /// The project said something else before, in these members.
    Changed {
        /// In the record's order, for example `intro` or `taste.light`.
        members: Vec<String>,
    },
    /// The project says this already.
    Same,
}

/// Decides what a line does to the project that has its slug. The slug of a project that is there stays, so a line
/// under an old slug reaches the project where it is now.
pub fn import(project: &Project, line: ImportRecord) -> Result<(Change, Vec<Event>), Rejection> {
    let listing = match project {
        Project::Absent => return Ok((Change::New, select(project, line)?)),
        Project::Listed(_) | Project::Withdrawn { .. } => project.listed(&line.slug)?,
    };
    let events = listing.rewritten(line.record, line.vectors);
    if events.is_empty() {
        return Ok((Change::Same, events));
    }
    Ok((Change::Changed { members: differing(listing, &events)? }, events))
}

fn differing(listing: &Listing, after: &[Event]) -> Result<Vec<String>, Rejection> {
    let mut names = Vec::new();
    for event in after {
        if let Event::ProjectRevised(revised) = event {
            compare("", &members(&listing.record)?, &members(&revised.record)?, &mut names);
        } else {
            names.push("vectors".to_owned());
        }
    }
    Ok(names)
}

/// Names the members that differ; those of an object are named one by one.
fn compare(prefix: &str, before: &Map<String, Value>, after: &Map<String, Value>, names: &mut Vec<String>) {
    let empty = Map::new();
    let mut seen = BTreeSet::new();
    for name in after.keys().chain(before.keys()).filter(|name| seen.insert(name.as_str())) {
        match (before.get(name), after.get(name)) {
            (before, after) if before == after => {}
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                compare(&format!("{prefix}{name}."), before, after, names);
            }
            (Some(Value::Object(before)), None) => {
                compare(&format!("{prefix}{name}."), before, &empty, names);
            }
            (None, Some(Value::Object(after))) => {
                compare(&format!("{prefix}{name}."), &empty, after, names);
            }
            (_, _) => names.push(format!("{prefix}{name}")),
        }
    }
}

fn members(record: &Record) -> Result<Map<String, Value>, Rejection> {
    match serde_json::to_value(record) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Rejection::fault("", format!("cannot be compared: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    const FIRST: &str = r#"{"slug":"a","name":"First","category":"art","studio":"Nord","taste":{"material":"oak"},"provenance":{"note":"seen"}}"#;

    fn change(past: &[Event], text: &str) -> Change {
        import(&Project::replay(past), line(text)).unwrap().0
    }

    #[test]
    fn a_line_of_a_new_slug_selects_its_project() {
        given(&[]).when(|project| import(project, line(FIRST)).map(|(_, events)| events)).then(&[selected()]);
        assert_eq!(change(&[], FIRST), Change::New);
    }

    #[test]
    fn a_line_that_says_the_same_changes_nothing() {
        given(&[selected()])
            .when(|project| import(project, line(FIRST)).map(|(_, events)| events))
            .then_nothing();
        assert_eq!(change(&[selected()], FIRST), Change::Same);
    }

    #[test]
    fn a_line_that_says_otherwise_revises_and_names_the_members() {
        let other = r#"{"slug":"a","name":"First","category":"design","intro":"Now.","taste":{"material":"ash","light":"dusk"}}"#;
        given(&[selected()])
            .when(|project| import(project, line(other)).map(|(_, events)| events))
            .then(&[revised_so(other)]);
        let members = ["category", "intro", "taste.material", "taste.light", "studio", "provenance.note"]
            .map(String::from);
        assert_eq!(change(&[selected()], other), Change::Changed { members: members.into() });
    }

    #[test]
    fn a_line_under_an_old_slug_reaches_its_project_and_the_slug_stays() {
        let other = r#"{"slug":"a","name":"Second","category":"art"}"#;
        given(&[selected(), renamed("b")])
            .when(|project| import(project, line(other)).map(|(_, events)| events))
            .then(&[revised("Second")]);
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
        assert_eq!(change(&past, &with("[1,3]")), Change::Changed { members: vec!["vectors".into()] });
        given(&past)
            .when(|project| import(project, line(&with("[1,3]"))).map(|(_, events)| events))
            .then(&[vectors("m", &[1.0, 3.0])]);
    }

    #[test]
    fn what_was_withdrawn_is_restored_first() {
        given(&[selected(), withdrawn("sold")])
            .when(|project| import(project, line(FIRST)).map(|(_, events)| events))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }
}
