//! `get_project`: the full record of one project.

use super::{Asked, Tool, record};
use crate::json_writer::JsonWriter;
use crate::mcp::answer::{Answer, Answered};
use crate::mcp::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Use this when you have a slug and want everything recorded about the project: description, design language, details, taste, images, provenance, citation URL. Unrecorded values are null. To see the picture itself use fetch.",
    input: r#"{"type":"object","properties":{"slug":{"type":"string","description":"slug of a result"}},"required":["slug"]}"#,
    output: r#"{"type":"object","properties":{"slug":{"type":"string"},"name":{"type":"string"},"studio":{"minLength":1},"city":{"minLength":1},"year":{"minLength":1},"category":{"type":"string"},"intro":{"minLength":1},"published":{"minLength":1},"thumbnail":{"minLength":1},"url":{"type":"string"},"citation_url":{"type":"string"},"provenance":{"type":"object"},"description":{"minLength":1},"design_language":{"minLength":1},"details":{"type":"array","items":{"type":"object"}},"taste":{"type":"object","properties":{"material":{"minLength":1},"light":{"minLength":1},"color":{"minLength":1},"mood":{"minLength":1},"composition":{"minLength":1},"subject":{"minLength":1}}},"images":{"type":"array","items":{"type":"object"}},"revision":{"type":"integer"},"updated_at":{"type":"string"},"note":{"type":"string"}},"required":["slug","name","category","url","citation_url","provenance","taste"]}"#,
    arguments: &["slug"],
    example: r#"{"slug":"library-at-the-ropewalk"}"#,
    is_counted: true,
    writes: false,
};

pub(super) async fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let slug = record::slug(arguments, "slug");
    let slug = arguments.complete(slug)?;
    let found = record::find(asked, &slug).await?;
    let answer = Answer::new(JsonWriter::reopen(asked.state.site(), &found.record));
    Ok(match found.note {
        Some(note) => answer.note(note),
        None => answer,
    })
}
