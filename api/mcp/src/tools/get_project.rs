//! `get_project`: the full record of one project.

mod compared;
mod pictures;
mod shortened;

use std::slice;

use answers::catalog::cited::CiteStyle;
use answers::catalog::detail::Detail;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::revision::RevisionQuery;
use answers::catalog::several::{self, MOST_SLUGS};
use answers::error::ApiError;
use bytes::Bytes;
use schemas::api::site;
use serde::Deserialize;
use serde_json::json;

use pictures::{Attached, WithPictures};

use super::{CallContext, Run, Tool, listing, quota, record};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{Argument, input};
use crate::tools::record::{AsOf, Reference, RevisionNumber};

pub(super) static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Use this when you have a slug and want everything recorded: description, design language, details, taste, images with palettes, provenance. A citation URL gives the revision that it names.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"slug":{"type":"string"},"name":{"type":"string"},"studio":{"type":["string","null"]},"city":{"type":["string","null"]},"year":{"type":["string","null"]},"category":{"type":"string"},"url":{"type":"string"},"citation_url":{"type":"string"},"provenance":{"type":"object"},"details":{"type":"array"},"taste":{"type":"object"},"images":{"type":"array"},"revision":{"type":"integer"},"revision_url":{"type":"string"},"updated_at":{"type":"string"},"citation":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"},"changes":{"type":"array"},"count":{"type":"integer"},"results":{"type":"array"},"missing":{"type":"array"},"pictures":{"type":"array"},"note":{"type":"string"}}}"#,
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
    slug: Option<Reference> = "slug of a result, or a URL of the project",
    slugs: Slugs = "Instead of slug: several in one call",
    revision: Option<RevisionNumber> = "As it was then, e.g. 1",
    as_of: Option<AsOf> = "As of that day's end, e.g. {day}",
    detail: Option<Detail>,
    cite: Option<CiteStyle>,
    compare_to: Option<RevisionNumber> = "Members that differ from that revision, e.g. 1",
    pictures: Option<WithPictures> = "true: also JPEGs of 320 px, at most 10",
}

/// The maximum size in bytes of several records together: an answer has them twice.
const LONGEST_TOGETHER: usize = 40 << 10;

/// The URL of the complete record.
#[derive(Deserialize)]
struct Head {
    revision_url: String,
}

/// What is shown of projects.
#[derive(Clone, Copy)]
struct Shown {
    detail: Detail,
    cite: Option<CiteStyle>,
    pictures: bool,
}

/// Several slugs in place of one.
struct Slugs(Vec<String>);

impl Argument for Slugs {
    const IS_REQUIRED: bool = false;

    fn schema() -> serde_json::Value {
        json!({"type": "array", "items": {"type": "string"}, "maxItems": MOST_SLUGS})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Slugs> {
        let slugs: Vec<String> = arguments
            .texts(name)
            .iter()
            .flat_map(|text| text.split(','))
            .map(|slug| slug.trim().to_ascii_lowercase())
            .filter(|slug| !slug.is_empty())
            .collect();
        if pictures::are_asked(arguments) && slugs.len() > pictures::MOST {
            arguments.fault(format!(
                "{name} has {} slugs, at most {} are taken with pictures",
                slugs.len(),
                pictures::MOST
            ));
        } else if slugs.len() > MOST_SLUGS {
            arguments.fault(format!("{name} has {} slugs, at most {MOST_SLUGS} are taken", slugs.len()));
        }
        match (slugs.is_empty(), arguments.has("slug")) {
            (true, false) => arguments.fault("slug is missing"),
            (false, true) => arguments.fault(format!("slug and {name} are both given, give one of them")),
            _ => {}
        }
        for other in ["revision", "as_of", "compare_to"] {
            if !slugs.is_empty() && arguments.has(other) {
                arguments
                    .fault(format!("{other} cannot be used with {name}, which gives the present records"));
            }
        }
        Some(Slugs(slugs))
    }
}

async fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let pictures = input.pictures.is_some_and(|WithPictures(are_asked)| are_asked);
    let shown = Shown { detail: input.detail.unwrap_or_default(), cite: input.cite, pictures };
    match &input.slug {
        Some(slug) => {
            let query = record::revision_query(input.revision, input.as_of);
            match input.compare_to {
                Some(from) => compared::run(context, (slug, query), from, input.cite).await,
                None => one(context, slug, query, shown).await,
            }
        }
        None => several(context, &input.slugs.0, shown).await,
    }
}

/// Answers with the present records of several projects.
async fn several<'a>(
    context: CallContext<'a>,
    slugs: &[String],
    Shown { detail, cite, pictures }: Shown,
) -> Answered<'a> {
    quota::check(context)?;
    let (site, shown) =
        (context.state.site(), listing::most(context, Limit { results: slugs.len(), is_asked: true }));
    let mut several = several::find(context.state, slugs.get(..shown).unwrap_or(slugs)).await?;
    let attached = attached(context, &several.records, cite, pictures).await?;
    let most = (LONGEST_TOGETHER / several.records.len().max(1)).min(shortened::LONGEST);
    let mut is_short = false;
    for record in several.records.iter_mut().filter(|_| detail.is_full()) {
        let mut whole = Vec::with_capacity(record.len() + 512);
        site::fill(record, site.as_str(), &mut whole);
        let short = shortened::shortened(&whole, most);
        is_short |= short.is_some();
        *record = short.unwrap_or(whole).into();
    }
    let mut json = JsonWriter::object(site, LONGEST_TOGETHER);
    several.write(&mut json, detail, cite.map(|style| (style, site)))?;
    if let Some(attached) = &attached {
        json.member("pictures", &attached.outcomes)?;
    }
    listing::preview(&mut json, (context, detail), several.records.len(), slugs.len() as u64)?;
    let mut answer = Answer::new(json);
    if is_short {
        answer = answer.note("Long texts are cut short (…); each record is whole at its revision_url.");
    }
    if let Some(attached) = attached {
        attached.add_to(&mut answer);
    }
    Ok(answer)
}

async fn one<'a>(
    context: CallContext<'a>,
    slug: &Reference,
    query: Option<RevisionQuery>,
    Shown { detail, cite, pictures }: Shown,
) -> Answered<'a> {
    let found = record::find(context, slug, query).await?;
    quota::check(context)?;
    let attached = attached(context, slice::from_ref(&found.record), cite, pictures).await?;
    let site = context.state.site();
    let mut whole = Vec::with_capacity(found.record.len() + 512);
    site::fill(&found.record, site.as_str(), &mut whole);
    let mut shown = detail.of(whole.strip_suffix(b"}").unwrap_or(&whole)).into_owned();
    // The object is reopened, so that its own brace has to be there: a member may end with another.
    shown.push(b'}');
    let short = if detail.is_full() { shortened::shortened(&whole, shortened::LONGEST) } else { None };
    let mut json = JsonWriter::reopen(site, short.as_deref().unwrap_or(&shown));
    if let Some(cite) = cite {
        json.member("citation", &cite.citation(&found.record, site)?)?;
    }
    if let Some(attached) = &attached {
        json.member("pictures", &attached.outcomes)?;
    }
    listing::preview(&mut json, (context, detail), 1, 1)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(found.notes.into_iter().map(Into::into));
    if short.is_some() {
        let Head { revision_url } = serde_json::from_slice(&whole).map_err(ApiError::internal)?;
        answer.notes.push(
            format!("The record is long, so texts are cut short (…); all of it is at {revision_url}.").into(),
        );
    }
    if let Some(attached) = attached {
        attached.add_to(&mut answer);
    }
    Ok(answer)
}

/// Returns the pictures of rendered records if they are asked for.
async fn attached(
    context: CallContext<'_>,
    records: &[Bytes],
    cite: Option<CiteStyle>,
    are_asked: bool,
) -> Result<Option<Attached>, Refusal> {
    if are_asked { pictures::attach(context, records, cite).await.map(Some) } else { Ok(None) }
}
