//! `fetch`: the connector form of a record, with the picture itself.

use answers::catalog::cited::CiteStyle;
use answers::catalog::detail::Detail;
use answers::catalog::json_writer::JsonWriter;
use schemas::api::site;
use schemas::api::summary::ThumbnailState;
use schemas::picture::{Form, LIST_WIDTH, PictureId, WIDTHS};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::search::title;
use super::{CallContext, Run, Tool, listing, quota, record};
use crate::tools::answer::{Answer, Answered, Image};
use crate::tools::input::input;
use crate::tools::record::{AsOf, Reference, RevisionNumber};

pub(super) static TOOL: Tool = Tool {
    name: "fetch",
    title: "Fetch a project with its picture",
    description: "Use this when you have an id from search (or a slug) and want its text for reading and citing, and its picture, embedded as JPEG.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"text":{"type":"string"},"url":{"type":"string"},"metadata":{"type":"object"},"citation":{"type":"string"},"note":{"type":"string"}},"required":["id","title","text","url"]}"#,
    arguments: Input::NAMES,
    example: r#"{"id":"{newest}"}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let input = Input::read(arguments);
        Box::pin(async move { run(context, input?).await })
    }),
};

input! {
    id: Reference = "id of a result of search, a slug, or a URL of the project",
    revision: Option<RevisionNumber> = "As it was then, e.g. 1",
    as_of: Option<AsOf> = "As of that day's end, e.g. {day}",
    cite: Option<CiteStyle>,
}

/// The maximum size in bytes of an embedded picture: 2 MB as Base64.
const MOST_BYTES: usize = (2 << 20) / 4 * 3;

/// The maximum size in bytes of a text. An answer has it twice, and clients truncate answers of more than about 25,000 tokens.
const LONGEST_TEXT: usize = 16 << 10;

/// What is said of a picture that is not there yet.
const WAITING: &str = "The picture is being fetched or drawn; call again in a minute.";

/// The members of a record that the answer uses.
#[derive(Deserialize)]
struct Record {
    slug: String,
    name: String,
    studio: Option<String>,
    city: Option<String>,
    year: Option<String>,
    category: String,
    intro: Option<String>,
    published: Option<String>,
    thumbnail: Option<String>,
    thumbnail_state: Option<ThumbnailState>,
    url: String,
    citation_url: String,
    revision: u32,
    revision_url: String,
    added_at: String,
    provenance: Map<String, Value>,
    description: Option<String>,
    design_language: Option<String>,
    details: Vec<Fact>,
    taste: Map<String, Value>,
    images: Vec<Shown>,
}

#[derive(Deserialize)]
struct Fact {
    label: String,
    value: String,
}

#[derive(Deserialize)]
struct Shown {
    url: String,
    width: u32,
    alt: Option<String>,
}

async fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let found = record::find(context, &input.id, record::revision_query(input.revision, input.as_of)).await?;
    quota::check(context)?;
    let site = context.state.site();
    let mut text = Vec::with_capacity(found.record.len() + 512);
    site::fill(&found.record, site.as_str(), &mut text);
    let record: Record = serde_json::from_slice(&text).map_err(answers::error::ApiError::internal)?;
    let mut json = JsonWriter::object(site, 2 * text.len());
    json.member("id", &record.slug)?;
    json.member("title", &title(&record.name, record.studio.as_deref()))?;
    let (text, is_whole) = shortened(record.text());
    json.member("text", &text)?;
    json.member("url", &record.url)?;
    json.member("metadata", &record.metadata())?;
    if let Some(cite) = input.cite {
        json.member("citation", &cite.citation(&found.record, site)?)?;
    }
    listing::preview(&mut json, (context, Detail::Full), 1, 1)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(found.notes.into_iter().map(Into::into));
    if !is_whole {
        answer.notes.push(format!("The text is shortened; all of it is at {}.", record.revision_url).into());
    }
    match picture(context, &record).await {
        Ok(image) => answer.images.push(image),
        Err(note) => answer.notes.push(note.into()),
    }
    Ok(answer)
}

/// Returns at most [`LONGEST_TEXT`] bytes of a text, and whether that is all of it.
fn shortened(mut text: String) -> (String, bool) {
    if text.len() <= LONGEST_TEXT {
        return (text, true);
    }
    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    text.push('…');
    (text, false)
}

/// Returns the thumbnail as JPEG, since not every client supports WebP, or why there is none.
async fn picture(context: CallContext<'_>, record: &Record) -> Result<Image, &'static str> {
    let kept = record.images.iter().find_map(|image| Some((kept(&image.url)?, image.width)));
    let Some((id, width)) = kept else {
        return Err(match (&record.thumbnail, record.thumbnail_state) {
            (None, Some(ThumbnailState::Waiting)) => WAITING,
            (Some(_), _) => "The picture is not kept here; its address is metadata.image_url.",
            (None, None) => "No picture of this project is recorded.",
        });
    };
    let jpeg = ("image/jpeg", Form::Jpeg(width.min(LIST_WIDTH)));
    // A picture of noise, or a very tall one, may still be too large.
    let smaller = ("image/webp", Form::Webp(width.min(WIDTHS[0])));
    for (kind, form) in [jpeg, smaller] {
        match context.state.media().read(id, form).await {
            Ok(Some(bytes)) if bytes.len() <= MOST_BYTES => return Ok(Image { caption: None, kind, bytes }),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, picture = %id, "a kept picture cannot be read"),
        }
    }
    Err("The picture cannot be embedded at present; its address is metadata.image_url.")
}

/// Returns the picture of a URL of this site.
pub(super) fn kept(url: &str) -> Option<PictureId> {
    let (_, path) = url.split_once("/media/")?;
    path.split('/').next()?.parse().ok()
}

impl Record {
    /// Returns all recorded values as a readable text.
    fn text(&self) -> String {
        let mut paragraphs = vec![self.heading()];
        let texts = [&self.intro, &self.description, &self.design_language];
        paragraphs.extend(texts.into_iter().flatten().cloned());
        paragraphs.extend(self.details.iter().map(|Fact { label, value }| format!("{label}: {value}")));
        let taste = self.taste.iter().filter_map(|(name, text)| Some(format!("{name}: {}", text.as_str()?)));
        let taste: Vec<String> = taste.collect();
        if !taste.is_empty() {
            paragraphs.push(format!("Taste: {}.", taste.join("; ")));
        }
        let said = |name: &str| self.provenance.get(name).and_then(Value::as_str);
        if let Some(curator) = said("curated_by") {
            let when = said("selected").map_or_else(String::new, |day| format!(" on {day}"));
            let note = said("note").map_or_else(String::new, |note| format!(" {note}"));
            paragraphs.push(format!("Selected by {curator}{when}.{note}"));
        }
        paragraphs.push(format!("Cite as {}", self.revision_url));
        paragraphs.join("\n\n")
    }

    fn heading(&self) -> String {
        let parts = [Some(&self.name), self.studio.as_ref(), self.city.as_ref(), self.year.as_ref()];
        let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        format!("{} ({})", known.join(", "), self.category)
    }

    /// Returns the metadata that connectors show beside the text; a value that is not recorded is null.
    fn metadata(&self) -> Value {
        json!({
            "studio": self.studio, "city": self.city, "year": self.year, "category": self.category,
            "published": self.published, "citation_url": self.citation_url, "revision": self.revision,
            "revision_url": self.revision_url, "added_at": self.added_at, "provenance": self.provenance,
            "taste": self.taste, "image_url": self.thumbnail,
            "image_alt": self.images.first().and_then(|image| image.alt.as_ref()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        assert_eq!(shortened("a".repeat(LONGEST_TEXT)), ("a".repeat(LONGEST_TEXT), true));
        let (text, is_whole) = shortened("ü".repeat(LONGEST_TEXT) + "a");
        assert_eq!((text, is_whole), ("ü".repeat(LONGEST_TEXT / 2) + "…", false));
        let (text, _) = shortened("a".to_owned() + &"ü".repeat(LONGEST_TEXT));
        assert_eq!(text, "a".to_owned() + &"ü".repeat(LONGEST_TEXT / 2 - 1) + "…");
    }
}
