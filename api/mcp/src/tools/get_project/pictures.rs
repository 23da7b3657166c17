//! The pictures of projects in one answer: small, each after a text with its slug and citation.

use answers::catalog::cited::CiteStyle;
use answers::catalog::slug::api_error;
use answers::effort::Effort;
use answers::error::ApiError;
use bytes::Bytes;
use pictures::{PictureError, decode, probe, thumbnails};
use schemas::api::site;
use schemas::api::summary::ThumbnailState;
use schemas::picture::{Form, LIST_WIDTH, PictureId, WIDTHS};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::protocol::rpc_error::quoted;
use crate::tools::answer::{Answer, Image, Refusal};
use crate::tools::arguments::Arguments;
use crate::tools::fetch::kept;
use crate::tools::input::Value;
use crate::tools::{CallContext, quota};

/// The maximum number of pictures in an answer.
pub(super) const MOST: usize = 10;

/// The maximum length of the longer side of a picture, in pixels.
const SIDE: u32 = WIDTHS[0];

/// The name of the argument.
const NAME: &str = "pictures";

const WAITING: &str = "A picture that is waiting is being fetched or drawn; call again in a minute.";
const UNREADABLE: &str =
    "A picture that is kept cannot be read at present and is given as waiting; call again in a minute.";

/// Whether the pictures are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WithPictures(pub(super) bool);

impl Value for WithPictures {
    fn schema() -> Json {
        json!({"type": "boolean"})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<WithPictures> {
        let is_asked = asked(arguments, name);
        if is_asked == Some(true) && arguments.has("compare_to") {
            arguments.fault(format!("compare_to cannot be used with {name}, give one of them"));
        }
        is_asked.map(WithPictures)
    }
}

/// Returns whether a call asks for pictures. The argument itself reports what is wrong with it, too, which is said once.
pub(super) fn are_asked(arguments: &mut Arguments<'_>) -> bool {
    asked(arguments, NAME).unwrap_or(false)
}

fn asked(arguments: &mut Arguments<'_>, name: &'static str) -> Option<bool> {
    let texts = arguments.texts(name);
    let [text] = texts.as_slice() else {
        if !texts.is_empty() {
            arguments.fault(format!("{name} has {} values, it must be true or false", texts.len()));
        }
        return None;
    };
    match text.trim() {
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        text => {
            arguments.fault(format!("{name} is {}, it must be true or false", quoted(text)));
            None
        }
    }
}

/// What became of the picture of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// It is in the answer.
    Attached,
    /// There is none.
    None,
    /// It is not there yet.
    Waiting,
}

/// An element of the member `pictures`.
#[derive(Debug, Serialize)]
pub(super) struct PictureOutcome {
    slug: String,
    outcome: Outcome,
}

/// The pictures of an answer.
#[derive(Default)]
pub(super) struct Attached {
    /// What became of the picture of each project, in the order of the projects.
    pub(super) outcomes: Vec<PictureOutcome>,
    images: Vec<Image>,
    /// The number of pictures that are kept and cannot be read.
    unreadable: usize,
}

/// The members of a record that matter for its picture.
#[derive(Debug, Deserialize)]
struct Pictured {
    slug: String,
    thumbnail: Option<String>,
    thumbnail_state: Option<ThumbnailState>,
    revision_url: String,
    images: Vec<Kept>,
}

#[derive(Debug, Deserialize)]
struct Kept {
    url: String,
    width: u32,
    credit: Option<String>,
    rights: Option<String>,
}

/// What is known of the picture of a project before it is made smaller.
enum Found {
    /// The JPEG that is kept, and what stands before it.
    Stored(Bytes, String),
    /// The picture is kept, but cannot be read.
    Unreadable,
    Missing(Outcome),
}

impl Attached {
    /// Adds images and notes to an answer.
    pub(super) fn add_to(self, answer: &mut Answer<'_>) {
        let waiting = self.outcomes.iter().filter(|one| one.outcome == Outcome::Waiting).count();
        answer.notes.extend((waiting > self.unreadable).then_some(WAITING.into()));
        answer.notes.extend((self.unreadable > 0).then_some(UNREADABLE.into()));
        answer.images = self.images;
    }
}

/// Finds the first pictures of rendered records, which are at most [`MOST`], and makes them small.
pub(super) async fn attach(
    context: CallContext<'_>,
    records: &[Bytes],
    cite: Option<CiteStyle>,
) -> Result<Attached, Refusal> {
    let mut found = Vec::with_capacity(records.len());
    for record in records {
        found.push(of_record(context, record, cite).await?);
    }
    await_copies(context, &mut found).await?;
    let stored = found.iter().filter(|(_, found)| matches!(found, Found::Stored(..))).count();
    let effort = Effort { pictures: stored, ..Effort::default() };
    Ok(quota::read(context, effort, || made_small(found)).await)
}

/// Returns the record's members that matter, and its first picture as it is kept.
async fn of_record(
    context: CallContext<'_>,
    record: &Bytes,
    cite: Option<CiteStyle>,
) -> Result<(Pictured, Found), Refusal> {
    let site = context.state.site();
    let mut text = Vec::with_capacity(record.len() + 512);
    site::fill(record, site.as_str(), &mut text);
    let pictured: Pictured = serde_json::from_slice(&text).map_err(ApiError::internal)?;
    let first = pictured.images.iter().find_map(|image| Some((kept(&image.url)?, image)));
    let Some((id, image)) = first else {
        let is_waiting = pictured.thumbnail_state == Some(ThumbnailState::Waiting);
        let outcome = if is_waiting { Outcome::Waiting } else { Outcome::None };
        return Ok((pictured, Found::Missing(outcome)));
    };
    let found = match context.state.media().read(id, Form::Jpeg(image.width.min(LIST_WIDTH))).await {
        Ok(Some(bytes)) => {
            let cited = cite.map(|style| style.citation(record, site)).transpose()?;
            Found::Stored(bytes, caption(&pictured, image, cited.as_deref()))
        }
        Ok(None) => absent(context, id).await,
        Err(error) => {
            tracing::warn!(%error, picture = %id, "a kept picture cannot be read");
            Found::Unreadable
        }
    };
    Ok((pictured, found))
}

/// Returns why a picture of a record is not stored: it has just been erased, or its files have not reached this node yet.
async fn absent(context: CallContext<'_>, id: PictureId) -> Found {
    match context.state.media().is_erased(id).await {
        Ok(true) => Found::Missing(Outcome::None),
        Ok(false) | Err(_) => Found::Missing(Outcome::Waiting),
    }
}

/// Returns what stands before a picture: the slug with its citation, else the pinned address, and whom to name with the picture.
fn caption(pictured: &Pictured, image: &Kept, cited: Option<&str>) -> String {
    let mut caption = format!("{}: {}", pictured.slug, cited.unwrap_or(&pictured.revision_url).trim_end());
    let credits: Vec<&str> =
        [&image.credit, &image.rights].into_iter().flatten().map(String::as_str).collect();
    if !credits.is_empty() {
        caption += "\nPicture: ";
        caption += &credits.join(", ");
    }
    caption
}

/// Marks the pictures of other hosts, which thumbnails name, as waiting while their copies are being fetched.
async fn await_copies(context: CallContext<'_>, found: &mut [(Pictured, Found)]) -> Result<(), Refusal> {
    let is_elsewhere = |(pictured, found): &(Pictured, Found)| {
        matches!(found, Found::Missing(Outcome::None))
            && pictured.images.is_empty()
            && pictured.thumbnail.is_some()
    };
    let elsewhere: Vec<String> =
        found.iter().filter(|one| is_elsewhere(one)).map(|(pictured, _)| pictured.slug.clone()).collect();
    if elsewhere.is_empty() {
        return Ok(());
    }
    let reader = &context.state.catalog()?.reader;
    let pictures = reader.pictures(elsewhere.iter().map(String::as_str)).await;
    let pictures = pictures.map_err(api_error)?;
    for (pictured, found) in found {
        let is_awaited = |slug: &str| pictures.iter().any(|one| one.slug == slug && one.url.is_none());
        if elsewhere.contains(&pictured.slug) && is_awaited(&pictured.slug) {
            *found = Found::Missing(Outcome::Waiting);
        }
    }
    Ok(())
}

/// Makes the found pictures small. It takes some milliseconds a picture.
fn made_small(found: Vec<(Pictured, Found)>) -> Attached {
    let mut attached = Attached::default();
    for (Pictured { slug, .. }, found) in found {
        let outcome = match found {
            Found::Missing(outcome) => outcome,
            Found::Unreadable => {
                attached.unreadable += 1;
                Outcome::Waiting
            }
            Found::Stored(jpeg, caption) => match small(jpeg) {
                Ok(bytes) => {
                    let caption = Some(caption);
                    attached.images.push(Image { caption, kind: "image/jpeg", bytes });
                    Outcome::Attached
                }
                Err(error) => {
                    tracing::warn!(%error, slug, "a kept picture is damaged");
                    attached.unreadable += 1;
                    Outcome::Waiting
                }
            },
        };
        attached.outcomes.push(PictureOutcome { slug, outcome });
    }
    attached
}

/// Returns a JPEG with a longer side of at most [`SIDE`] pixels; one that is small enough is returned as it is.
fn small(jpeg: Bytes) -> Result<Bytes, PictureError> {
    let (_, (width, height)) = probe(&jpeg)?;
    let longer = width.max(height);
    if longer <= SIDE {
        return Ok(jpeg);
    }
    let shrunk = |side: u32| ((side * SIDE + longer / 2) / longer).max(1);
    let pixels = thumbnails::resize(&decode(&jpeg)?.pixels, shrunk(width), shrunk(height))?;
    thumbnails::jpeg(&pixels).map(Bytes::from)
}
