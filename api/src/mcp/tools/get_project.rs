//! `get_project`: the full record of one project.

use super::{Asked, Tool, record};
use crate::json_writer::JsonWriter;
use crate::mcp::answer::{Answer, Answered};
use crate::mcp::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Use this when you have a slug and want everything recorded about the project: description, design language, details, taste, images, provenance, citation URL. A citation URL gives the revision that it names. Unrecorded values are null. To see the picture itself use fetch.",
    input: r#"{"type":"object","properties":{"slug":{"type":"string","description":"slug of a result, or a URL of the project"},"revision":{"type":"integer","minimum":1,"description":"as it was then"},"as_of":{"type":"string","description":"as it was at the end of that day, e.g. 2026-11-20"}},"required":["slug"]}"#,
    output: r#"{"type":"object","properties":{"slug":{"type":"string"},"name":{"type":"string"},"studio":{"minLength":1},"city":{"minLength":1},"year":{"minLength":1},"category":{"type":"string"},"intro":{"minLength":1},"published":{"minLength":1},"thumbnail":{"minLength":1},"url":{"type":"string"},"citation_url":{"type":"string"},"provenance":{"type":"object"},"description":{"minLength":1},"design_language":{"minLength":1},"details":{"type":"array","items":{"type":"object"}},"taste":{"type":"object","properties":{"material":{"minLength":1},"light":{"minLength":1},"color":{"minLength":1},"mood":{"minLength":1},"composition":{"minLength":1},"subject":{"minLength":1}}},"images":{"type":"array","items":{"type":"object"}},"revision":{"type":"integer"},"revision_url":{"type":"string"},"updated_at":{"type":"string"},"note":{"type":"string"}},"required":["slug","name","category","url","citation_url","provenance","taste"]}"#,
    arguments: &["slug", "revision", "as_of"],
    example: r#"{"slug":"{newest}"}"#,
    is_counted: true,
    writes: false,
};

pub(super) async fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let (project, past) = (record::reference(arguments, "slug"), record::past(arguments));
    let project = arguments.complete(project)?;
    let found = record::find(asked, &project, past).await?;
    let mut answer = Answer::new(JsonWriter::reopen(asked.state.site(), &found.record));
    answer.notes.extend(found.notes.into_iter().map(Into::into));
    Ok(answer)
}
