//! `get_project`: the full record of one project.

use super::{Asked, Tool, record};
use crate::json_writer::JsonWriter;
use crate::mcp::answer::{Answer, Answered, Refusal};
use crate::mcp::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Use this when you have a slug and want everything recorded about the project: description, design language, details, taste, images, provenance, citation URL. Unrecorded values are null. To see the picture itself use fetch.",
    input: r#"{"type":"object","properties":{"slug":{"type":"string","description":"slug of a result"}},"required":["slug"]}"#,
    output: r#"{"type":"object","properties":{"slug":{"type":"string"},"name":{"type":"string"},"studio":{},"city":{},"year":{},"category":{"type":"string"},"intro":{},"published":{},"thumbnail":{},"url":{"type":"string"},"citation_url":{"type":"string"},"provenance":{"type":"object"},"description":{},"design_language":{},"details":{"type":"array","items":{"type":"object"}},"taste":{"type":"object","properties":{"material":{},"light":{},"color":{},"mood":{},"composition":{},"subject":{}}},"images":{"type":"array","items":{"type":"object"}},"revision":{"type":"integer"},"updated_at":{"type":"string"},"note":{"type":"string"}},"required":["slug","name","category","url","citation_url","provenance","taste"]}"#,
    arguments: &["slug"],
    example: r#"{"slug":"library-at-the-ropewalk"}"#,
    is_counted: true,
    writes: false,
};

pub(super) async fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let Some(slug) = record::slug(arguments, "slug") else {
        return Err(Refusal::Arguments(arguments.faults().to_vec()));
    };
    let found = record::find(asked, &slug).await?;
    let answer = Answer::new(JsonWriter::reopen(asked.state.site(), &found.record));
    Ok(match found.note {
        Some(note) => answer.note(note),
        None => answer,
    })
}
