//! `similar_projects`: what looks and reads most like one project.

use read::neighbours::Cursor;

use super::listing::{self, Fitted, listed};
use super::{Asked, Tool, record};
use crate::answers::json_writer::JsonWriter;
use crate::answers::similar::{self, Near};
use crate::mcp::tools::answer::{Answer, Answered, Refusal};
use crate::mcp::tools::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "similar_projects",
    title: "Similar projects",
    description: "Use this when one project is liked and others of its kind are wanted. The nearest by looks and text, precomputed; score and basis say how near, from 0 to 1. A project has at most 50.",
    input: r#"{"type":"object","properties":{"slug":{"type":"string","description":"slug of a result"},"limit":{"type":"integer","minimum":1,"maximum":20,"default":10},"cursor":{"type":"string","description":"next_cursor of the page before"}},"required":["slug"]}"#,
    output: listed!(
        r#""slug":{"type":"string"},"#,
        r#","score":{"type":"number"},"basis":{"type":"object","properties":{"visual":{"type":["number","null"]},"semantic":{"type":["number","null"]}}}"#,
        r#","next_cursor":{"type":["string","null"]}"#
    ),
    arguments: &["slug", "limit", "cursor"],
    example: r#"{"slug":"{newest}","limit":5}"#,
    is_counted: true,
    writes: false,
};

pub(super) async fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let (project, limit) = (record::reference(arguments, "slug"), arguments.limit());
    let cursor: Option<Cursor> = arguments.parsed("cursor", |text| text.parse().ok(), listing::CURSOR);
    let project = arguments.complete(project)?;
    let mut slug = project.slug().to_owned();
    let mut notes = Vec::new();
    let near = match Near::find(asked.state, &slug)? {
        Some(near) => Some(near),
        // It has moved, left, was never there, or came a moment ago: the catalog knows.
        None => {
            let located = record::locate(asked, &project).await?;
            slug = located.slug.to_string();
            notes.extend(located.note);
            Near::find(asked.state, &slug)?
        }
    };
    let site = asked.state.site();
    let neighbourhood = match &near {
        Some(near) if cursor.is_some_and(|cursor| !near.has_given(cursor)) => {
            return Err(Refusal::guided(format!(
                "The cursor was not given out with the neighbours of {slug}. Leave it out to start from the first page."
            )));
        }
        Some(near) => near.neighbours(asked.state, listing::most(asked, limit), cursor)?,
        None => similar::Neighbourhood::of_a_new_one(),
    };
    let found = &neighbourhood.shown;
    let found = found.iter().map(|(neighbour, summary)| (*summary, neighbour)).collect();
    let Fitted { shown, note } = listing::fitted(asked, limit, found);
    let mut json = JsonWriter::object(site, slug.len() + listing::room_for(&shown, site));
    json.member("slug", &slug)?;
    json.member("count", &shown.len())?;
    json.member("total", &neighbourhood.total)?;
    similar::write(&mut json, shown.iter().map(|(summary, neighbour)| (&**summary, *neighbour)))?;
    let next = neighbourhood.next_after(shown.len()).map(|cursor| cursor.to_string());
    json.member("next_cursor", &next)?;
    listing::preview(&mut json, asked, shown.len(), neighbourhood.total as u64)?;
    let mut answer = Answer::new(json);
    let why = neighbourhood.note.map(str::to_owned);
    notes.extend(why.into_iter().chain(note));
    answer.notes.extend(notes.into_iter().map(Into::into));
    Ok(answer)
}
