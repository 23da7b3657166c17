//! `get_project`: the full record of one project.

mod shortened;

use answers::catalog::json_writer::JsonWriter;
use answers::error::ApiError;
use schemas::api::site;
use serde::Deserialize;

use super::{CallContext, Run, Tool, listing, record};
use crate::tools::answer::{Answer, Answered};
use crate::tools::input::input;
use crate::tools::record::{AsOf, Reference, RevisionNumber};

pub(super) static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Use this when you have a slug and want everything recorded about the project: description, design language, details, taste, images, provenance, citation URL. A citation URL gives the revision that it names. Unrecorded values are null. To see the picture itself use fetch.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"slug":{"type":"string"},"name":{"type":"string"},"studio":{"type":["string","null"]},"city":{"type":["string","null"]},"year":{"type":["string","null"]},"category":{"type":"string"},"intro":{"type":["string","null"]},"published":{"type":["string","null"]},"thumbnail":{"type":["string","null"]},"url":{"type":"string"},"citation_url":{"type":"string"},"provenance":{"type":"object","properties":{"curated_by":{"type":["string","null"]},"selected":{"type":["string","null"]},"in_archive_since":{"type":["integer","null"]},"note":{"type":["string","null"]}}},"description":{"type":["string","null"]},"design_language":{"type":["string","null"]},"details":{"type":"array","items":{"type":"object","properties":{"label":{"type":"string"},"value":{"type":"string"}}}},"taste":{"type":"object","properties":"{taste}"},"images":{"type":"array","items":{"type":"object","properties":{"url":{"type":"string"},"width":{"type":"integer"},"height":{"type":"integer"},"alt":{"type":["string","null"]},"color_palette":{"type":"array","items":{"type":"string"}}}}},"revision":{"type":"integer"},"revision_url":{"type":"string"},"updated_at":{"type":"string"},"note":{"type":"string"},"preview":{"type":"object"}},"required":["slug","name","category","url","citation_url","provenance","taste"]}"#,
    arguments: Input::NAMES,
    example: r#"{"slug":"{newest}"}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let input = Input::read(arguments);
        Box::pin(async move { run(context, input?).await })
    }),
};

input! {
    slug: Reference = "slug of a result, or a URL of the project",
    revision: Option<RevisionNumber> = "as it was then",
    as_of: Option<AsOf> = "as it was at the end of that day, e.g. 2026-11-20",
}

/// The URL of the complete record.
#[derive(Deserialize)]
struct Head {
    revision_url: String,
}

async fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let found =
        record::find(context, &input.slug, record::revision_query(input.revision, input.as_of)).await?;
    let site = context.state.site();
    let mut whole = Vec::with_capacity(found.record.len() + 512);
    site::fill(&found.record, site.as_str(), &mut whole);
    let short = shortened::shortened(&whole);
    let mut json = JsonWriter::reopen(site, short.as_deref().unwrap_or(&whole));
    listing::preview(&mut json, context, 1, 1)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(found.notes.into_iter().map(Into::into));
    if short.is_some() {
        let Head { revision_url } = serde_json::from_slice(&whole).map_err(ApiError::internal)?;
        answer.notes.push(
            format!("The record is long, so texts are cut short (…); all of it is at {revision_url}.").into(),
        );
    }
    Ok(answer)
}
